"""raw.weather: one row per record of the Kafka topic `weather`.

What the logging server was told, as it was told; and what came around it. The topic keeps its
producer's timestamps, so `arrived_at` is here the moment of the reading, which the server says.
Nothing is cleaned and nothing is refused.
"""

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.sources.weather import TOPIC
from lakehouse_assets.sources.weather.bounds import MAX_CITY


class Weather(RawTable):
    city = column("string", "Where, as it was written.")
    temperature = column("string", "In °F, as it was written.")
    ts = column("string", "The hour of the reading, UTC, as YYYY-MM-DD-HH.")

    layout = Layout(partitioned_by="ingest_hour")
    rules = (
        Rule(
            "city_named",
            f"_error is not null or coalesce(char_length(city) between 1 and {MAX_CITY}, false)",
            "a city is named, in as many characters as the server takes",
            threshold=0.01,
        ),
    )


weather = raw_table(Weather, topic=TOPIC, group="weather")
