"""semantic.weather_minutes: one row per minute in which something was read.

The newest of them is open: whatever comes next may still belong to it. As soon as a newer one is
heard of, the former is closed, here and in what reads this table, although nobody read anything in
it. That is all that is told; what was read is `analytics.weather_by_minute`'s business.

It goes on from its own rows, a row a minute: which minute is the newest is told by those that are
new and the one that was open, without reading the others' readings again. A minute that is late
does not open anything. The order in which they come makes no difference.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Table, column, own_rows
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.staging.stg_weather_readings import stg_weather_readings


class WeatherMinutes(Table):
    window_start = column("timestamp", "Begin of the minute, UTC.", key=True)
    window_end = column("timestamp", "Its end, which is not part of it.")
    is_open = column("boolean", "Whether it is the newest of which there is a reading.")

    layout = Layout(scope=own_rows())


def transform(readings: DataFrame, here: DataFrame) -> tuple[DataFrame, DataFrame]:
    """What is new, and the minute that was open."""
    mine = here.where("_counts")
    minute = ("window_start", "window_end")
    told = readings.select(*minute).unionAll(mine.where("is_open").select(*minute))
    minutes = told.groupBy(*minute).agg(F.count(F.lit(1)).alias("_told"))
    newest = told.agg(F.max("window_start").alias("_newest"))
    made = minutes.join(F.broadcast(newest), how="cross").select(
        *minute, F.expr("window_start = _newest").alias("is_open")
    )
    old = mine.join(minutes.select("window_start"), "window_start", how="left_semi")
    return made, old.select(*WeatherMinutes.columns)


weather_minutes = table_asset(WeatherMinutes, transform, readings=stg_weather_readings)
