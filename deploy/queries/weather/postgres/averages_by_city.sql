-- Averages of the minutes' averages by city, as the seed asks; and how many readings there were.
SELECT city, AVG(avg_temperature) AS overall_avg, SUM(record_count) AS total_records
FROM weather
GROUP BY city
ORDER BY overall_avg DESC
