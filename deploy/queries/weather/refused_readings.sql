-- Records that are no readings, by reason.
select stage, reason, count(*) as records
from metadata.quarantine
where source_table = 'raw.weather'
group by stage, reason
order by records desc
