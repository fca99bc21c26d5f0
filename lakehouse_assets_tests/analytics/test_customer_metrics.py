"""analytics.customer_metrics: what a person ordered and paid, over all their accounts."""

from decimal import Decimal

import pytest

from lakehouse_assets.analytics.customer_metrics import MERGES, CustomerMetrics, customer_metrics
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.as_of import as_of
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.semantic.orders import AT, DAY, charge, order, refund
from lakehouse_assets_tests.semantic.people import SHOPIFY, STRIPE, entities, known, replace, tell
from lakehouse_assets_tests.support import broken_rules, rows, stored

ENTITIES, ORDERS, REFUNDS, CHARGES, *_ = customer_metrics.parents.values()


def record(entity: str, source: str, number: str) -> Row:
    return {"entity_id": entity, "source": source, "source_id": number}


ADA = [record("ada", "shopify", "1"), record("ada", "shopify", "2"),
       record("ada", "stripe", "cus_1")]  # fmt: skip


def made(lake: Lake, *given: Row, people: list[Row] = ADA, day: int = 30) -> list[Row]:
    """Of orders, refunds, charges and merged accounts, as of so many days later."""
    refunds = [row for row in given if "refund_id" in row]
    charges = [row for row in given if "charge_id" in row]
    orders = [row for row in given if "order_date" in row]
    merges = [row for row in given if "merged_into_id" in row]
    today = [{"as_of_on": (AT + day * DAY).date()}]
    told = (people, orders, refunds, charges, today, merges)
    frames = zip(customer_metrics.parents.items(), told, strict=True)
    return result(customer_metrics, **{
        name: rows(lake.spark, table.contract, *these) for (name, table), these in frames
    })  # fmt: skip


def test_accounts_of_one_person_are_added_up_and_currencies_are_not(lake: Lake) -> None:
    (row,) = made(
        lake, order("1"), order("2", 10, 30, customer_id="2"), order("3", 4, currency="EUR"),
        order("4", financial_status="voided"), order("5", customer_id="9"),
        order("6", cancelled_at=AT),
        refund("r1", "2", 5), refund("r2", "3", 7), charge("a"), charge("b", status="failed"),
        charge("c", customer_id="cus_2"),
    )  # fmt: skip
    assert row == {
        "entity_id": "ada", "sources": ["shopify", "stripe"], "currency": "USD", "orders": 3,
        "other_currency_orders": 1, "first_order_at": AT, "last_order_at": AT + 10 * DAY,
        "gross_amount": 50, "refunded_amount": 5, "net_amount": 45, "average_order_amount": 25,
        "days_since_last_order": 20, "payments_succeeded": 1, "payments_failed": 1,
        "churn_band": "high",
    }  # fmt: skip


def merged(number: str, into: str) -> Row:
    return {"customer_id": number, "merged_into_id": into, "is_deleted": True}


def test_the_orders_of_a_merged_account_are_of_the_one_that_was_kept(lake: Lake) -> None:
    chain = [merged(f"m{n}", f"m{n + 1}") for n in range(MERGES - 1)]
    (row,) = made(
        lake, order("1"), order("2", customer_id="9"), order("3", customer_id="m0"),
        order("4", customer_id="x"), order("5", customer_id="a"), refund("r", "2", 5),
        merged("9", "1"), *chain, merged(f"m{MERGES - 1}", "2"), merged("x", "nobody"),
        merged("a", "b"), merged("b", "a"),
    )  # fmt: skip
    assert (row["orders"], row["gross_amount"], row["refunded_amount"]) == (3, 60, 5)
    (row,) = made(lake, order("1", customer_id="m0"), *chain, merged(f"m{MERGES - 1}", "m"),
                  merged("m", "1"))  # fmt: skip
    assert row["orders"] == 0, "so often nobody is merged"


def test_who_never_ordered_is_there_with_nothing(lake: Lake) -> None:
    (row,) = made(lake)
    assert (row["orders"], row["gross_amount"], row["net_amount"]) == (0, 0, 0)
    nothing = ("currency", "last_order_at", "average_order_amount", "days_since_last_order",
               "churn_band")  # fmt: skip
    assert [row[c] for c in nothing] == [None] * len(nothing)


@pytest.mark.parametrize(("orders", "day", "band"), [
    ([0], 90, "low"), ([0], 91, "medium"), ([0], 180, "medium"), ([0], 181, "high"),
    ([0, 10, 20], 35, "low"), ([0, 10, 20], 36, "medium"), ([0, 10, 20], 51, "high"),
])  # fmt: skip
def test_a_churn_band_is_days_since_the_last_order_by_what_is_usual(
    lake: Lake, orders: list[int], day: int, band: str
) -> None:
    (row,) = made(lake, *[order(str(n), n) for n in orders], day=day)
    assert row["churn_band"] == band


def test_an_order_touches_its_person_a_merge_both_and_a_new_day_all(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakehouse_assets.lake.advance.today", lambda: {"day": [738_948, 0]})
    tell(lake, SHOPIFY, known("1", "a@x.org"), known("2", "b@x.org"), known("3", "c@x.org"))
    add(lake, ORDERS, order("o1"), order("o2", customer_id="2"), order("o3", customer_id="3"),
        stated=False)
    entities(lake)
    advance(lake, as_of)
    advance(lake, customer_metrics)
    add(lake, ORDERS, order("o4", 1), stated=False)
    assert written(lake) == (1, 1)
    tell(lake, STRIPE, known("cus_1", "a@x.org"), known("cus_2", "d@x.org"))
    entities(lake)
    assert written(lake) == (2, 1)  # who has a second system now, and who is new
    monkeypatch.setattr("lakehouse_assets.lake.advance.today", lambda: {"day": [738_949, 0]})
    advance(lake, as_of)
    assert written(lake) == (3, 3)  # of those who ordered
    ages = {row["days_since_last_order"] for row in stored(customer_metrics.name)}
    assert ages == {None, 2, 3}


def test_a_merge_touches_whom_it_kept_also_after_a_further_one(lake: Lake) -> None:
    for parent in customer_metrics.parents.values():
        lake.catalog.ensure(parent.contract)
    tell(lake, SHOPIFY, *[known(n, f"{n}@x.org") for n in "abcd"])
    add(lake, ORDERS, *[order(f"o{n}", customer_id=n) for n in "abcd"], stated=False)
    wanted = {"a": 1, "b": 1, "c": 1, "d": 1}
    assert ordered(lake) == wanted
    for gone, kept, wanted in (
        ("a", "b", {"b": 2, "c": 1, "d": 1}), ("b", "c", {"c": 3, "d": 1}), ("c", "d", {"d": 4})
    ):  # fmt: skip
        replace(lake, SHOPIFY, known(gone, is_deleted=True, merged_into_id=kept))
        assert ordered(lake) == wanted
    add(lake, ORDERS, order("o5", 1, customer_id="a"), stated=False)
    add(lake, REFUNDS, refund("r", "oa", 3), stated=False)
    assert ordered(lake) == {"d": 5}
    replace(lake, SHOPIFY, known("b", is_deleted=True, merged_into_id="nobody"))
    found = ordered(lake)
    assert found == {"d": 2}, "two went with whom b was merged into after all"
    rebuild(lake, customer_metrics)
    assert ordered(lake) == found


def ordered(lake: Lake) -> dict[str, int]:
    """How many orders each account's person has, after the news."""
    whose = entities(lake)
    advance(lake, customer_metrics)
    orders = {row["entity_id"]: row["orders"] for row in stored(customer_metrics.name)}
    assert orders.keys() == set(whose.values())
    return {who.removeprefix("shopify/"): orders[entity] for who, entity in whose.items()}


def written(lake: Lake) -> tuple[int, int]:
    (published,) = advance(lake, customer_metrics).published
    return published.stored, published.removed


def test_what_is_left_is_what_came_less_what_went(lake: Lake) -> None:
    good = made(lake, order("1"))[0]
    bad = good | {"net_amount": Decimal(1)}
    assert broken_rules(lake, CustomerMetrics, good, bad) == ["", "net_is_what_is_left"]
