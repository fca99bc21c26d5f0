"""The shop's schema comes in migrations, and the capture's user may read it and nothing else."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.postgres import dsn
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.sources.storefront.database import (
    CAPTURE_PASSWORD,
    DATABASE,
    MIGRATIONS,
    connect,
    migrate_shop,
)
from lakehouse_assets.sources.storefront.rows import NAMES
from lakehouse_assets_tests.sources.storefront.shops import counted, shop_lake

APPLIED = "select from flyway_schema_history where success"


@pytest.fixture
def unmade(postgres: str, tmp_path: Path) -> Iterator[None]:
    with shop_lake(postgres, tmp_path / "a lake"):
        yield


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The migrations, to be changed, in a folder with a name that is not plain."""
    return Path(shutil.copytree(MIGRATIONS, tmp_path / "a folder, of ours" / "migrations"))


def test_two_at_once_make_one_schema(unmade: None) -> None:
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(migrate_shop) for _ in range(2)]:
            done.result()
    with connect() as shop:
        assert counted(shop, APPLIED) == len(list(MIGRATIONS.glob("*.sql")))


def test_only_what_is_new_runs_and_what_was_changed_is_refused(unmade: None, copied: Path) -> None:
    migrate_shop(copied)
    (copied / "V3__add_gift_wrap.sql").write_text("alter table orders add is_gift boolean;")
    migrate_shop(copied)
    with connect() as shop:
        assert counted(shop, APPLIED) == len(list(copied.glob("*.sql")))
    old = copied / "V1__create_shop.sql"
    old.write_text(old.read_text().replace("varchar(16)", "varchar(17)"))
    with pytest.raises(ServiceError, match=r"(?s)version 1.*one of the next number"):
        migrate_shop(copied)


def test_a_migration_that_fails_leaves_nothing_and_says_why(unmade: None, copied: Path) -> None:
    (copied / "V3__wrong.sql").write_text("create table half (id int); select no_such_thing;")
    with pytest.raises(ServiceError, match="no_such_thing") as failure:
        migrate_shop(copied)
    assert secret(CAPTURE_PASSWORD) not in str(failure.value)
    with connect() as shop:
        assert counted(shop, "select from pg_class where relname = 'half'") == 0
        assert counted(shop, "select from orders") == 0


def capture() -> psycopg.Connection:
    return psycopg.connect(dsn(DATABASE, "debezium", secret(CAPTURE_PASSWORD)), autocommit=True)


def test_who_captures_reads_these_tables_and_nothing_else(migrated: None) -> None:
    with capture() as reader:
        for name in NAMES:
            assert counted(reader, f"select from {name}") == 0
            for forbidden in (f"delete from {name}", f"update {name} set created_at = now()",
                              f"insert into {name} default values",
                              f"truncate {name}"):  # fmt: skip
                with pytest.raises(errors.InsufficientPrivilege):
                    reader.execute(forbidden.encode())
        for forbidden in ("select from flyway_schema_history", "create table mine (id int)",
                          "create role other", "alter role debezium superuser"):  # fmt: skip
            with pytest.raises(errors.InsufficientPrivilege):
                reader.execute(forbidden.encode())
        reader.execute("select pg_logical_emit_message(true, 'heartbeat', 'now')")


def test_what_is_captured_is_told_whole(migrated: None) -> None:
    with connect() as shop:
        told = shop.execute(
            "select tablename, relreplident from pg_publication_tables join pg_class on"
            " relname = tablename where pubname = 'storefront'"
        ).fetchall()
        assert dict(told) == dict.fromkeys(NAMES, "f")
        role = shop.execute(
            "select rolcanlogin, rolreplication, rolsuper, rolcreatedb, rolcreaterole from pg_roles"
            " where rolname = 'debezium'"
        ).fetchone()
    assert role == (True, True, False, False, False)


def test_a_new_password_is_valid_after_the_next_migration(
    migrated: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAPTURE_PASSWORD, "it's new")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        capture()
    migrate_shop()
    with capture() as reader:
        assert counted(reader, "select from orders") == 0
    monkeypatch.undo()
    migrate_shop()
