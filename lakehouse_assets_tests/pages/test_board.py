"""The board's answers, of lakes made for them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets import settings
from lakehouse_assets.definitions import defs
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.pages import board as module
from lakehouse_assets.pages.board import Board
from lakehouse_assets.pages.feeds import Lag, Lags
from lakehouse_assets.pages.heads import Heads
from lakehouse_assets_tests.pages import lakes
from lakehouse_assets_tests.pages.lakes import MART, RAW, RULE, STAGED, now
from lakehouse_assets_tests.support import lake_in

Told = dict[str, Any]


@pytest.fixture(autouse=True)
def a_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with lake_in(tmp_path / "a lake"):
        for pace in ("EVALUATED_S", "LAGS_S", "QUARANTINE_S", "DAYS_S"):
            monkeypatch.setattr(module, pace, 0)
        yield


def table(told: Told, name: str) -> Told:
    found: Told = next(t for t in told["tables"] if t["name"] == name)
    return found


def check(told: Told, name: str, check: str) -> Told:
    found: Told = next(c for c in table(told, name)["checks"] if c["check"] == check)
    return found


def test_every_check_that_dagster_knows_is_there_once() -> None:
    told = Board().told()
    shown = [f"{t['name']}:{c['check']}" for t in told["tables"] for c in t["checks"]]
    keys = defs.resolve_asset_graph().asset_check_keys
    assert sorted(shown) == sorted(f"{'.'.join(k.asset_key.path)}:{k.name}" for k in keys)
    assert told["summary"]["unknown"] == len(shown), "nothing was ever judged"
    assert all(t["owner"].startswith("team:") for t in told["tables"])
    assert told["attention"] == [] and told["days_are_whole"]
    assert not (settings.home() / "catalog.db").exists(), "looking makes nothing"


def test_a_rule_is_judged_by_the_newest_batch_with_value_and_threshold() -> None:
    lakes.publish(MART, {RULE: 3}, at=now() - timedelta(hours=2))
    lakes.publish(RAW, {"parses": 80}, rows=1_000)
    told = Board().told()
    red, yellow = check(told, MART, RULE), check(told, RAW, "parses")
    assert (red["state"], red["failed"], red["rows"], red["allowed"]) == ("failed", 3, 100, 0)
    assert (yellow["state"], yellow["failed"], yellow["allowed"]) == ("warned", 80, 70)
    assert told["attention"] == [f"{MART}:{RULE}", f"{RAW}:parses"], "red before yellow"
    assert red["since"][:13] == f"{now() - timedelta(hours=2):%Y-%m-%dT%H}"
    assert "3 of 100 rows break it; 0 may" in red["why"] and f"rebuild {MART}" in red["step"]
    assert red["url"].endswith(f"/assets/marts/payments_daily?view=checks&checkDetail={RULE}")
    lakes.publish(MART)
    assert check(Board().told(), MART, RULE)["state"] == "passed"


def test_a_failing_check_tells_since_when_over_days() -> None:
    noon = now().replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
    lakes.publish(MART, {RULE: 3})
    lakes.remember(MART, RULE, "ppfpff", noon, timedelta(days=2), commit=0)
    lakes.evaluated(MART, RULE, False, {"failed": 3, "rows": 100, "threshold": 0.0})
    found = check(Board().told(), MART, RULE)
    assert found["since"] == (noon - timedelta(days=2)).isoformat(timespec="seconds")
    assert found["days"].strip("-") == "p-p-f-p-f-ff"
    assert (found["judged"], found["days_failed"]) == (7, 4)


def test_a_held_batch_tells_since_when_why_and_how_it_is_released() -> None:
    lakes.publish(MART)
    lakes.hold(MART, "the transform gave one key 2 rows")
    told = Board().told()
    held = table(told, MART)["held"]
    assert held["why"] == "the transform gave one key 2 rows" and held["batch"] == 2
    assert held["release"] == f"lakehouse release {MART}"
    red = check(told, MART, "publishes")
    assert red["state"] == "failed" and held["release"] in red["step"]
    assert red["since"][:16] == held["since"][:16] and told["attention"] == [f"{MART}:publishes"]
    lakes.publish(MART)
    told = Board().told()
    assert told["attention"] == [] and table(told, MART)["held"] is None


def test_what_dagster_evaluated_later_is_news_and_a_later_batch_again() -> None:
    lakes.publish(MART, at=now() - timedelta(minutes=5))
    counted = {"failed": 2, "rows": 50, "share": 0.04, "threshold": 0.0, "rule": "…"}
    lakes.evaluated(MART, RULE, False, counted)
    found = check(Board().told(), MART, RULE)
    assert (found["state"], found["failed"], found["rows"]) == ("failed", 2, 50)
    lakes.publish(MART)
    assert check(Board().told(), MART, RULE)["state"] == "passed"


def test_examples_are_those_that_dagster_stored_and_what_is_private_is_masked() -> None:
    examples = [{"event_id": "evt_1", "card_last4": "4242", "metadata": None}]
    lakes.evaluated(RAW, "parses", False, {"failed": 9, "examples": examples}, is_warning=True)
    lakes.publish(RAW, {"parses": 900}, rows=1_000)
    found = check(Board().told(), RAW, "parses")
    assert found["failed"] == 900 and found["examples_at"]
    (row,) = found["examples"]
    assert row == {"event_id": "evt_1", "card_last4": "•••", "metadata": None}


def test_a_look_at_a_table_as_it_stands_is_told_with_its_words_and_days() -> None:
    name, look = "semantic.storefront_orders", "equals_the_database"
    step = f"`lakehouse rebuild {name}`"
    lakes.evaluated(name, look, True, {"rows": 3})
    lakes.evaluated(name, look, False, {"rows": 3, "lacking": 2, "next step": step})
    lakes.evaluated(name, look, False, {"rows": 3, "lacking": 1, "next step": step})
    found = check(Board().told(), name, look)
    assert (found["state"], found["told"], found["step"]) == ("failed", {"lacking": "1"}, step)
    assert (found["judged"], found["days_failed"], found["days"][-1]) == (3, 2, "f")


def test_a_stream_that_is_not_read_is_late_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lakes.publish(RAW)
    lag = {RAW: Lag(1_234, is_late=True)}
    monkeypatch.setattr(Lags, "of", lambda *_: lag)
    told = Board().told()
    found = check(told, RAW, "is_fresh")
    assert found["state"] == "warned" and "1,234 records wait" in found["why"]
    source = next(s for s in told["sources"] if s["source"] == "payments")
    assert source["unread"] == 1_234 and source["late"] == [RAW]
    lag[RAW] = Lag(None, is_late=True, note=f"gone: `lakehouse accept-gap {RAW}`")
    found = check(Board().told(), RAW, "publishes")
    assert found["state"] == "failed" and "accept-gap" in found["why"]
    lag[RAW] = Lag(0)
    assert check(Board().told(), RAW, "is_fresh")["state"] == "passed"


def test_where_kafka_does_not_answer_nobody_claims_to_know_what_waits() -> None:
    lakes.publish(RAW)
    source = next(s for s in Board().told()["sources"] if s["source"] == "payments")
    assert source["unread"] is None and "Kafka does not answer" in source["notes"][0]
    assert source["newest_at"] and source["owner"] == "team:payments"


def test_the_quarantine_is_counted_by_reason() -> None:
    lakes.set_aside("malformed", "charge_id_present", "malformed")
    told = Board().told()
    assert [(q["reason"], q["records"]) for q in told["quarantine"]] == [
        ("malformed", 2), ("charge_id_present", 1),
    ]  # fmt: skip
    assert told["quarantine"][0]["since"] < told["quarantine"][0]["newest"]


def test_a_table_tells_how_far_it_is_behind_its_parents() -> None:
    for _ in range(3):
        lakes.publish(RAW)
    lakes.publish(STAGED, progress={RAW: [1, lakes.EPOCH]})
    assert table(Board().told(), STAGED)["behind"] == 2


def test_only_tables_that_have_moved_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lakes.publish(RAW)
    lakes.publish(MART)
    heads = Heads(Catalog())
    assert heads.now() == Catalog().heads()
    read: list[str] = []
    head = Catalog.head
    monkeypatch.setattr(Catalog, "head", lambda it, name: (read.append(name), head(it, name))[1])
    lakes.publish(MART, {RULE: 1})
    read.clear()
    assert heads.now()[MART].tallies[0]["failed"][RULE] == 1 and read == [MART]
    Catalog().iceberg.drop_table(RAW)
    assert list(heads.now()) == [MART] and read == [MART]
