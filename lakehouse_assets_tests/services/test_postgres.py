"""The database as a program: what it finds after it was killed."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import psutil
import psycopg
import pytest

from lakehouse_assets.services.postgres import Postgres, dsn


@pytest.fixture
def postgres(lake: Path) -> Iterator[Postgres]:
    postgres = Postgres()
    postgres.start()
    try:
        yield postgres
    finally:
        postgres.stop()


def kill(postgres: Postgres) -> int:
    pid = postgres.status().pid
    assert pid is not None
    psutil.Process(pid).kill()
    return pid


def test_killed_amid_a_statement_it_comes_back_at_once_with_what_was_committed(
    postgres: Postgres,
) -> None:
    with psycopg.connect(dsn("storefront"), autocommit=True) as shop:
        shop.execute("create table kept as select 1 as n")

    def never_ends() -> None:
        with pytest.raises(psycopg.OperationalError), psycopg.connect(dsn("storefront")) as shop:
            shop.execute("insert into kept select g from generate_series(1, 100000000000) g")

    statement = Thread(target=never_ends)
    statement.start()
    for _ in range(3):
        kill(postgres)
        assert postgres.start() is True
    statement.join()
    with psycopg.connect(dsn("storefront")) as shop:
        assert shop.execute("select * from kept").fetchall() == [(1,)]


def test_the_pid_it_left_behind_may_be_another_programs_by_now(postgres: Postgres) -> None:
    pid = kill(postgres)
    left = postgres.data / "postmaster.pid"
    with subprocess.Popen(["sleep", "60"], user=left.stat().st_uid) as other:
        left.write_text(left.read_text().replace(str(pid), str(other.pid), 1))
        assert postgres.start() is True
        other.kill()
