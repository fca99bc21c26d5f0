"""A shop filled at once: sound, the same for the same seed, and quick."""

import time

import psycopg
import pytest

from lakehouse_assets.sources.storefront.rows import NAMES
from lakehouse_assets.sources.storefront.seeding import NotEmptyError, Sizes, seed_shop
from lakehouse_assets_tests.sources.storefront.shops import (
    NOW,
    assert_sound,
    counted,
    empty_out,
    everything,
)

SMALL = Sizes(customers=60, products=40, orders=300)


def test_twenty_thousand_orders_are_there_in_seconds_and_sound(shop: psycopg.Connection) -> None:
    heard: list[int] = []
    began = time.monotonic()
    written = seed_shop(shop, Sizes(2_000, 300, 20_000), 7, NOW, on_progress=heard.append)
    assert time.monotonic() - began < 60
    assert heard == [10_000, 20_000]
    assert written == {name: counted(shop, f"select from {name}") for name in NAMES}
    assert written["orders"] == 20_000 and written["customers"] == 2_000
    assert 2.5 < written["order_items"] / 20_000 < 3.5
    assert_sound(shop)


def test_every_status_occurs_and_nothing_happened_after_now(shop: psycopg.Connection) -> None:
    seed_shop(shop, Sizes(200, 60, 3_000), 7, NOW)
    assert counted(shop, "select distinct status from orders") == 6
    for name in NAMES:
        late = f"select from {name} where greatest(created_at, updated_at) > '{NOW}'"
        assert counted(shop, late) == 0, name
    assert counted(shop, "select from categories where parent_id is not null") > 10
    assert counted(shop, "select from customers where phone is null or preferences is null") > 10
    assert counted(shop, "select from products where tags = '{}' or weight_grams is null") > 3
    for used, key in (("customers", "orders.customer_id"),
                      ("products", "order_items.product_id")):  # fmt: skip
        never = f"not exists (select from {key.split('.')[0]} where {key} = {used}.id)"
        assert counted(shop, f"select from {used} where {never}") >= 3, "who can be deleted"


def test_long_descriptions_stand_out_of_line(shop: psycopg.Connection) -> None:
    seed_shop(shop, SMALL, 7, NOW)
    (size,) = shop.execute(
        "select pg_relation_size(reltoastrelid) from pg_class where relname = 'products'"
    ).fetchone() or (0,)
    assert size > 10_000
    assert counted(shop, "select from products where length(description) > 3000") >= 3


def test_the_same_seed_makes_the_same_shop_and_another_another(shop: psycopg.Connection) -> None:
    shops = []
    for seed in (7, 7, 8):
        empty_out(shop)
        seed_shop(shop, SMALL, seed, NOW)
        shops.append(everything(shop))
    assert shops[0] == shops[1]
    assert all(shops[0][name] != shops[2][name] for name in NAMES if name != "categories")


def test_a_shop_is_not_filled_twice_unless_one_says_so(shop: psycopg.Connection) -> None:
    first = seed_shop(shop, SMALL, 7, NOW)
    with pytest.raises(NotEmptyError):
        seed_shop(shop, SMALL, 7, NOW)
    more = seed_shop(shop, SMALL, 7, NOW, is_added=True)
    assert more["categories"] == 0 and more["customers"] == first["customers"]
    assert counted(shop, "select from orders") == 600
    assert_sound(shop)


def test_whoever_writes_next_gets_a_new_id(shop: psycopg.Connection) -> None:
    seed_shop(shop, SMALL, 7, NOW)
    for name in NAMES:
        if name != "order_items":
            found = shop.execute(
                f"select nextval(pg_get_serial_sequence('{name}', 'id')), max(id) from {name}"
                .encode()
            ).fetchone()  # fmt: skip
            assert found and found[0] == found[1] + 1, name
