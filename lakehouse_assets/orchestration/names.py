"""Names that Dagster's side of the engine shares: keys, partitions, tags, checks."""

from collections.abc import Callable
from dataclasses import dataclass

import dagster as dg

from lakehouse_assets import settings
from lakehouse_assets.lake.head import Head

NEWS = "lakehouse/news"  # run tag of the sensor: take the news, do not compute the hour anew
HELD = "publishes"  # the check that is red while a batch is held
UNIQUE = "key_is_unique"
METADATA = "metadata"  # the layer of the lake's tables about itself


@dataclass(frozen=True)
class Beside:
    """Something that a source's runs leave of a table, outside the lake's tables."""

    key: dg.AssetKey
    of: str  # that table
    is_due: Callable[[Head, bool], bool]  # whether a run is worth it, and does it take news anyway
    is_hourly: bool = True  # it has the partitions of the raw tables


def hours() -> dg.HourlyPartitionsDefinition:
    """From the hour of first set-up to the open hour, which is included."""
    return dg.HourlyPartitionsDefinition(
        start_date=settings.first_hour(), end_offset=1, fmt=settings.HOUR_FORMAT, timezone="UTC"
    )


def asset_key(name: str) -> dg.AssetKey:
    return dg.AssetKey(name.split("."))


def topic_key(topic: str) -> dg.AssetKey:
    return dg.AssetKey(["kafka", topic])
