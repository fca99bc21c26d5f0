"""staging.stg_weather_readings: one row per reading: a city, a moment, a temperature.

A reading has no id, so it is known by all that it says: a record that says the same of the same
moment is the same reading again. Cities stay as they are written, temperatures become numbers, in
°F as they came and in °C; what is no number, infinite, out of bounds, of no city or ahead of the
clock is set aside. The minute in which a reading counts is that of the record's timestamp. Nothing
is averaged.
"""

from typing import ClassVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.weather import weather
from lakehouse_assets.sources.weather.bounds import COLDEST, HOTTEST, MAX_CITY, NUMBER

# Kafka's clock is not in the records, but they are taken in by the hour, and never in the future.
AHEAD = "interval 65 minutes"  # five after the hour's end


class StgWeatherReadings(StagingTable):
    city = column("string", "Where, as it was written.", key=True)
    read_at = column("timestamp", "When the server heard of it, UTC.", key=True)
    temperature_f = column("double", "In °F.", key=True, ge=COLDEST, le=HOTTEST)
    temperature_c = column("double", "The same in °C.", nullable=True)
    window_start = column("timestamp", "Begin of the minute in which it counts, UTC.")
    window_end = column("timestamp", "Its end, which is not part of it.")

    layout = Layout(partitioned_by="days(read_at)", scope=newest(by="read_at", at="window_end"))
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "city_readable",
            f"char_length(city) between 1 and {MAX_CITY} and instr(city, char(0)) = 0",
            f"1 to {MAX_CITY} characters, none of them NUL",
        ),
        Rule("read_at_not_in_future", f"read_at < _record.ingest_hour + {AHEAD}"),
    )


def transform(weather: DataFrame) -> DataFrame:
    number = F.when(F.col("temperature").rlike(rf"\A{NUMBER}\z"), F.col("temperature"))
    minute = F.date_trunc("minute", F.col("arrived_at"))
    fahrenheit = weather.where("_error is null").withColumns({
        "temperature_f": number.try_cast("double") + F.lit(0.0),  # no negative zero
        "window_start": minute,
        "window_end": minute + F.expr("interval 1 minute"),
    })  # fmt: skip
    return fahrenheit.select(
        "city",
        F.col("arrived_at").alias("read_at"),
        "temperature_f",
        F.expr("(temperature_f - 32D) * 5D / 9D").alias("temperature_c"),
        "window_start",
        "window_end",
        "arrived_at",
        F.expr(RECORD),
    )


stg_weather_readings = table_asset(StgWeatherReadings, transform, weather=weather)
