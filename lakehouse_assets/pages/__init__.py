"""What people look at all day: the dashboard of the weather and the board of all checks.

Here belongs what a screen shows and the questions it asks, of Postgres, of the catalog and of what
Dagster has stored, each bounded, and asked once for all who look. Nothing here writes, starts Spark
or decides anything, and no table, engine or source knows of it. `static/` is what browsers get:
hand-written, with one style sheet, and in `static/vendor/` what others wrote, with its license.
"""
