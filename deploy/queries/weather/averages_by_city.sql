-- The average of all readings, in °F, by city.
select city, avg(temperature_f) as avg_temp, count(*) as readings
from staging.stg_weather_readings
group by city
order by avg_temp desc
