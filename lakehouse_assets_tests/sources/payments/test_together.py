from collections import Counter
from datetime import timedelta

import pytest

from lakehouse_assets.sources.payments import (
    FEEDS,
    FIRST_DAY,
    INTERVAL,
    TOPICS,
    Dirt,
    charges,
    payments,
)
from lakehouse_assets.sources.payments.dirt import KINDS
from lakehouse_assets.sources.payments.reference import CustomerFeed, MerchantFeed, ReferenceFeed
from lakehouse_assets_tests.sources.payments.feeds import NOT_JSON, about, instant, run

EVERY_KIND = [(topic, kind) for topic in TOPICS for kind in KINDS[topic]]
WHO = ("payment_customers", "payment_merchants")
OF_EVENTS = [(t, kind) for t, kind in EVERY_KIND if t not in WHO and kind != "early"]


def test_the_same_arguments_give_the_same_bytes_and_fewer_are_the_beginning_of_more() -> None:
    assert run(3_000, Dirt()) == run(3_000, Dirt()) == run(4_000, Dirt())[:3_000]


def test_the_topics_come_in_the_proportions_of_their_cadence() -> None:
    counts = Counter(e.topic for e in run(20_000, Dirt()))
    charged = counts["payment_charges"]  # one each half second
    for topic, seconds in (("refunds", 2), ("disputes", 5), ("subscriptions", 3)):
        assert counts[f"payment_{topic}"] == pytest.approx(charged / (2 * seconds), rel=0.02)
    assert counts["payment_customers"] > counts["payment_merchants"] > 0


def test_feeds_that_run_apart_tell_of_the_same_world() -> None:
    together = run(6_000, Dirt())
    for topic in TOPICS:
        ours = [e for e in together if e.topic == topic]
        assert run(len(ours), Dirt(), only=[topic]) == ours
    alone = list(charges(3, 2_000, FIRST_DAY))
    assert [e for e in together if e.topic == "payment_charges"][:2_000] == alone


def test_what_was_made_before_the_sending_begins_is_left_out_but_for_who_is_who() -> None:
    noon = FIRST_DAY + timedelta(minutes=20)
    sent = list(payments(3, 3_000, FIRST_DAY, Dirt.none(), sent_from=noon))
    early = {e.topic for e in sent if e.made_ms < noon.timestamp() * 1000}
    assert early == set(WHO)
    mentioned = {c["customer_id"] for c in about("payment_charges", sent)}
    told = {c["customer_id"] for c in about("payment_customers", sent)}
    assert len(mentioned & told) > 0.9 * len(mentioned)


def test_no_event_time_lies_after_the_instant_of_its_record() -> None:
    odd = ("late", "tie_state", "early", "illegal_step")
    events = run(8_000, Dirt.only(**dict.fromkeys(odd, 0.05)))
    for topic in TOPICS:
        made = [e.made_ms for e in events if e.topic == topic]
        for said, at in zip(about(topic, events), made, strict=True):
            assert instant(said["updated_at"]).timestamp() * 1000 <= at


@pytest.mark.parametrize(("topic", "kind"), OF_EVENTS)
def test_dirt_comes_at_its_rate_in_its_topic(topic: str, kind: str) -> None:
    events = run(400, Dirt.only(**{kind: 0.05}, oversized_bytes=1_000), only=[topic])
    planted = Counter(e.kind for e in events)
    assert set(planted) <= {"clean", kind}
    assert planted[kind] == pytest.approx(20, abs=3), planted


@pytest.mark.parametrize("feed", [CustomerFeed, MerchantFeed])
def test_of_the_changes_of_who_is_who_so_many_are_dirty(feed: type[ReferenceFeed]) -> None:
    kinds = KINDS[feed.shape.topic]
    rates = dict.fromkeys(kinds, 0.5 / len(kinds))
    it = feed(3, FIRST_DAY, Dirt.only(**rates, oversized_bytes=10), INTERVAL)
    for who in range(100):
        it.meet(who, 0)
    changes = Counter(event.kind for slot in range(1, 501) if (event := it.event(slot)))
    for kind, rate in rates.items():
        assert changes[kind] == pytest.approx(500 * rate, abs=3), kind


@pytest.mark.parametrize(("topic", "kind"), EVERY_KIND)
def test_dirt_in_nearly_every_record_still_ends(topic: str, kind: str) -> None:
    dirt = Dirt.only(**{kind: 0.9}, oversized_bytes=10)
    assert len(run(40, dirt, only=[topic])) == 40


def test_a_topic_that_nothing_can_be_told_in_is_refused_and_not_waited_for() -> None:
    with pytest.raises(ValueError, match="no record of payment_refunds among 5,000"):
        run(1, Dirt.only(malformed=1.0), only=["payment_refunds"])


def test_every_record_that_is_meant_to_be_json_has_its_topics_columns() -> None:
    events = run(6_000, Dirt(oversized=0, unknown_field=0, missing_event_id=0))
    for feed, topic in FEEDS.items():
        kinds = {e.kind for e in events if e.topic == topic} - set(NOT_JSON)
        columns = {tuple(said) for said in about(topic, events, *kinds)}
        assert len(columns) == 1, feed
