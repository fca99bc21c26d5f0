"""PostgreSQL's changes in Kafka, with the real things; one start of them for all tests."""

import json
import os
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from threading import Thread

import psutil
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

from lakehouse_assets import settings
from lakehouse_assets.services import connectors
from lakehouse_assets.services.capture import Capture
from lakehouse_assets.services.connect import PASSWORD, Connect, connect_url
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.postgres import Postgres
from lakehouse_assets.services.registry import Registry, registry_url
from lakehouse_assets.services.rest import ask
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.services.service import Service, start_all
from lakehouse_assets_tests.services.capturing import (
    NAME,
    capture,
    changes,
    database,
    is_running,
    make_shop,
    of_key,
    until,
)
from lakehouse_assets_tests.support import last_line, refused, said


@pytest.fixture(scope="module", autouse=True)
def stack(module_lake: Path) -> Iterator[Path]:
    services: list[Service] = [Kafka(), Postgres(), Registry(), Connect()]
    try:
        start_all(services[:3])
        make_shop()
        services[3].start()
        capture()
        yield module_lake
    finally:
        for service in reversed(services):
            service.stop()


@pytest.fixture
def watcher() -> Iterator[Capture]:
    watcher = Capture()  # not started yet
    yield watcher
    watcher.stop()


def pid_of(service: Service) -> int:
    return service.status().pid or pytest.fail(f"{service.name} does not run")


def test_every_type_arrives_as_avro_whose_schema_the_registry_knows() -> None:
    body = os.urandom(6_000).hex()  # too long to stand in the row
    with database() as shop:
        shop.execute(
            "insert into things (mark, total, at, made, n, name, info, tags, mood, country, body)"
            " values ('6f1d0b2e-6c0f-4a3e-9a53-2f6a7e1f5b11', -9999999999.99,"
            " '2026-11-19 10:11:12.123456+02', '2026-11-19', -5, 'Zoë 湖', '{\"a\": [1, null]}',"
            " array['x', null, 'y z'], 'good', 'DE', %s)", (body,),
        )  # fmt: skip
        shop.execute(
            "insert into things (mark, total, at, name, mood)"
            " values ('6f1d0b2e-6c0f-4a3e-9a53-2f6a7e1f5b12', 0, '0001-01-01Z', '', 'bad')"
        )
    full, empty = sorted(changes("things", lambda c: len(c) == 2), key=lambda c: c.key["id"])
    assert full.op == "c" and full.value["before"] is None
    assert full.value["after"] == {
        "id": 1, "mark": "6f1d0b2e-6c0f-4a3e-9a53-2f6a7e1f5b11",
        "total": Decimal("-9999999999.99"), "at": "2026-11-19T08:11:12.123456Z", "made": 20776,
        "is_ok": True, "n": -5, "name": "Zoë 湖", "info": '{"a": [1, null]}',
        "tags": ["x", None, "y z"], "mood": "good", "country": "DE", "body": body,
    }  # fmt: skip
    left = {n for n, value in empty.value["after"].items() if value is None}
    assert left == {"made", "n", "info", "tags", "country", "body"}
    assert empty.value["after"]["at"] == "0001-01-01T00:00:00.000000Z"
    assert full.value["source"]["lsn"] < empty.value["source"]["lsn"]
    assert ask(f"{registry_url()}/config") == {"compatibilityLevel": "BACKWARD"}


def test_an_update_has_the_row_before_and_after_with_what_it_did_not_touch() -> None:
    with database() as shop:
        shop.execute("update things set n = 6 where id = 1")
    *_, update = of_key(changes("things", lambda c: c[-1:] and c[-1].op == "u"), id=1)
    before, after = update.value["before"], update.value["after"]
    assert (before["n"], after["n"]) == (-5, 6)
    assert len(after["body"]) == 12_000 and before["body"] == after["body"]


def test_a_delete_a_changed_key_and_a_truncation_are_told() -> None:
    with database() as shop:
        shop.execute("insert into notes values ('old', 1, 'v'), ('gone', 2, 'w')")
        shop.execute("update notes set a = 'new' where a = 'old'")
        shop.execute("delete from notes where a = 'gone'")
        shop.execute("truncate notes")
    found = changes("notes", lambda c: "t" in [x.op for x in c] and len(c) == 8)
    assert [c.op for c in of_key(found, a="old", b=1)] == ["c", "d", "tombstone"]
    assert [c.op for c in of_key(found, a="gone", b=2)] == ["c", "d", "tombstone"]
    assert [c.op for c in of_key(found, a="new", b=1)] == ["c"]
    (truncation,) = [c for c in found if c.op == "t"]
    assert truncation.key is None and truncation.value["after"] is None
    places = [c.value["source"]["lsn"] for c in found if c.value]
    assert truncation.value["source"]["lsn"] == max(places)
    moved = of_key(found, a="old", b=1)[1].value, of_key(found, a="new", b=1)[0].value
    assert moved[0]["source"]["txId"] == moved[1]["source"]["txId"]
    assert [m["transaction"]["total_order"] for m in moved] == [1, 2]


def test_a_transaction_of_10000_rows_is_numbered_through() -> None:
    with database() as shop:
        shop.execute("insert into counts select i, 0 from generate_series(1, 10000) i")
    found = changes("counts", lambda c: len(c) >= 10_000)
    assert len({c.value["source"]["txId"] for c in found}) == 1
    order = sorted((c.value["transaction"]["total_order"], c.key["id"]) for c in found)
    assert order == [(i, i) for i in range(1, 10_001)]


def test_killed_in_the_midst_of_a_stream_each_change_comes_once() -> None:
    def change() -> None:
        with database() as shop:
            for n in range(1, 201):
                shop.execute("update counts set n = %s where id between 1 and 100", (n,))
                time.sleep(0.02)

    stream = Thread(target=change)
    stream.start()
    for _ in range(2):
        time.sleep(1.5)
        psutil.Process(pid_of(Connect())).kill()
        assert Connect().start() is True
    stream.join()
    updates = [c for c in changes("counts", lambda c: len(c) >= 30_000, 90) if c.op == "u"]
    told = sorted((c.key["id"], c.value["after"]["n"]) for c in updates)
    assert told == [(key, n) for key in range(1, 101) for n in range(1, 201)]
    for key in (1, 100):
        assert [c.value["after"]["n"] for c in of_key(updates, id=key)] == [*range(1, 201)]


def test_a_killed_database_needs_no_help_with_the_capture() -> None:
    psutil.Process(pid_of(Postgres())).kill()
    assert Postgres().start() is True
    with database() as shop:
        shop.execute("insert into counts values (20000, 1)")
    assert len(of_key(changes("counts", lambda c: len(of_key(c, id=20_000)) > 0), id=20_000)) == 1


def test_what_fails_without_the_registry_is_restarted_by_the_watcher(watcher: Capture) -> None:
    known = ask(f"{registry_url()}/subjects")
    psutil.Process(pid_of(Registry())).kill()
    with database() as shop:
        shop.execute("alter table counts add column note text")
        shop.execute("insert into counts values (30000, 1, 'new')")
    until(lambda: connectors.healths()[NAME].is_failed)
    assert "postgres-source-storefront: running; tasks: failed" in said("connectors", "status")
    watcher.start()
    until(lambda: "failed: " in watcher.log.read_text())
    Registry().start()
    assert ask(f"{registry_url()}/subjects") == known
    (found,) = of_key(changes("counts", lambda c: len(of_key(c, id=30_000)) > 0), id=30_000)
    assert found.value["after"] == {"id": 30_000, "n": 1, "note": "new"}
    until(lambda: f"{NAME}: runs" in watcher.log.read_text().rpartition("failed: ")[2])
    assert f"{NAME}: is registered as described" in watcher.log.read_text()


def test_without_its_slot_it_takes_a_new_snapshot() -> None:
    Connect().stop()
    with database() as shop:
        shop.execute("select pg_drop_replication_slot('storefront')")
        shop.execute("insert into counts values (40000, 1, 'not in the log any more')")
    Connect().start()
    found = changes("counts", lambda c: len(of_key(c, id=40_000)) > 0)
    assert [c.op for c in of_key(found, id=40_000)] == ["r"]
    with database() as shop:
        shop.execute("insert into counts values (40001, 1, 'in the new one')")
    changes("counts", lambda c: len(of_key(c, id=40_001)) > 0)


def test_a_reset_reads_the_tables_anew_and_a_delete_lets_the_log_go(watcher: Capture) -> None:
    watcher.start()
    before = len(changes("things", lambda c: len(c) >= 3))
    assert "say --yes" in refused("connectors", "reset", NAME)
    said("connectors", "reset", NAME, "--yes")
    found = changes("things", lambda c: len(c) >= before + 2)
    assert [c.op for c in of_key(found, id=1)][-1] == "r"
    said("connectors", "delete", NAME, "--yes")
    assert connectors.healths() == {}
    with database() as shop:
        assert shop.execute("select slot_name from pg_replication_slots").fetchall() == []
    assert "lakehouse up capture" in refused("connectors", "status", NAME)
    assert "not registered" in said("connectors", "list")
    capture()


def test_its_commands_name_the_nearest_and_say_how_to_start_connect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (told,) = last_line(said("connectors", "status", "--json"))["connectors"]
    assert (told["name"], told["state"]) == (NAME, "RUNNING")
    assert f"Did you mean {NAME}?" in refused("connectors", "restart", "postgres-source-store")
    said("connectors", "restart", NAME)
    until(is_running)
    monkeypatch.setenv("LAKEHOUSE_PORT_OFFSET", "1")
    assert "lakehouse up kafka registry connect" in refused("connectors", "list")


def test_no_answer_of_connect_and_no_topic_has_the_password() -> None:
    config = ask(f"{connect_url()}/connectors/{NAME}/config")
    assert config["database.password"] == f"${{env:{PASSWORD}}}"
    shown = json.dumps([config, ask(f"{connect_url()}/connectors/{NAME}/tasks")])
    assert secret(PASSWORD) not in shown
    kept = b"".join(p.read_bytes() for p in Kafka().folder.glob("data/connect-*/*.log"))
    assert b"STOREFRONT_CAPTURE_PASSWORD" in kept and secret(PASSWORD).encode() not in kept
    assert secret(PASSWORD) not in Connect().log.read_text()


def test_topics_have_kafkas_clock_and_a_bounded_time() -> None:
    admin = AdminClient({"bootstrap.servers": settings.kafka_bootstrap()})
    resource = ConfigResource("topic", "storefront.public.counts")
    told = {k: v.value for k, v in admin.describe_configs([resource])[resource].result(10).items()}
    assert told["message.timestamp.type"] == "LogAppendTime"
    assert (told["cleanup.policy"], told["retention.ms"]) == ("delete", str(168 * 3_600_000))
    parts = {name: len(t.partitions) for name, t in admin.list_topics(timeout=5).topics.items()}
    assert parts["storefront.public.counts"] == 4 and parts["storefront.transaction"] == 1


def test_a_column_whose_null_would_be_misread_is_refused() -> None:
    with database() as shop:
        shop.execute("alter table notes add column is_read boolean default false")
        try:
            with pytest.raises(ServiceError, match=r"public\.notes\.is_read: NULL would arrive"):
                connectors.register(NAME)
        finally:
            shop.execute("alter table notes drop column is_read")
    assert connectors.register(NAME) is False


def test_both_listen_on_loopback_only(listens_on: Callable[[int], set[str]]) -> None:
    assert listens_on(pid_of(Connect())) == listens_on(pid_of(Registry())) == {"127.0.0.1"}
