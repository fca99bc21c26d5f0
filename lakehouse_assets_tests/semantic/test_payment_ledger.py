"""semantic.payment_ledger: where money moved, signed, as the last word of each thing tells."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

from pyspark.sql import DataFrame

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.semantic.payment_ledger import PaymentLedger, payment_ledger
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments, truth
from lakehouse_assets.sources.payments.truth.ledger import LEDGER
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.support import broken_across, broken_rules, rows, same_rows, stored

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE, LATE = timedelta(minutes=1), timedelta(days=3)
CHARGES, REFUNDS, DISPUTES = payment_ledger.parents.values()


def told(id: str, minute: int, status: str | None, **more: object) -> Row:
    """An event of charge c1, made at ten and changed some minutes after: 5 euros, by Stripe."""
    return {
        "event_id": id, "charge_id": "c1", "provider": "STRIPE", "merchant_id": "m1",
        "currency": "EUR", "provider_amount": Decimal(500), "provider_status": status,
        "created_at": AT, "updated_at": AT + minute * MINUTE, "arrived_at": AT,
        "is_dirty": False, **more,
    }  # fmt: skip


def charge(id: str, **more: object) -> Row:
    """The last word of a charge of 20 euros that succeeded."""
    given = {"status": "succeeded", "amount": Decimal(20), "amount_minor": 2000}
    return told(f"e{id}", 0, "succeeded") | {"charge_id": id} | given | more


def refund(id: str, minute: int, status: str, of: str = "r1", **more: object) -> Row:
    return told(id, minute, status, refund_id=of, **more)


def dispute(id: str, minute: int, status: str | None, of: str = "d1", **more: object) -> Row:
    return told(id, minute, status, dispute_id=of, **more)


def made(lake: Lake, *given: Row) -> list[Row]:
    """The ledger of charges, refunds and disputes, told apart by the ids that they have."""
    refunds = [r for r in given if "refund_id" in r]
    disputes = [r for r in given if "dispute_id" in r]
    charges = [r for r in given if r not in refunds and r not in disputes]

    def frame(table: LakeTable, these: list[Row]) -> DataFrame:
        return rows(lake.spark, table.contract, *these)

    return result(
        payment_ledger, payments=frame(CHARGES, charges), refunds=frame(REFUNDS, refunds),
        disputes=frame(DISPUTES, disputes),
    )  # fmt: skip


def moved(lake: Lake, *given: Row) -> dict[str, int | None]:
    return {row["movement_id"]: row["amount_minor"] for row in made(lake, *given)}


def test_each_movement_is_signed_and_a_charge_nets_to_what_is_left_of_it(lake: Lake) -> None:
    found = made(
        lake, charge("c1"), refund("e1", 1, "succeeded"), dispute("e2", 2, "needs_response"),
        dispute("e3", 9, "won", merchant_id=None),
    )  # fmt: skip
    common = {"charge_id": "c1", "provider": "STRIPE", "customer_id": None, "currency": "EUR",
              "created_at": AT}  # fmt: skip
    same_rows(found, [
        {"movement_id": f"{kind}:{id}", "kind": kind, "merchant_id": merchant,
         "amount": Decimal(minor).scaleb(-2), "amount_minor": minor,
         "moved_at": AT + minute * MINUTE, **common}
        for kind, id, merchant, minor, minute in (
            ("charge", "c1", "m1", 2000, 0), ("refund", "r1", "m1", -500, 1),
            ("dispute", "d1", None, -500, 9), ("reversal", "d1", None, 500, 9),
        )
    ])  # fmt: skip
    assert sum(row["amount_minor"] for row in found) == 1500


def test_only_what_moved_money_is_a_movement(lake: Lake) -> None:
    words = ("pending", "failed", "gone fishing")
    unpaid = [charge(f"c{n}", status=meant) for n, meant in enumerate(("pending", "failed", None))]
    unpaid += [refund(f"e{n}", 0, word, of=f"r{n}") for n, word in enumerate(words)]
    steps = ("warning_needs_response", "warning_closed", "gone fishing", None,
             "needs_response", "under_review", "lost", "won")  # fmt: skip
    disputes = [dispute(f"f{n}", 0, word, of=f"d{n}") for n, word in enumerate(steps)]
    assert moved(lake, *unpaid, *disputes) == {
        "dispute:d4": -500, "dispute:d5": -500, "dispute:d6": -500, "dispute:d7": -500,
        "reversal:d7": 500,
    }  # fmt: skip


def test_the_last_word_decides_in_any_order_and_after_an_illegal_step(lake: Lake) -> None:
    given = [
        refund("e1", 5, "succeeded"),
        refund("e2", 0, "pending", arrived_at=AT + LATE),
        refund("e3", 0, "succeeded", of="r2"),
        refund("e4", 0, "failed", of="r2"),  # at the same instant: the greater event
        dispute("e5", 1, "won"),
        dispute("e6", 2, "warning_closed"),
        dispute("e7", 1, "lost", of="d2", arrived_at=AT + LATE),
        dispute("e8", 2, "won", of="d2", provider_amount=Decimal(700)),
    ]
    expected = {"refund:r1": -500, "dispute:d2": -700, "reversal:d2": 700}
    assert moved(lake, *given) == moved(lake, *reversed(given), given[0]) == expected


def test_what_does_not_fit_its_charge_is_a_row_like_any_other(lake: Lake) -> None:
    assert moved(
        lake,
        charge("c1"),
        refund("e1", 0, "succeeded", of="above", provider_amount=Decimal(2001)),
        refund("e2", 0, "succeeded", of="early", created_at=AT - LATE),
        refund("e3", 0, "succeeded", of="unknown", charge_id="nobody's"),
        refund("e4", 0, "succeeded", of="other", currency="JPY"),
        dispute("e5", 0, "lost", of="unknown", charge_id="nobody's"),
    ) == {
        "charge:c1": 2000, "dispute:unknown": -500, "refund:above": -2001, "refund:early": -500,
        "refund:other": -500, "refund:unknown": -500,
    }  # fmt: skip


def test_an_amount_without_a_currency_stays_as_far_as_it_is_known(lake: Lake) -> None:
    cases = [  # provider, its word, currency; in units, in the smallest unit
        ("STRIPE", "succeeded", "EUR", "-12.50", -1250),
        ("ADYEN", "refunded", "JPY", "-1250.00", -1250),
        ("BRAINTREE", "settled", "EUR", "-1250.00", -125_000),
        ("BRAINTREE", "settled", "JPY", "-1250.00", -1250),
        ("STRIPE", "succeeded", None, None, -1250),
        ("BRAINTREE", "settled", None, "-1250.00", None),
    ]
    given = [
        refund(f"e{n}", 0, word, of=f"r{n}", provider=provider, currency=currency,
               provider_amount=Decimal(1250))
        for n, (provider, word, currency, _, _) in enumerate(cases)
    ]  # fmt: skip
    found = [(row["amount"], row["amount_minor"]) for row in made(lake, *given)]
    assert found == [(amount and Decimal(amount), minor) for *_, amount, minor in cases]


def test_unknown_amounts_and_wrong_signs_are_counted_and_kept(lake: Lake) -> None:
    good: Row = {
        "movement_id": "refund:r1", "kind": "refund", "charge_id": "c1", "provider": "ADYEN",
        "amount": Decimal(-5), "amount_minor": -500, "created_at": AT, "moved_at": AT,
    }  # fmt: skip
    unknown, wrong = good | {"amount": None}, good | {"kind": "reversal"}
    found = broken_rules(lake, PaymentLedger, good, unknown, wrong)
    assert found == ["", "amount_known", "sign_of_its_kind"]


def test_what_does_not_fit_its_charge_shows_across_the_tables(lake: Lake) -> None:
    for parent in (CHARGES, REFUNDS, DISPUTES):
        lake.catalog.ensure(parent.contract)
    long_ago, gone = AT - 2 * LATE, {"charge_id": "nobody's"}
    pending = [charge(f"c{n}", status="pending") for n in (4, 5)]
    add(lake, CHARGES, charge("c1"), charge("c2"), charge("c3", status="failed"), *pending)
    add(
        lake, REFUNDS,
        refund("e1", 0, "succeeded", of="whole", provider_amount=Decimal(2000)),
        refund("e2", 0, "succeeded", of="more", provider_amount=Decimal(1)),
        refund("e3", 0, "succeeded", of="early", **gone),
        refund("e4", 0, "succeeded", of="unknown", **gone | {"updated_at": long_ago}),
        refund("e5", 0, "gone fishing", of="odd"),
        refund("e7", 0, "succeeded", of="of nothing", charge_id="c3", currency="USD"),
        refund("e8", 0, "succeeded", of="of what may come", charge_id="c4"),
        refund("e9", 0, "succeeded", of="too long ago", charge_id="c5", updated_at=long_ago),
    )  # fmt: skip
    add(lake, DISPUTES, dispute("e6", 0, "lost", of="other", currency="USD", charge_id="c2"))
    advance(lake, payment_ledger)
    found = broken_across(lake, payment_ledger)
    first = {name: [next(iter(row.values())) for row in bad] for name, bad in found.items()}
    assert {name: sorted(bad) for name, bad in first.items()} == {
        "refunds_of_known_charges": ["refund:unknown"],
        "refunds_within_their_charge": ["c1", "c3", "c5"],
        "in_the_charges_currency": ["dispute:other"],
        "words_of_refunds_known": ["e5"],
    }


def test_a_later_word_changes_and_removes_what_stands(lake: Lake) -> None:
    def told_more(table: LakeTable, *given: Row) -> None:
        add(lake, table, *given, stated=False)

    told_more(REFUNDS, refund("e1", 0, "succeeded"), refund("e2", 0, "succeeded", of="r2"))
    told_more(DISPUTES, dispute("e3", 0, "won", created_at=AT - LATE))
    advance(lake, payment_ledger)
    told_more(REFUNDS, refund("e4", 5, "failed"))
    told_more(DISPUTES, dispute("e5", 5, "lost", created_at=AT - LATE))
    advance(lake, payment_ledger)
    found = stored(PaymentLedger.name, "movement_id", "moved_at")
    assert [tuple(row.values()) for row in found] == [
        ("dispute:d1", AT + 5 * MINUTE), ("refund:r2", AT),
    ]  # fmt: skip


def test_generated_payments_dirt_and_all_give_the_truth(lake: Lake) -> None:
    dirt = Dirt(null_spelling=0.15, unknown_charge=0.02, above_charge=0.02, other_currency=0.02,
                illegal_step=0.1, early=0.02, tie_state=0.05)  # fmt: skip
    records = truth.delivered(payments(5, 4_000, FIRST_DAY, dirt), FIRST_DAY)
    expected = truth.expected(records)
    given: dict[str, Any] = {}
    for arg, parent in payment_ledger.parents.items():
        of_parent = expected[parent.name]
        Random(arg).shuffle(of_parent)
        given[arg] = rows(lake.spark, parent.contract, *of_parent)
    found = result(payment_ledger, **given)
    assert {row["kind"] for row in found} == {"charge", "refund", "dispute", "reversal"}
    assert any(row["amount"] is None for row in found)
    same_rows(found, expected[LEDGER])
