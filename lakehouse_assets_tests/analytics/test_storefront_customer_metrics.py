"""analytics.storefront_customer_metrics: what a person bought in the web shop."""

from decimal import Decimal

from lakehouse_assets.analytics.storefront_customer_metrics import (
    StorefrontCustomerMetrics,
    storefront_customer_metrics,
)
from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.semantic.orders import AT, DAY
from lakehouse_assets_tests.support import rows, stored

ENTITIES, ORDERS, CUSTOMERS = storefront_customer_metrics.parents.values()


def record(number: int | str, who: str = "ada", source: str = "storefront") -> Row:
    return {"entity_id": who, "source": source, "source_id": str(number)}


def order(number: int, customer: int = 1, day: int = 0, **said: object) -> Row:
    return {"order_id": number, "customer_id": customer, "status": "paid", "currency": "EUR",
            "total": Decimal(10), "created_at": AT + day * DAY, **said}  # fmt: skip


def customer(number: int, segment: str, day: int = 0) -> Row:
    return {"customer_id": number, "segment": segment, "created_at": AT,
            "updated_at": AT + day * DAY}  # fmt: skip


def made(lake: Lake, people: list[Row], orders: list[Row], customers: list[Row]) -> list[Row]:
    frames = zip(storefront_customer_metrics.parents.items(), (people, orders, customers),
                 strict=True)  # fmt: skip
    return result(storefront_customer_metrics, **{
        name: rows(lake.spark, table.contract, *given) for (name, table), given in frames
    })  # fmt: skip


def test_the_orders_of_all_accounts_of_a_person_are_one_row(lake: Lake) -> None:
    people = [record(1), record(2), record("x", source="shopify"), record("y", "bob", "stripe")]
    orders = [order(1, day=3), order(2, customer=2, day=1), order(3, customer=9)]
    (row,) = made(lake, people, orders, [customer(1, "vip"), customer(2, "new", day=4)])
    assert row == {
        "entity_id": "ada", "segment": "new", "currency": "EUR", "orders": 2,
        "other_currency_orders": 0, "first_order_at": AT + DAY, "last_order_at": AT + 3 * DAY,
        "net_amount": Decimal("20.00"),
    }  # fmt: skip


def test_cancelled_orders_are_none_and_refunded_ones_bring_nothing(lake: Lake) -> None:
    orders = [order(1), order(2, day=9, status="cancelled"), order(3, day=2, status="refunded")]
    (row,) = made(lake, [record(1)], orders, [])
    assert (row["orders"], row["net_amount"], row["last_order_at"]) == (2, 10, AT + 2 * DAY)


def test_two_currencies_are_never_added_and_a_tie_goes_to_the_greater_code(lake: Lake) -> None:
    orders = [order(1), order(2, currency="SEK", total=Decimal(70))]
    (row,) = made(lake, [record(1)], orders, [])
    assert (row["currency"], row["net_amount"]) == ("SEK", 70)
    (row,) = made(lake, [record(1)], [*orders, order(3, day=5)], [])
    assert (row["currency"], row["net_amount"], row["orders"]) == ("EUR", 20, 3)
    assert (row["other_currency_orders"], row["last_order_at"]) == (1, AT + 5 * DAY)


def test_who_never_ordered_is_there_with_zeros(lake: Lake) -> None:
    (row,) = made(lake, [record(1)], [order(1, status="cancelled")], [customer(1, "new")])
    assert (row["orders"], row["net_amount"], row["currency"]) == (0, 0, None)
    assert (row["segment"], row["first_order_at"]) == ("new", None)


def test_news_of_one_person_write_that_one_again(lake: Lake) -> None:
    add(lake, ENTITIES, record(1), record(2, "bob"), stated=False)
    add(lake, ORDERS, order(1), order(2, customer=2), stated=False)
    add(lake, CUSTOMERS, customer(1, "new"), customer(2, "vip"), stated=False)
    advance(lake, storefront_customer_metrics)
    add(lake, ORDERS, order(3, customer=2, day=1), stated=False)
    (published,) = advance(lake, storefront_customer_metrics).published
    assert (published.stored, published.removed) == (1, 1)
    found = stored(storefront_customer_metrics.name)
    assert {row["entity_id"]: row["orders"] for row in found} == {"ada": 1, "bob": 2}
    rebuild(lake, storefront_customer_metrics)
    assert stored(storefront_customer_metrics.name) == found


def test_the_key_is_the_person() -> None:
    assert StorefrontCustomerMetrics.key() == ("entity_id",)
