"""What is made of the shop's orders and card payments, told without engine and Spark."""

from datetime import date
from decimal import Decimal
from typing import Any

from lakehouse_assets_tests.sources.webhooks.truth.said import (
    charge,
    event,
    expected,
    order,
    refund,
)

DAY = date(2026, 5, 4)


def line(**said: Any) -> dict[str, Any]:
    return {"id": 1, "title": "Mug", "quantity": 2, "price": "7.25", "sku": "M"} | said


def test_lines_are_those_of_the_newest_version_each_once() -> None:
    old = order(line_items=[line(id=9)], updated_at="2026-05-04T06:00:00-05:00")
    new = order(line_items=[line(), line(title="Lamp"), {"quantity": "2"}, None])
    rows = expected([new, old])["semantic.order_lines"]
    told = [(r["line_id"], r["title"], r["quantity"], r["price"], r["currency"]) for r in rows]
    assert told == [
        ("#2", None, None, None, "EUR"), ("#3", None, None, None, "EUR"),
        ("1", "Mug", 2, Decimal("7.25"), "EUR"),
    ]  # fmt: skip


def test_the_first_order_is_the_oldest_that_was_not_cancelled() -> None:
    told = [
        order(id=1, created_at="2026-05-03T12:00:00Z", financial_status="voided"),
        order(id=5, created_at="2026-05-03T12:00:00Z", cancelled_at="2026-05-03T13:00:00Z"),
        order(id=3, created_at="2026-05-04T12:00:00Z"),
        order(id=2, created_at="2026-05-04T12:00:00Z"),
        order(id=4, created_at="2026-05-02T12:00:00Z", customer=None),
    ]
    (row,) = expected(told)["semantic.first_orders"]
    assert (row["customer_id"], row["order_id"], row["created_at"].date()) == ("5", "2", DAY)


def test_a_days_orders_are_summed_by_status_and_unknown_prices_left_out() -> None:
    told = [order(id=1), order(id=2, financial_status=None), order(id=3, subtotal_price=None)]
    none, paid = expected(told)["analytics.order_summary"]
    assert (none["financial_status"], none["orders"]) == (None, 1)
    assert (paid["order_date"], paid["orders"], paid["line_items"]) == (DAY, 2, 4)
    assert paid["gross_amount"] - paid["discount_amount"] == paid["net_amount"] == Decimal("25.00")
    assert paid["discount_amount"] == Decimal("1.00")
    assert paid["total_amount"] == Decimal("65.00")


def test_taxes_that_prices_contain_are_taken_out() -> None:
    told = [order(id=1, taxes_included=True), order(id=2, taxes_included=True, total_tax=None)]
    (row,) = expected(told)["analytics.order_summary"]
    assert (row["gross_amount"], row["discount_amount"]) == (Decimal("21.00"), Decimal("1.00"))
    assert (row["net_amount"], row["tax_amount"]) == (Decimal("20.00"), Decimal("5.00"))


def test_disputes_stand_on_their_own_day_and_refunds_on_that_of_the_charge() -> None:
    thing = {"id": "dp_1", "charge": "ch_1", "amount": 500, "currency": "eur",
             "status": "lost", "created": 1_777_896_000 + 86_400}  # fmt: skip
    dispute = event("webhooks.other", "charge.dispute.closed", {
        "_vendor": "stripe", "created": 1_777_896_000 + 86_400, "data": {"object": thing}
    })  # fmt: skip
    told = [charge(amount_refunded=100), charge(id="ch_2", status="failed"), dispute]
    first, second = expected(told)["analytics.payment_metrics"]
    assert (first["charges"], first["success_rate"], first["refunds"]) == (2, 0.5, 1)
    assert (first["amount"], first["refunded_amount"]) == (Decimal("19.99"), Decimal("1.00"))
    assert (second["charges"], second["success_rate"], second["disputes"]) == (0, None, 1)
    assert second["disputed_amount"] == Decimal("5.00")


def test_a_shops_day_without_what_was_cancelled() -> None:
    lines = [line(id=n, title=name, quantity=many) for n, (name, many) in enumerate(
        [("A", 1), ("B", 3), ("C", 1), ("D", 1), ("E", 1), ("F", 1), ("B", 1), ("G", None)]
    )]  # fmt: skip
    told = [
        order(id=17, line_items=lines), order(id=18, customer=None),
        order(id=19, financial_status="voided"), refund(),
        order(id=21, cancelled_at="2026-05-04T13:00:00Z"),
        order(id=20, created_at="2026-05-05T12:00:00Z"),
        refund(id=2, created_at="2026-05-06T12:00:00Z", order_id=99), charge(status="failed"),
    ]  # fmt: skip
    first, second, third = expected(told)["marts.sales_dashboard_daily"]
    assert (first["orders"], first["customers"], first["new_customers"]) == (2, 1, 1)
    assert (first["gross_amount"], first["net_amount"]) == (Decimal("65.00"), Decimal("55.00"))
    assert (first["average_order_amount"], first["refunds"]) == (Decimal("32.50"), 1)
    assert first["payment_success_rate"] == 0.0
    assert [p["title"] for p in first["top_products"]] == ["B", "A", "C", "D", "E"]
    assert first["top_products"][0] == {"title": "B", "quantity": 4}
    assert (second["customers"], second["new_customers"]) == (1, 0)
    assert (third["orders"], third["refunds"], third["average_order_amount"]) == (0, 1, None)
    assert (third["net_amount"], third["top_products"]) == (Decimal("-10.00"), [])
