-- The newest minutes of all cities, as the pages have them.
SELECT * FROM weather ORDER BY window_start DESC, city LIMIT 10
