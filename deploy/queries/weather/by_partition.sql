-- What was read in the newest hour, as it was said (the seed: where ts = '2026-01-08-14').
select city, temperature, ts, arrived_at
from raw.weather
where ts = date_format((select max(ingest_hour) from raw.weather), 'yyyy-MM-dd-HH')
order by arrived_at desc, city
