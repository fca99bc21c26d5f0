"""What the thermometers say: ten readings a round, one for each city, or of cities made up."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count as counting
from itertools import islice
from random import Random
from typing import NamedTuple

CITIES = (
    "San Francisco", "New York", "Los Angeles", "Chicago", "Houston",
    "Phoenix", "Seattle", "Denver", "Miami", "Boston",
)  # fmt: skip
A_ROUND = 10  # readings
EVERY = timedelta(seconds=5)  # a round
COLDEST, HOTTEST = 0.0, 120.0  # °F
MAX_CITIES = 10_000  # made up
DRAWS = 20  # for each of them, since names come twice


class Reading(NamedTuple):
    """`temperature` as it is said, in °F; it is due at `made_ms`."""

    city: str
    temperature: str
    made_ms: int


def readings(
    seed: int,
    count: int | None,
    start: datetime,
    every: timedelta = EVERY,
    cities: Sequence[str] = CITIES,
) -> Iterator[Reading]:
    """`count` readings, ten at the start and ten after each `every`. Of ten cities each is read
    once a round, of others any ten.
    """
    if start.tzinfo is None or every < timedelta(0):
        raise ValueError(f"start needs a time zone, every >= 0; got {start!r}, {every!r}")
    rng = Random(f"weather/{seed}")
    return islice(_rounds(rng, start, every, tuple(cities)), count)


def _rounds(
    rng: Random, start: datetime, every: timedelta, cities: tuple[str, ...]
) -> Iterator[Reading]:
    for number in counting():
        at = start + number * every
        made_ms = int(at.timestamp() * 1000)
        told = cities if len(cities) == A_ROUND else rng.choices(cities, k=A_ROUND)
        for city in told:
            yield Reading(city, f"{rng.uniform(COLDEST, HOTTEST):.2f}", made_ms)


def made_up(seed: int, count: int) -> tuple[str, ...]:
    """So many names of cities, no two alike; other seed, other names."""
    from faker import Faker

    if not 1 <= count <= MAX_CITIES:
        raise ValueError(f"{count} cities: say 1 to {MAX_CITIES:,}")
    fake = Faker("en_US")
    fake.seed_instance(f"weather/{seed}")
    names = dict.fromkeys(fake.city() for _ in range(count * DRAWS))
    if len(names) < count:
        raise ValueError(f"only {len(names):,} names of cities came up; say no more than that")
    return tuple(islice(names, count))
