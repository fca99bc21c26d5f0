"""The entities' bench at a small size: its fields, and that both sides find the same people."""

from pathlib import Path

from lakehouse_assets.bench import entities
from lakehouse_assets.bench._lab import Lab
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.spark import Spark


def test_people_are_found_as_the_rival_finds_them_also_after_an_increment(empty_lake: Path) -> None:
    place = Lab(empty_lake, [Kafka(), Spark()])
    result = entities.measure(place, records=2_000, turns=(0, 1), seed=7)
    assert (result["records"], result["increment_records"]) == (2_000, 20)
    assert result["equal"]
    assert min(result[name] for name in ("f1", "precision", "recall")) >= 0.98
    assert all(result[name] > 0 for name in ("full_s", "increment_s", "increment_pct"))
    assert result["rival"]["name"].startswith("Splink") and result["rival"]["full_s"] > 0
