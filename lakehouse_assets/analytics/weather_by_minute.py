"""analytics.weather_by_minute: one row per city and minute in which it was read.

One-minute tumbling averages, by the moment of the reading: a late reading corrects its old minute.
The newest minute in the data is included and marked as open; it is nobody's clock that closes it
but the first reading of a later one. Sums are exact, so that no order of readings changes a digit
of an average. Minutes without readings have no row, and nothing is filled in.

What is new touches its minutes, of all cities, and the one that is closed by it.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.weather_minutes import weather_minutes
from lakehouse_assets.sources.weather.bounds import COLDEST, HOTTEST
from lakehouse_assets.staging.stg_weather_readings import stg_weather_readings

EXACT, SUM = "decimal(15,12)", "decimal(28,12)"


class WeatherByMinute(Table):
    city = column("string", "Where, as it was written.", key=True)
    window_start = column("timestamp", "Begin of the minute, UTC.", key=True)
    window_end = column("timestamp", "Its end, which is not part of it.")
    avg_temperature = column("double", "Of its readings, in °F.", ge=COLDEST, le=HOTTEST)
    min_temperature_f = column("double", "The coldest reading, in °F.", ge=COLDEST, le=HOTTEST)
    max_temperature_f = column("double", "The hottest, in °F.", ge=COLDEST, le=HOTTEST)
    sum_temperature_f = column(SUM, "All readings added, in °F, for averages of averages.")
    record_count = column("bigint", "Readings.", ge=1)
    is_open = column("boolean", "Whether it is the newest minute in the data, of any city.")

    layout = Layout(
        partitioned_by="days(window_start)",
        scope=recompute_keys(at="window_end", by=("window_start",)),
    )
    rules = (
        Rule("average_within_readings",
             "avg_temperature between min_temperature_f - 1e-9 and max_temperature_f + 1e-9",
             "an average lies between the least and the greatest"),
        Rule("a_window_is_a_minute", "window_end = window_start + interval 1 minute"),
    )  # fmt: skip


def transform(readings: DataFrame, minutes: DataFrame) -> DataFrame:
    averages = readings.groupBy("city", "window_start", "window_end").agg(
        F.sum(F.col("temperature_f").cast(EXACT)).cast(SUM).alias("sum_temperature_f"),
        F.min("temperature_f").alias("min_temperature_f"),
        F.max("temperature_f").alias("max_temperature_f"),
        F.count(F.lit(1)).alias("record_count"),
    )
    opened = minutes.select("window_start", "is_open")
    return averages.join(opened, "window_start", how="left").select(
        "city", "window_start", "window_end",
        F.expr("cast(sum_temperature_f as double) / record_count").alias("avg_temperature"),
        "min_temperature_f", "max_temperature_f", "sum_temperature_f", "record_count",
        F.expr("coalesce(is_open, false)").alias("is_open"),
    )  # fmt: skip


weather_by_minute = table_asset(
    WeatherByMinute, transform, readings=stg_weather_readings, minutes=weather_minutes
)
