-- Does data flow? Records of each topic by hour of arrival, and how many did not parse.
select topic, ingest_hour, sum(rows) as records, sum(failures) as unparsed
from analytics.payment_quality_hourly
where rule = 'parses'
group by topic, ingest_hour
order by ingest_hour desc, topic
