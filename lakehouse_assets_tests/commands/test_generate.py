"""`lakehouse generate`: how much dirt, of which kind, in front and in the background."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.services.generator import Generator
from lakehouse_assets.sources import lineage, webhooks
from lakehouse_assets.sources.payments import CHARGES, FIRST_DAY, Dirt, charges
from lakehouse_assets.sources.payments.truth import raw
from lakehouse_assets.sources.produce import ensure_topic, topics
from lakehouse_assets_tests.support import fresh_topic, refused, said

MANY = ("--dirt", "malformed=0.2", "--dirt", "null_value=0.1")


def test_each_kind_of_dirt_has_a_rate_that_can_be_set(stack: Path) -> None:
    fresh_topic(CHARGES)
    ensure_topic(CHARGES)
    said("generate", "payments", "--only", "charges", "--count", "300", "--rate", "0", *MANY)
    values = [record.value for record in read_back([CHARGES])]
    expected = Counter(
        e.kind for e in charges(7, 300, FIRST_DAY, Dirt(malformed=0.2, null_value=0.1))
    )
    assert len(values) == 300
    assert values.count(None) == expected["null_value"] == pytest.approx(30, abs=2)
    assert expected["malformed"] == pytest.approx(60, abs=2)
    assert values.count(b"<html>502 Bad Gateway</html>") == pytest.approx(10, abs=1)  # 1 of 6


def test_a_topic_is_made_by_its_name_once_and_listed(stack: Path) -> None:
    fresh_topic("clicks")
    assert "clicks made, with 2 partitions" in said("topic", "clicks", "--partitions", "2")
    assert "clicks stands already, with 2 partitions" in said("topic", "clicks")
    assert "clicks: 2 partitions" in said("topic").splitlines()
    assert "no topic's name" in refused("topic", "clicks of today")
    fresh_topic("clicks")


def test_the_help_lists_the_kinds_of_dirt_with_their_rates() -> None:
    _, *sections = said("generate", "--help").split("Kinds of dirt in ")
    assert [section.split(",")[0] for section in sections] == [
        "payments", "webhooks", "lineage",
    ]  # fmt: skip
    every = (Dirt(), webhooks.Dirt(), lineage.Dirt())
    for section, rates in zip(sections, (dirt.rates() for dirt in every), strict=True):
        listed = dict(line.split() for line in section.splitlines()[1:] if line.strip())
        assert {kind: float(rate) for kind, rate in listed.items()} == rates


@pytest.mark.parametrize(
    ("dirt", "answer"),
    [
        ("malfrmed=0.2", "no kind of dirt malfrmed. Did you mean malformed?"),
        ("zzz=0.2", "There are: mixed_case, "),
        ("malformed", "malformed=0.01"),
        ("malformed=2", "from 0 to 1"),
        (
            "malformed=0.9",
            "in payment_charges, and a record has at most one. Lower some, e.g. mixed",
        ),
    ],
)
def test_a_wrong_rate_is_answered_before_anything_is_sent(dirt: str, answer: str) -> None:
    for background in ([], ["--background"]):
        assert answer in refused("generate", "payments", *background, "--dirt", dirt)


def test_a_background_generator_gets_the_rates_too(stack: Path) -> None:
    said("generate", "payments", "--background", *MANY)
    try:
        pid = Generator("payments").status().pid
        assert [f"--dirt={rate}" for rate in MANY[1::2]] == psutil.Process(pid).cmdline()[-2:]
        log = said("logs", "generate-payments")
        assert "--dirt malformed=0.2 --dirt null_value=0.1" in log
    finally:
        said("down", "generate-payments")


def test_feeds_run_apart_but_not_beside_the_whole_source(stack: Path) -> None:
    try:
        only = ("--only", "refunds", "--only", "disputes")
        told = said("generate", "payments", "--background", *only)
        assert "lakehouse down generate-payments-disputes" in told
        assert "--only=refunds" in psutil.Process(
            Generator("payments", feed="refunds").status().pid
        ).cmdline()
        twice = refused("generate", "payments", "--background")
        assert "generate-payments-refunds runs already" in twice
        shown = said("status")
        assert "generate-payments-disputes" in shown and "payments-charges" not in shown
    finally:
        stopped = said("down", "generate")
    assert "refunds stopped" in stopped and "disputes stopped" in stopped


def test_a_burst_of_a_sparse_feed_lies_in_the_past(stack: Path) -> None:
    fresh_topic("payment_disputes")
    said("generate", "payments", "--only", "disputes", "--count", "200", "--rate", "0",
         "--dirt", "far_future=0")  # fmt: skip
    records = read_back(["payment_disputes"])
    parsed = [raw.parse(r.topic, r.value).row["updated_at"] for r in records]
    updated = [at for at in parsed if at]
    assert len(records) == 200
    assert timedelta(0) <= records[0].arrived_at - max(updated) < timedelta(minutes=10)


def test_webhooks_need_their_door(stack: Path) -> None:
    for background in ([], ["--background"]):
        told = refused("generate", "webhooks", "--count", "1", *background)
        assert "lakehouse up webhooks --no-generate" in told


def test_the_shop_needs_its_database_and_takes_neither_dirt_nor_feeds(stack: Path) -> None:
    for background in ([], ["--background"]):
        told = refused("generate", "storefront", "--count", "1", *background)
        assert "lakehouse up postgres" in told
    assert "no dirt in storefront" in refused("generate", "storefront", "--dirt", "malformed=1")


def test_a_feed_that_is_none_is_answered_with_the_nearest() -> None:
    assert "Did you mean refunds" in refused("generate", "payments", "--only", "refund")


def test_lineage_events_go_to_ten_partitions_and_every_one_is_sent(stack: Path) -> None:
    fresh_topic(lineage.TOPIC)
    said("generate", "lineage", "--count", "200", "--rate", "0", "--dirt", "null_value=0.1")
    records = read_back([lineage.TOPIC])
    assert len(records) == 200 and topics()[lineage.TOPIC] == 10
    assert sum(record.value is None for record in records) == 20
    assert len({record.partition for record in records}) > 1, "nothing holds them together"
