-- The newest minutes of all cities; the open one still grows.
select window_start, city, avg_temperature, record_count, is_open
from analytics.weather_by_minute
order by window_start desc, city
