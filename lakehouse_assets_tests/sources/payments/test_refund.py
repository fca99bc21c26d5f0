from collections import Counter, defaultdict
from decimal import Decimal

from lakehouse_assets.sources.payments import Dirt
from lakehouse_assets.sources.payments.providers import REFUND_REASONS, REFUND_STATUSES
from lakehouse_assets.sources.payments.truth.staging import one_of
from lakehouse_assets_tests.sources.payments.feeds import about, instant, run

CHARGES, REFUNDS = "payment_charges", "payment_refunds"


def test_a_refund_is_of_a_charge_that_took_the_money_before() -> None:
    events = run()
    taken = {}
    for charge in about(CHARGES, events):
        if charge["event_type"] == "charge.succeeded":
            taken[charge["charge_id"]] = charge
    refunds = about(REFUNDS, events)
    assert len(refunds) > 500
    for refund in refunds:
        charge = taken[refund["charge_id"]]
        for column in ("provider", "customer_id", "merchant_id", "currency"):
            assert refund[column] == charge[column]
        assert instant(refund["created_at"]) >= instant(charge["updated_at"])
        assert Decimal(refund["amount"]) <= Decimal(charge["amount"])


def test_charges_are_refunded_in_part_in_whole_and_more_than_once() -> None:
    events = run(20_000)
    amounts = {c["charge_id"]: c["amount"] for c in about(CHARGES, events)}
    refunds = {r["refund_id"]: r for r in about(REFUNDS, events)}.values()
    whole = Counter(r["amount"] == amounts[r["charge_id"]] for r in refunds)
    assert min(whole[True], whole[False]) > 0.3 * len(refunds)
    assert max(Counter(r["charge_id"] for r in refunds).values()) > 1


def test_a_refund_settles_in_one_to_three_events_in_its_providers_words() -> None:
    seen = defaultdict(list)
    for refund in about(REFUNDS, run(20_000)):
        seen[refund["refund_id"]].append(refund)
    assert {len(said) for said in seen.values()} == {1, 2, 3}
    for said in seen.values():
        assert [one["event_type"] for one in said[1:]] == ["refund.updated"] * (len(said) - 1)
        for one in said:
            meant = REFUND_STATUSES[one["provider"].upper()].values()
            assert one["status"] in {word for words in meant for word in words}


def test_an_early_refund_arrives_before_its_charge() -> None:
    events = run(20_000, Dirt.only(early=0.05, late=0.05))
    place = {}
    for number, event in enumerate(events):
        if event.topic == CHARGES and event.key not in place:
            place[event.key] = number
    early = [(n, e) for n, e in enumerate(events) if e.kind == "early"]
    assert len(early) > 20
    for (number, _), said in zip(early, about(REFUNDS, events, "early"), strict=True):
        assert place.get(said["charge_id"].encode(), len(events)) > number


def test_odd_refunds_are_above_their_charge_in_another_currency_or_of_none() -> None:
    kinds = ("above_charge", "other_currency", "unknown_charge")
    events = run(20_000, Dirt.only(**dict.fromkeys(kinds, 0.03)))
    known = {c["charge_id"]: c for c in about(CHARGES, events)}
    above, other, unknown = (about(REFUNDS, events, kind) for kind in kinds)
    assert min(len(above), len(other), len(unknown)) > 20
    assert all(Decimal(r["amount"]) > Decimal(known[r["charge_id"]]["amount"]) for r in above)
    assert all(r["currency"] != known[r["charge_id"]]["currency"] for r in other)
    assert not {r["charge_id"] for r in unknown} & set(known)


def test_reasons_are_spelled_in_many_ways_and_tickets_go_missing() -> None:
    events = run(20_000, Dirt.only(reason_spelling=0.5, missing_ticket=0.1))
    spelled = {r["reason"] for r in about(REFUNDS, events, "reason_spelling")}
    assert spelled <= {way for ways in REFUND_REASONS.values() for way in ways}
    assert len(spelled) > 1.5 * len(REFUND_REASONS) and not spelled & set(REFUND_REASONS)
    meant = defaultdict(set)
    for refund in about(REFUNDS, events, "clean", "reason_spelling"):
        meant[refund["refund_id"]].add(one_of(REFUND_REASONS)(refund["reason"]))
    assert max(map(len, meant.values())) == 1  # a spelling is no other reason
    tickets = {r["metadata"]["support_ticket_id"] for r in about(REFUNDS, events, "missing_ticket")}
    assert tickets <= {None, "NULL", "null", "", "None", "n/a", "nil", " "}
