from collections import defaultdict
from itertools import pairwise

import pytest

from lakehouse_assets.sources.payments import Dirt
from lakehouse_assets_tests.sources.payments.feeds import about, run

WHO = [("payment_customers", "customer_id", 20), ("payment_merchants", "merchant_id", 120)]


@pytest.mark.parametrize(("topic", "key", "_"), WHO)
def test_most_are_told_of_before_they_are_first_mentioned(topic: str, key: str, _: int) -> None:
    told, first, late = set(), set(), 0
    for event in run(20_000):
        if event.topic == topic:
            told.add(event.key)
        elif event.topic == "payment_charges":
            ((said,),) = ([c[key]] for c in about(event.topic, [event]))
            if said not in first:
                first.add(said)
                late += said.encode() not in told
    assert 0 < late < 0.12 * len(first)  # one of 20 is told of late, one of 50 never


@pytest.mark.parametrize(("topic", "key", "_"), WHO)
def test_they_change_one_thing_at_a_time(topic: str, key: str, _: int) -> None:
    seen = defaultdict(list)
    for said in about(topic, run(30_000)):
        seen[said[key]].append(said)
    changes = 0
    for versions in seen.values():
        for one, other in pairwise(versions):
            changed = {c for c in one if one[c] != other[c]}
            assert "updated_at" in changed and len(changed) == 2
            assert one["updated_at"] < other["updated_at"]
            changes += 1
    assert changes > 50


@pytest.mark.parametrize(("topic", "key", "every"), WHO)
def test_a_deletion_is_a_null_value_under_a_known_key_and_the_last_word(
    topic: str, key: str, every: int
) -> None:
    events = run(30_000, Dirt.only(deletion=0.3))
    ours = [e for e in events if e.topic == topic]
    gone = {e.key: n for n, e in enumerate(ours) if e.value is None}
    assert len(gone) > 10
    for name, number in gone.items():
        assert name in {e.key for e in ours[:number]}
        assert name not in {e.key for e in ours[number + 1 :]}


@pytest.mark.parametrize(("topic", "key", "_"), WHO)
def test_dirt_in_one_record_is_not_in_the_next(topic: str, key: str, _: int) -> None:
    events = run(20_000, Dirt.only(missing_key=0.3, null_spelling=0.3, bad_country=0.3))
    for said in about(topic, events, "clean"):
        assert said[key] and None not in said.values() and len(said["country"]) == 2


@pytest.mark.parametrize(("topic", "key", "_"), WHO)
def test_what_is_told_late_is_not_forgotten(topic: str, key: str, _: int) -> None:
    """In the order of `updated_at` each record differs from the one before in one thing."""
    seen = defaultdict(list)
    for said in about(topic, run(30_000, Dirt.only(out_of_order=0.3))):
        seen[said[key]].append(said)
    for versions in seen.values():
        for one, other in pairwise(sorted(versions, key=lambda said: said["updated_at"])):
            assert sum(one[c] != other[c] for c in one) == 2
