"""What goes on in a shop: every kind of change, always sound, the same for the same seed."""

import threading
import time
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from lakehouse_assets.sources.storefront.database import ShopBusyError, connect, writer
from lakehouse_assets.sources.storefront.live import Flow
from lakehouse_assets.sources.storefront.rows import NAMES
from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
from lakehouse_assets.sources.storefront.traffic import KINDS, Traffic
from lakehouse_assets_tests.sources.storefront.shops import (
    NOW,
    assert_sound,
    counted,
    empty_out,
    everything,
    ticking,
)

SMALL = Sizes(customers=60, products=40, orders=300)
TRANSACTIONS = 1_500
WATCH = """
create table seen (at bigserial, tx bigint, name text, op text, was jsonb, now jsonb);
create function see() returns trigger language plpgsql as $$ begin
    insert into seen (tx, name, op, was, now)
    values (txid_current(), tg_table_name, tg_op, to_jsonb(old), to_jsonb(new));
    return null;
end $$;
"""


@pytest.fixture
def watched(shop: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Every change of a row stands in the table `seen`."""
    seed_shop(shop, SMALL, 7, NOW)
    shop.execute(WATCH)
    for name in NAMES:
        shop.execute(
            f"create trigger see after insert or update or delete on {name}"
            " for each row execute function see()".encode()
        )
    yield shop
    shop.execute("drop function see cascade; drop table seen")


def test_every_kind_of_change_occurs_and_the_shop_stays_sound(watched: psycopg.Connection) -> None:
    traffic = Traffic(3, ticking())
    kinds = Counter(traffic.transact(watched) for _ in range(TRANSACTIONS))
    assert set(kinds) == set(KINDS)
    assert_sound(watched)
    assert counted(watched, "select distinct tx from seen") == TRANSACTIONS
    found = {(name, op) for name, op in watched.execute("select name, op from seen").fetchall()}
    kept = {(name, op) for name in NAMES for op in ("INSERT", "UPDATE", "DELETE")} - found
    assert kept == {("categories", "INSERT"), ("categories", "DELETE")}
    for what, statement in {
        "several tables": "select tx from seen group by tx having count(distinct name) >= 3",
        "a row twice": "select tx from seen where name = 'orders' group by tx, now ->> 'id' having"
        " count(*) >= 2",
        "a payment twice": "select tx from seen where name = 'payments' group by tx, now ->> 'id'"
        " having count(*) >= 2",
        "a key": "select tx from seen where op = 'UPDATE' and name = 'order_items' and"
        " was ->> 'line' <> now ->> 'line'",
        "a key that is taken again": "select d.tx from seen d join seen u on u.tx = d.tx and u.op ="
        " 'UPDATE' and u.name = d.name and u.now ->> 'line' = d.was ->> 'line' where d.op ="
        " 'DELETE' and d.name = 'order_items'",
        "an order with all that hangs on it": "select tx from seen where op = 'DELETE' group by tx"
        " having count(*) filter (where name = 'orders') = 1 and count(distinct name) >= 2",
    }.items():
        assert counted(watched, statement) >= 3, what
    unsaid = "select from seen where op = 'UPDATE' and now ->> 'updated_at' <= was ->> 'updated_at'"
    assert counted(watched, unsaid) == 0


def test_the_same_seed_does_the_same_to_the_same_shop(shop: psycopg.Connection) -> None:
    ends = []
    for seed in (3, 3, 4):
        empty_out(shop)
        seed_shop(shop, SMALL, 7, NOW)
        traffic = Traffic(seed, ticking())
        done = [traffic.transact(shop) for _ in range(300)]
        ends.append((done, everything(shop)))
    assert ends[0] == ends[1]
    assert ends[0][0] != ends[2][0]


def test_another_run_of_the_same_seed_is_not_the_same_again(shop: psycopg.Connection) -> None:
    seed_shop(shop, SMALL, 7, NOW)
    clock = ticking()
    for _ in range(3):
        traffic = Traffic(3, clock)
        for _ in range(60):
            traffic.transact(shop)
    assert_sound(shop)


def test_in_an_empty_shop_somebody_joins(shop: psycopg.Connection) -> None:
    traffic = Traffic(3, ticking())
    assert traffic.transact(shop) == "customer_joined"


def test_one_at_a_time_writes(shop: psycopg.Connection) -> None:
    with pytest.raises(ShopBusyError, match="lakehouse down generate-storefront"), writer():
        pass


def test_a_flow_goes_on_after_its_connection_was_cut(migrated: None) -> None:
    with writer() as shop:
        empty_out(shop)
        seed_shop(shop, SMALL, 7, NOW)
    flow, stop = Flow(seed=3, rate=0, count=600), threading.Event()
    thread = threading.Thread(target=flow.run, args=(stop, lambda _: None))
    thread.start()
    cuts = 0
    with connect() as other:
        while thread.is_alive() and cuts < 2:
            time.sleep(0.01)
            if flow.done > 150 * (cuts + 1):
                cuts += counted(other, "select pg_terminate_backend(pid) from pg_locks where"
                                " locktype = 'advisory' and granted")  # fmt: skip
        thread.join(60)
        assert not thread.is_alive() and flow.done == 600 and cuts == 2
        assert sum(flow.kinds.values()) == 600
        assert_sound(other)


def test_a_flow_keeps_its_rate_and_stops_when_it_is_told(shop: psycopg.Connection) -> None:
    seed_shop(shop, SMALL, 7, NOW)
    shop.close()
    flow, stop = Flow(seed=3, rate=20), threading.Event()
    threading.Timer(2, stop.set).start()
    flow.run(stop, lambda _: None)
    assert 20 <= flow.done <= 45
