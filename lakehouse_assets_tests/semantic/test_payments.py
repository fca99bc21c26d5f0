"""semantic.payments: a charge once, as its provider last described it, in one vocabulary."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.payments import Payments, mentions, payments
from lakehouse_assets.staging.stg_payment_charges import StgPaymentCharges
from lakehouse_assets.staging.stg_payment_customers import StgPaymentCustomers
from lakehouse_assets.staging.stg_payment_merchants import StgPaymentMerchants
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import broken_rules, rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)


def event(id: str, charge: str, minute: int, **more: object) -> Row:
    """An event of a charge, changed some minutes after ten."""
    return {
        "event_id": id, "charge_id": charge, "provider": "STRIPE",
        "provider_amount": Decimal(500), "currency": "EUR", "provider_status": "succeeded",
        "created_at": AT,
        "updated_at": AT + minute * MINUTE, "arrived_at": AT, **more,
    }  # fmt: skip


def made(
    lake: Lake, *events: Row, customers: tuple[Row, ...] = (), merchants: tuple[Row, ...] = ()
) -> list[Row]:
    return result(
        payments,
        events=rows(lake.spark, StgPaymentCharges, *events),
        customers=rows(lake.spark, StgPaymentCustomers, *customers),
        merchants=rows(lake.spark, StgPaymentMerchants, *merchants),
    )


def last_words(lake: Lake, *events: Row) -> list[tuple[object, ...]]:
    columns = ("charge_id", "event_id", "status", "provider_status")
    return [tuple(row[c] for c in columns) for row in made(lake, *events)]


def test_the_last_word_has_the_greatest_update_whatever_arrived_last(lake: Lake) -> None:
    late = {"arrived_at": AT + timedelta(days=3)}
    assert last_words(
        lake,
        event("e1", "c1", 0, provider_status="pending"),
        event("e3", "c1", 9),
        event("e2", "c1", 5, provider_status="failed", **late),
        event("e4", "c2", 0, provider_status=None),
    ) == [("c1", "e3", "succeeded", "succeeded"), ("c2", "e4", None, None)]


def test_of_equal_updates_the_greater_event_has_the_last_word_in_any_order(lake: Lake) -> None:
    tied = [event("e1", "c1", 0), event("e2", "c1", 0, provider_status="failed")]
    assert (
        last_words(lake, *tied, tied[0])
        == last_words(lake, *reversed(tied))
        == [("c1", "e2", "failed", "failed")]
    )


@pytest.mark.parametrize(
    ("provider", "status", "code", "meant", "category"),
    [
        ("STRIPE", "succeeded", None, "succeeded", None),
        ("BRAINTREE", "settled", None, "succeeded", None),
        ("BRAINTREE", "submitted_for_settlement", None, "pending", None),
        ("BRAINTREE", "processor_declined", "2001", "failed", "insufficient_funds"),
        ("ADYEN", "authorised", None, "succeeded", None),
        ("ADYEN", "refused", "12", "failed", "insufficient_funds"),
        ("STRIPE", "settled", "2001", None, None),  # another provider's words
        ("ADYEN", "gone fishing", None, None, None),
    ],
)
def test_each_providers_words_become_one_vocabulary(
    lake: Lake, provider: str, status: str, code: str, meant: str | None, category: str | None
) -> None:
    (row,) = made(
        lake, event("e1", "c1", 0, provider=provider, provider_status=status, failure_code=code)
    )
    assert (row["status"], row["failure_category"]) == (meant, category)
    assert (row["provider_status"], row["failure_code"]) == (status, code)


@pytest.mark.parametrize(
    ("provider", "currency", "said", "amount", "minor", "exponent"),
    [
        ("STRIPE", "EUR", "1250", "12.50", 1250, 2),
        ("ADYEN", "JPY", "1250", "1250.00", 1250, 0),
        ("BRAINTREE", "USD", "12.50", "12.50", 1250, 2),
        ("BRAINTREE", "JPY", "1250", "1250.00", 1250, 0),
        ("STRIPE", None, "1250", None, 1250, None),
        ("BRAINTREE", None, "12.50", "12.50", None, None),
    ],
)
def test_amounts_are_told_in_units_and_in_the_smallest_unit(
    lake: Lake, provider: str, currency: str | None, said: str, amount: str | None,
    minor: int | None, exponent: int | None,
) -> None:  # fmt: skip
    given = {"provider": provider, "currency": currency, "provider_amount": Decimal(said)}
    (row,) = made(lake, event("e1", "c1", 0, **given))
    found = (row["amount"], row["amount_minor"], row["currency_exponent"])
    assert found == (amount and Decimal(amount), minor, exponent)


def customer(since: datetime, country: str | None, **more: object) -> Row:
    return {"customer_id": "x", "changed_at": since, "country": country, **more}


def test_customer_and_merchant_are_told_as_they_were_when_the_charge_was_made(lake: Lake) -> None:
    known = (
        customer(AT - MINUTE, "DE", segment="consumer", signed_up_at=AT - MINUTE),
        customer(AT, "FR"),
        customer(AT + MINUTE, "GB"),
        customer(AT + 2 * MINUTE, None, is_deleted=True),
    )
    shops = ({"merchant_id": "m", "changed_at": AT, "category": "travel"},)
    moments = {f"c{n}": AT + (n - 2) * MINUTE for n in range(6)}
    charges = [
        event(f"e{id}", id, 9, customer_id="x", merchant_id="m", created_at=at)
        for id, at in moments.items()
    ]
    nobody = event("e9", "c9", 9)  # says neither customer nor merchant
    found = made(lake, *charges, nobody, customers=known, merchants=shops)
    assert [(r["charge_id"], r["customer_country"], r["merchant_category"]) for r in found] == [
        ("c0", None, None), ("c1", "DE", None), ("c2", "FR", "travel"), ("c3", "GB", "travel"),
        ("c4", None, "travel"), ("c5", None, "travel"), ("c9", None, None),
    ]  # fmt: skip
    assert (found[1]["customer_segment"], found[1]["signed_up_at"]) == ("consumer", AT - MINUTE)


def test_what_is_heard_of_a_customer_touches_the_charges_made_since(lake: Lake) -> None:
    charges = rows(
        lake.spark, StgPaymentCharges,
        event("e0", "before", 0, customer_id="x", created_at=AT - MINUTE),
        event("e1", "since", 0, customer_id="x"),
        event("e2", "another", 0, customer_id="y"),
        event("e3", "nobody", 0),
    )  # fmt: skip
    news = rows(lake.spark, StgPaymentCustomers, customer(AT, "FR"), customer(AT + MINUTE, "GB"))
    found = mentions("customers", news, {"events": charges}).collect()
    assert [row["charge_id"] for row in found] == ["since"]


def test_words_and_amounts_that_nobody_knows_are_counted_and_kept(lake: Lake) -> None:
    good: Row = {
        "charge_id": "c1", "event_id": "e1", "provider": "STRIPE", "status": "failed",
        "provider_status": "failed", "provider_amount": Decimal(500), "amount": Decimal(5),
        "amount_minor": 500, "created_at": AT,
        "updated_at": AT, "arrived_at": AT, "is_dirty": False,
    }  # fmt: skip
    odd: dict[str, Row] = {
        "status_known": good | {"status": None},
        "failure_known": good | {"failure_code": "new_code"},
        "amount_known": good | {"amount": None},
    }
    assert broken_rules(lake, Payments, good, *odd.values()) == ["", *odd]
