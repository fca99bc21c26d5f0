"""What must be told of minutes and days: averages whose sums are exact, whatever the order."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from lakehouse_assets.sources.weather.truth.raw import Row

MINUTES, BY_MINUTE = "semantic.weather_minutes", "analytics.weather_by_minute"
DAILY = "marts.weather_cities_daily"
KEYS = {
    MINUTES: ("window_start",),
    BY_MINUTE: ("city", "window_start"),
    DAILY: ("read_on", "city"),
}
SMALLEST = Decimal("1e-12")  # °F


def tables(readings: list[Row]) -> dict[str, list[Row]]:
    newest = max((row["window_start"] for row in readings), default=None)
    ends = {row["window_start"]: row["window_end"] for row in readings}
    minutes = [
        {"window_start": start, "window_end": end, "is_open": start == newest}
        for start, end in sorted(ends.items())
    ]
    return {
        MINUTES: minutes,
        BY_MINUTE: [
            {"city": city, "window_start": start, "window_end": ends[start],
             "avg_temperature": _average(values), "min_temperature_f": min(values),
             "max_temperature_f": max(values), "sum_temperature_f": _sum(values),
             "record_count": len(values), "is_open": start == newest}
            for (city, start), values in _grouped(
                ((row["city"], row["window_start"]), row["temperature_f"]) for row in readings
            )
        ],
        DAILY: [
            {"read_on": day, "city": city, "readings": len(values),
             "minutes": _minutes(readings, day, city), "avg_temperature_f": _average(values),
             "min_temperature_f": min(values), "max_temperature_f": max(values)}
            for (day, city), values in _grouped(
                ((row["window_start"].date(), row["city"]), row["temperature_f"])
                for row in readings
            )
        ],
    }  # fmt: skip


def _minutes(readings: list[Row], day: Any, city: str) -> int:
    starts = {r["window_start"] for r in readings if r["city"] == city}
    return sum(start.date() == day for start in starts)


def _grouped(pairs: Iterable[tuple[Any, float]]) -> list[tuple[Any, list[float]]]:
    groups = defaultdict[Any, list[float]](list)
    for key, value in pairs:
        groups[key].append(value)
    return sorted(groups.items())


def _average(values: list[float]) -> float:
    return float(_sum(values)) / len(values)


def _sum(values: list[float]) -> Decimal:
    """Of a double the shortest decimal that is read as it."""
    with localcontext() as context:
        context.prec = 40
        every = (Decimal(repr(v)).quantize(SMALLEST, ROUND_HALF_UP) for v in values)
        return sum(every, Decimal(0)).quantize(SMALLEST)
