"""marts.merchant_revenue_daily: what a merchant earned on a day, by currency."""

from collections import Counter
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.publish import Change, publish
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.marts.merchant_revenue_daily import (
    MerchantRevenueDaily,
    merchant_revenue_daily,
)
from lakehouse_assets.semantic.payment_ledger import PaymentLedger
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments, truth
from lakehouse_assets.sources.payments.truth.ledger import LEDGER, REVENUE
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.support import broken_across, broken_rules, rows, same_rows

MIDNIGHT = datetime(2024, 3, 2, tzinfo=timezone.utc)
FIRST, SECOND = date(2024, 3, 1), date(2024, 3, 2)


def movement(id: str, minor: int | None, **more: object) -> Row:
    """Of merchant m1, in euros, of a thing made on the second day."""
    return {
        "movement_id": id, "kind": id.split(":")[0], "merchant_id": "m1", "currency": "EUR",
        "amount_minor": minor, "created_at": MIDNIGHT, **more,
    }  # fmt: skip


def daily(lake: Lake, *movements: Row) -> list[tuple[object, ...]]:
    found = result(merchant_revenue_daily, ledger=rows(lake.spark, PaymentLedger, *movements))
    return [tuple(r.values()) for r in found]


def test_a_days_movements_are_counted_and_summed_by_merchant_and_currency(lake: Lake) -> None:
    assert daily(
        lake,
        movement("charge:1", 1000),
        movement("charge:2", 1),
        movement("refund:1", -400),
        movement("dispute:1", -1000),
        movement("reversal:1", 1000),
        movement("charge:3", 700, currency="JPY"),
        movement("refund:2", -50, merchant_id="m2"),
        movement("charge:late", 5, created_at=MIDNIGHT - timedelta(microseconds=1)),
    ) == [
        (FIRST, "m1", "EUR", 1, 0, 0, 0, 0, 5, 0, 0, 0, 5, Decimal("0.05")),
        (SECOND, "m1", "EUR", 2, 1, 1, 1, 0, 1001, 400, 1000, 1000, 601, Decimal("6.01")),
        (SECOND, "m1", "JPY", 1, 0, 0, 0, 0, 700, 0, 0, 0, 700, Decimal("700.00")),
        (SECOND, "m2", "EUR", 0, 1, 0, 0, 0, 0, 50, 0, 0, -50, Decimal("-0.50")),
    ]  # fmt: skip


def test_what_names_no_merchant_or_currency_has_a_row_of_its_own(lake: Lake) -> None:
    nobody = {"merchant_id": None, "currency": None}
    assert daily(
        lake, movement("charge:1", 100, **nobody), movement("refund:1", None, **nobody)
    ) == [(SECOND, None, None, 1, 1, 0, 0, 1, 100, 0, 0, 0, 100, None)]


def test_a_net_that_does_not_add_up_is_counted(lake: Lake) -> None:
    sums = ("gross_minor", "refunded_minor", "disputed_minor", "reversed_minor", "net_minor")
    counts = dict.fromkeys(("charges", "refunds", "disputes", "reversals", "unvalued"), 0)
    good: Row = {"created_on": FIRST, **counts, **dict(zip(sums, (9, 1, 3, 2, 7), strict=True))}
    found = broken_rules(lake, MerchantRevenueDaily, good, good | {"net_minor": 8})
    assert found == ["", "net_adds_up"]


def test_generated_movements_give_the_truth_and_sum_to_the_ledger(lake: Lake) -> None:
    dirt = Dirt(null_spelling=0.15, late=0.1)
    expected = truth.expected(truth.delivered(payments(6, 3_000, FIRST_DAY, dirt), FIRST_DAY))
    ledger = rows(lake.spark, PaymentLedger, *expected[LEDGER])
    found = result(merchant_revenue_daily, ledger=ledger)
    assert {row["unvalued"] for row in found} > {0}
    same_rows(found, expected[REVENUE])
    there, here = Counter[str | None](), Counter[str | None]()
    for row in expected[LEDGER]:
        there[row["currency"]] += row["amount_minor"] or 0
    for row in found:
        here[row["currency"]] += row["net_minor"]
    assert here == there


def claim_to_have_read(lake: Lake, table: LakeTable) -> None:
    """A batch that reads all of the parents and makes nothing of it."""
    head, nothing = lake.catalog.head(table.name), rows(lake.spark, table.contract)
    publish(lake, table.contract, head, Change(nothing, "append", News(lake, table, head).stamp()))


def test_a_movement_that_the_mart_lacks_shows_by_its_currency(lake: Lake) -> None:
    (ledger,) = merchant_revenue_daily.parents.values()
    add(lake, ledger, movement("charge:1", 500), movement("charge:2", None, currency=None))
    advance(lake, merchant_revenue_daily)
    assert broken_across(lake, merchant_revenue_daily) == {}
    add(lake, ledger, movement("refund:1", -100))
    assert broken_across(lake, merchant_revenue_daily) == {}, "not judged before it has read it"
    claim_to_have_read(lake, merchant_revenue_daily)
    (bad,) = broken_across(lake, merchant_revenue_daily)["nets_to_the_ledger"]
    assert (bad["currency"], bad["net_minor"], bad["ledger_minor"]) == ("EUR", 500, 400)
