"""What of the lake is kept in PostgreSQL, for pages that ask every two seconds.

The table `weather` in the database `analytics` says what `analytics.weather_by_minute` says, in the
seed's six columns. It is made of that table alone and can be made of it again; nothing in the lake
reads it. Read `weather.py` first; `alike.py` compares the two, `asset.py` shows it to Dagster,
`database.py` says who may do what there, in `migrations/`.
"""
