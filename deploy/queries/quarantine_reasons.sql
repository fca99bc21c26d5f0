-- Why were records set aside, at which stage, and how many?
select source_table, stage, reason, count(*) as records, max(arrived_at) as newest_arrived_at
from metadata.quarantine
group by source_table, stage, reason
order by records desc, source_table, reason
