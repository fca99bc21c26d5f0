"""A capture that is lost, since the database let go of log that its slot still needed; and one
whose database is not ours to repair.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.looks.standing import Find
from lakehouse_assets.origin import looks
from lakehouse_assets.origin.log import slot
from lakehouse_assets.services import connectors, postgres
from lakehouse_assets.services.connect import Connect
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.postgres import Postgres
from lakehouse_assets.services.registry import Registry
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
from lakehouse_assets_tests.support import last_line, said

KEPT = "4MB"  # of log; each switch fills a segment of 16
RESET = f"lakehouse connectors reset {NAME}"


@pytest.fixture(scope="module", autouse=True)
def stack(module_lake: Path) -> Iterator[None]:
    services: list[Service] = [Kafka(), Postgres(), Registry(), Connect()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(postgres.SETTINGS, "max_slot_wal_keep_size", KEPT)
        try:
            start_all(services[:3])
            make_shop()
            services[3].start()
            capture()
            yield
        finally:
            for service in reversed(services):
                service.stop()


def lose_the_slot() -> None:
    """More is written than may be kept, while nobody captures."""
    with database() as shop:
        for _ in range(5):
            shop.execute("select pg_logical_emit_message(false, 'filler', 'so that there is one')")
            shop.execute("select pg_switch_wal()")
        shop.execute("checkpoint")

    def is_lost() -> bool:
        found = slot("storefront", "storefront")
        return found is not None and found.is_gone

    until(is_lost)


def told(look: Find) -> tuple[bool, str]:
    passed, found = look(None, None, None)  # type: ignore[arg-type]
    return passed, str(found)


def test_a_slot_that_is_lost_is_red_until_a_reset_reads_all_anew() -> None:
    with database() as shop:
        shop.execute("insert into counts values (1, 1)")
    changes("counts", lambda c: len(of_key(c, id=1)) > 0)
    assert told(looks.changes_arrive)[0] and told(looks.log_is_let_go)[0]
    Connect().stop()
    with database() as shop:
        shop.execute("insert into counts values (2, 1)")
    lose_the_slot()
    Connect().start()
    until(is_running)  # so says Connect: Debezium waits for such a slot
    for look in (looks.changes_arrive, looks.log_is_let_go):
        passed, text = told(look)
        assert not passed and RESET in text and "never captured" in text, text
    (shown,) = last_line(said("connectors", "status", NAME, "--json"))["connectors"]
    assert RESET in shown["trouble"] and RESET in said("connectors", "status")
    said("connectors", "reset", NAME, "--yes")
    found = changes("counts", lambda c: len(of_key(c, id=2)) > 0)
    assert [c.op for c in of_key(found, id=2)] == ["r"]
    with database() as shop:
        shop.execute("insert into counts values (3, 1)")
    found = changes("counts", lambda c: len(of_key(c, id=3)) > 0)
    assert [c.op for c in of_key(found, id=3)] == ["c"]
    until(lambda: told(looks.changes_arrive)[0])
    assert told(looks.log_is_let_go)[0] and RESET not in said("connectors", "status")


def test_without_the_database_nothing_is_forgotten() -> None:
    Postgres().stop()
    with pytest.raises(ServiceError, match="lakehouse up postgres"):
        connectors.reset(NAME)
    assert connectors.healths()[NAME].state == "RUNNING"
    Postgres().start()
    until(is_running)


def test_the_slot_of_somebody_elses_database_is_named_and_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    until(is_running)
    with monkeypatch.context() as patch:
        patch.setenv("LAKEHOUSE_POSTGRES", "postgresql://me:word@db.example")
        with pytest.raises(ServiceError, match=r"left as it was.*pg_drop_replication_slot"):
            connectors.reset(NAME)
        assert is_running()
        left = connectors.delete(NAME)
    assert "pg_drop_replication_slot('storefront')" in left and "publication storefront" in left
    assert connectors.healths() == {}
    assert slot("storefront", "storefront") is not None
