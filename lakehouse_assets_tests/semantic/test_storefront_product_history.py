"""semantic.storefront_product_history: what a product was and cost, from when until when."""

from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_product_history import (
    storefront_product_history as history,
)
from lakehouse_assets_tests.lake.tables import result
from lakehouse_assets_tests.semantic.shop import Row, at, change
from lakehouse_assets_tests.support import rows

TEA = {"product_id": 1, "name": "Tea", "category_id": 7}


def tea(op: str, lsn: int, price: str) -> Row:
    return change(op, lsn, **TEA, price=Decimal(price))


def test_a_price_stands_until_it_is_changed_or_the_product_deleted(lake: Lake) -> None:
    (changes,) = history.parents.values()
    given = [tea("c", 1, "1.00"), tea("u", 5, "2.00"), tea("d", 9, "2.00")]
    found = result(history, changes=rows(lake.spark, changes.contract, *given))
    told = [(r["valid_from_at"], r["valid_to_at"], r["price"], r["name"]) for r in found]
    assert told == [
        (at(0), at(5), Decimal("1.00"), "Tea"),
        (at(5), at(9), Decimal("2.00"), "Tea"),
        (at(9), None, None, None),
    ]
