"""The schema is the seed's, and pages may read its one table and nothing else."""

import psycopg
import pytest
from psycopg import errors

from lakehouse_assets.serving.database import (
    MIGRATIONS,
    PAGES_PASSWORD,
    migrate_analytics,
    pages_dsn,
    transaction,
)

COLUMNS = """
    select column_name, data_type, character_maximum_length, is_nullable, column_default
    from information_schema.columns where table_name = 'weather' order by ordinal_position
"""
FORBIDDEN = (
    "insert into weather (city, window_start) values ('x', now())", "delete from weather",
    "truncate weather", "drop table weather", "select * from consumed",
    "select * from flyway_schema_history", "create table mine (id int)",
    "create temporary table mine (id int)", "alter role pages superuser", "create role other",
)  # fmt: skip


def pages() -> psycopg.Connection:
    return psycopg.connect(pages_dsn(), autocommit=True)


def test_the_table_has_the_seeds_columns_and_key(migrated: str) -> None:
    with transaction() as connection:
        found = connection.execute(COLUMNS.encode()).fetchall()
        (key,) = connection.execute(
            b"select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
            b" and conrelid = 'weather'::regclass"
        ).fetchall()
    at = "timestamp without time zone"
    assert found == [
        ("city", "character varying", 255, "NO", None),
        ("avg_temperature", "double precision", None, "YES", None),
        ("window_start", at, None, "NO", None), ("window_end", at, None, "YES", None),
        ("record_count", "bigint", None, "YES", None),
        ("last_updated", at, None, "YES", "CURRENT_TIMESTAMP"),
    ]  # fmt: skip
    assert key == ("PRIMARY KEY (city, window_start)",)


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_pages_read_the_weather_and_nothing_else(migrated: str, statement: str) -> None:
    refused = (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)
    with pages() as reader:
        assert reader.execute("select count(*) from weather").fetchone() == (0,)
        reader.execute("set default_transaction_read_only = off")
        with pytest.raises(refused):
            reader.execute(statement.encode())


def test_a_new_password_is_valid_after_the_next_migration(
    migrated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate_analytics()
    with transaction() as connection:
        applied = connection.execute("select from flyway_schema_history where success").rowcount
    assert applied == len(list(MIGRATIONS.glob("*.sql"))), "each once"
    monkeypatch.setenv(PAGES_PASSWORD, "it's new")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        pages()
    migrate_analytics()
    with pages() as reader:
        assert reader.execute("select 1").fetchone() == (1,)
    monkeypatch.undo()
    migrate_analytics()
