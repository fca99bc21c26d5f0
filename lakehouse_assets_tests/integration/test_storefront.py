"""The shop from its PostgreSQL to the marts, against a truth that shares no code with the engine,
and the tables of what is there now against PostgreSQL itself.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fastavro
import pytest
from pyspark.sql import functions as F

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import catch_up
from lakehouse_assets.bench._marts import DAILY, beside_database
from lakehouse_assets.commands.compare import against_shop, against_truth
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.landing.asset import left_of
from lakehouse_assets.landing.hours import land
from lakehouse_assets.looks import standing
from lakehouse_assets.origin import looks
from lakehouse_assets.origin.asset import LOOKS
from lakehouse_assets.origin.looks import looks_of
from lakehouse_assets.services import connectors
from lakehouse_assets.services.connect import Connect
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.produce import produce
from lakehouse_assets.sources.storefront import truth
from lakehouse_assets.sources.storefront.captured import wait_until_captured
from lakehouse_assets.sources.storefront.database import connect
from lakehouse_assets.sources.storefront.live import Flow
from lakehouse_assets.sources.storefront.seeding import Sizes
from lakehouse_assets_tests.integration.shop import CONNECTOR, a_shop, do, snapshot_is_over, told_of
from lakehouse_assets_tests.staging.starting import starting_entries_are_ours
from lakehouse_assets_tests.support import stored

SMALL = Sizes(customers=40, products=20, orders=60)
ORDERS = "storefront.public.orders"
PLACE = ("topic_generation", "kafka_partition", "kafka_offset")
# A row's first day is not what it was; its key is another one.
CORRECTED = """
update customers set created_at = created_at - interval '40 days' where id % 10 = 1;
update products set created_at = created_at - interval '2 days', price = price + 1 where id % 7 = 1;
update orders set created_at = created_at - interval '1 hour' where id % 5 = 1;
update order_items set line = line + 10 where order_id % 6 = 1;
"""
JOINED = """
insert into customers (public_id, email, first_name, last_name, country, segment, created_at,
    updated_at) select gen_random_uuid(), name, name, '', 'DE', 'new', now(), now()
    from unnest(array['seen', 'unseen']) name
"""
BEGUN = """
insert into customers (public_id, email, first_name, last_name, country, segment, created_at,
    updated_at) values (gen_random_uuid(), 'slow', 'slow', '', 'DE', 'new', now(), now());
update products set price = price + 1 where id = 3;
delete from addresses where id = (
    select max(id) from addresses where id not in (select shipping_address_id from orders))
"""
LEFT = "delete from customers where email = 'seen'"
LEFT_UNSEEN = "delete from customers where email = 'unseen'"
TRUNCATED = "create table kept as select * from shipments; truncate shipments"
RESEEDED = "insert into shipments select * from kept where id % 2 = 1"


@pytest.fixture(scope="module", autouse=True)
def shop(stack: Path) -> Iterator[None]:
    with a_shop(SMALL):
        yield


def ours() -> list[LakeTable]:
    return [table for table in tables().values() if table.group in ("storefront", "metadata")]


def happen(count: int) -> None:
    Flow(count, 0, count).run(threading.Event(), lambda done: None)


def first_snapshot() -> None:
    """Of what is there, and what comes then."""
    connectors.register(CONNECTOR)
    do(JOINED)
    happen(30)


def odd_changes() -> None:
    happen(60)
    do(CORRECTED)
    do(LEFT)
    do(TRUNCATED)
    produce([Event(None, b"no Avro", ORDERS, "malformed")])


def new_snapshot() -> None:
    """After changes that nobody saw, and beside one that is begun before it and committed after: a
    slot that is there is not made anew, which would wait for it.
    """
    do(RESEEDED)
    connectors.delete(CONNECTOR)
    do(LEFT_UNSEEN)
    happen(40)
    do("select pg_create_logical_replication_slot('storefront', 'pgoutput')")
    with connect() as slow, slow.transaction():
        slow.execute(BEGUN)
        connectors.register(CONNECTOR)
        snapshot_is_over()
    wait_until_captured()
    happen(20)


@contextmanager
def other_lake(folder: Path) -> Iterator[Lake]:
    there = {"LAKEHOUSE_CATALOG_URI": f"sqlite:///{folder / 'other.db'}",
             "LAKEHOUSE_WAREHOUSE": str(folder / "other")}  # fmt: skip
    with settings.environment(there):
        lake = Lake(run="at once")
        lake.compile(False)
        try:
            yield lake
        finally:
            lake.close()


def assert_left_as_in_raw() -> None:
    """By topic, what somebody finds who knows only Avro."""
    for table in left_of(tables()):
        found = []
        for path in Path(settings.landing()).glob(f"raw/{table.topic}/*/*.avro"):
            with path.open("rb") as file:
                found += [record["kafka"] for record in fastavro.reader(file)]
        raw = [row for row in stored(table.name, *PLACE, "_error") if row["_error"] is None]
        assert sorted(tuple(kafka[n] for n in ("generation", "partition", "offset"))
                      for kafka in found) == sorted(tuple(row[n] for n in PLACE) for row in raw)
        assert found, table.topic


def assert_equal_to_the_truth_and_the_shop() -> None:
    compared = [*against_truth(truth, read_back(truth.TOPICS)), *against_shop()]
    compared += beside_database()
    assert [(one.table, one.examples) for one in compared if not one.is_equal] == []
    assert [one.table for one in compared if not one.rows] == []


def test_many_batches_and_one_and_a_rebuild_give_the_truth_and_what_the_shop_has(
    lake: Lake, tmp_path: Path
) -> None:
    for happens in (first_snapshot, odd_changes, new_snapshot):
        happens()
        wait_until_captured()
        catch_up(lake, ours())
        for table in left_of(tables()):
            land(lake, table)
    assert_equal_to_the_truth_and_the_shop()
    assert_left_as_in_raw()
    starting_entries_are_ours(tmp_path / "storefront_tables.yaml")
    with other_lake(tmp_path) as at_once:
        catch_up(at_once, ours())
        assert_equal_to_the_truth_and_the_shop()
    for table in ours():
        if table.group == "storefront" and not table.topic:
            rebuild(lake, table)
    assert_equal_to_the_truth_and_the_shop()
    history = stored("semantic.storefront_customer_history")
    assert sum(row["is_current"] and row["is_deleted"] for row in history) >= 2
    assert any(row["op"] == "t" for row in stored("staging.stg_storefront_shipments"))
    assert_an_emptied_table_is_told_of(lake)
    assert_looks_see_what_they_are_for(lake)


def assert_an_emptied_table_is_told_of(lake: Lake) -> None:
    """A snapshot says nothing of a table that is empty: the look does, and what helps."""
    connectors.delete(CONNECTOR)
    do("truncate shipments")
    connectors.register(CONNECTOR)
    wait_until_captured()
    catch_up(lake, ours())
    shipments = "semantic.storefront_shipments"
    passed, told = told_of(lake, shipments, "equals_the_database")
    assert not passed and "`truncate shipments cascade` there" in told
    do("truncate shipments cascade")
    wait_until_captured()
    catch_up(lake, ours())
    assert told_of(lake, shipments, "equals_the_database")[0]


def assert_looks_see_what_they_are_for(lake: Lake) -> None:
    """All are content; then each is shown what it has to see."""
    for table in ours():
        for look in [*looks_of(table), *standing.looks_of(table), *LOOKS]:
            assert standing.found(look, lake, table)[0], f"{table.name}: {look.name}"
    orders, staged = "semantic.storefront_orders", "staging.stg_storefront_orders"
    assert_silence_is_red(lake, orders)
    add_an_early_change_and_a_late_deletion(lake, orders, staged)
    passed, told = told_of(lake, staged, "order_never_goes_back")
    assert not passed and "'bad': 1" in told
    passed, told = told_of(lake, orders, "deletions_are_gone")
    assert not passed and "'bad': 1" in told
    lake.spark.sql(f"delete from {DAILY} where ordered_on = (select max(ordered_on) from {DAILY})")
    lives, days = beside_database()
    assert lives.is_equal and days.lost and not days.wrong
    lake.spark.sql(f"delete from {orders} where order_id = (select max(order_id) from {orders})")
    passed, told = told_of(lake, orders, "equals_the_database")
    assert not passed and "'lacking': 1" in told and f"rebuild {orders}" in told
    Connect().stop()
    do("update categories set name = name || '!'")
    passed, told = told_of(lake, "semantic.storefront_categories", "equals_the_database")
    assert not passed and "'other content'" in told and "nobody reads the replication slot" in told
    passed, told = told_of(lake, orders, "changes_arrive")
    assert not passed and "'is read': False" in told and "'waiting MB'" in told
    assert "'Kafka Connect': 'does not answer" in told and "connectors status" in told
    assert told_of(lake, orders, "log_is_let_go")[0]
    do("create table big as select repeat('x', 100) from generate_series(1, 300000)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looks, "KEPT_SHARE", 0.01)
        passed, told = told_of(lake, orders, "log_is_let_go")
    assert not passed and "'allowed MB': 20" in told and "connectors status" in told


def assert_silence_is_red(lake: Lake, orders: str) -> None:
    """A quiet shop is heard of; whoever reads its log and says nothing is not at work."""
    passed, told = told_of(lake, orders, "changes_arrive")
    seconds = re.search(r"'seconds since anything came': (\d+)", told)
    assert passed and seconds and int(seconds[1]) < 30, told
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looks, "SILENT_S", -1)
        passed, told = told_of(lake, orders, "changes_arrive")
        assert not passed and "'is read': True" in told and "'allowed seconds': -1" in told
        patch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:1")
        passed, told = told_of(lake, orders, "changes_arrive")
        assert not passed and "'is read': True" in told and "Kafka does not answer" in told


def add_an_early_change_and_a_late_deletion(lake: Lake, orders: str, staged: str) -> None:
    """Of an order that is there."""
    there = lake.spark.table(staged).join(lake.spark.table(orders), "order_id", how="left_semi")
    last = F.col("_record").withField("kafka_offset", F.lit(10**9))
    streamed = there.where("op = 'u'").limit(1)
    early = streamed.withColumns({"lsn": F.lit(1), "_record": last})
    last = F.col("_record").withField("kafka_offset", F.lit(10**9 + 1))
    late = early.withColumns({"lsn": F.lit(2**60), "op": F.lit("d"), "_record": last})
    early.unionAll(late).writeTo(staged).append()
