"""marts.weather_cities_daily: one row per city and day on which it was read.

The least, the greatest and the average of all its readings of the day, each reading counted alike,
however many a minute has. Days are UTC's everywhere: the city's own would need to know where it
lies. The open minute is included.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.analytics.weather_by_minute import weather_by_minute
from lakehouse_assets.lake.contract import Layout, Table, column, recompute_days
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.sources.weather.bounds import COLDEST, HOTTEST


class WeatherCitiesDaily(Table):
    read_on = column("date", "The day, UTC.", key=True)
    city = column("string", "Where, as it was written.", key=True)
    readings = column("bigint", "How many.", ge=1)
    minutes = column("bigint", "Minutes of the day in which there was one.", ge=1, le=1_440)
    avg_temperature_f = column("double", "Of all readings, in °F.", ge=COLDEST, le=HOTTEST)
    min_temperature_f = column("double", "The coldest, in °F.", ge=COLDEST, le=HOTTEST)
    max_temperature_f = column("double", "The hottest, in °F.", ge=COLDEST, le=HOTTEST)

    layout = Layout(scope=recompute_days(at="window_start", on="read_on"))


def transform(minutes: DataFrame) -> DataFrame:
    days = minutes.groupBy(F.to_date("window_start").alias("read_on"), "city").agg(
        F.sum("record_count").alias("readings"),
        F.count(F.lit(1)).alias("minutes"),
        F.sum("sum_temperature_f").alias("_sum"),
        F.min("min_temperature_f").alias("min_temperature_f"),
        F.max("max_temperature_f").alias("max_temperature_f"),
    )
    return days.select(
        "read_on", "city", "readings", "minutes",
        F.expr("cast(_sum as double) / readings").alias("avg_temperature_f"),
        "min_temperature_f", "max_temperature_f",
    )  # fmt: skip


weather_cities_daily = table_asset(WeatherCitiesDaily, transform, minutes=weather_by_minute)
