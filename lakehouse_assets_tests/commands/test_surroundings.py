"""The commands on a machine that is not as ours: proxies, other people's programs, full disks."""

import sqlite3
from datetime import timedelta
from pathlib import Path
from threading import Timer

import pytest

from lakehouse_assets import settings, trouble
from lakehouse_assets.commands import glance
from lakehouse_assets.commands.common import tables
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.sources.payments import CHARGES, charges
from lakehouse_assets.sources.produce import ensure_topic, produce
from lakehouse_assets.topics.kafka import now
from lakehouse_assets_tests.support import fresh_topic, lake_in, last_line, refused, said

RAW = "raw.payment_charges"


@pytest.mark.parametrize("before", ["", "intranet", "127.0.0.1,intranet", "*"])
def test_what_runs_here_is_never_behind_a_proxy(before: str) -> None:
    env = settings.reaching_ourselves({"NO_PROXY": before})
    assert env["no_proxy"] == env["NO_PROXY"]
    assert env["no_proxy"] == before == "*" or {"localhost", "127.0.0.1"} <= set(
        env["no_proxy"].split(",")
    )
    assert not before or set(before.split(",")) <= set(env["no_proxy"].split(","))


def test_spark_is_reached_though_a_proxy_is_set(
    stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    assert last_line(said("query", "select 1 as n", "--json"))["rows"] == [{"n": 1}]


def test_events_go_to_a_kafka_of_somebody_else_only_if_it_is_named(
    stack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = settings.kafka_bootstrap()
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))  # another lake, the same port
    told = refused("generate", "payments", "--count", "1", "--rate", "0")
    assert f"{place} is not this lake's" in told and f"LAKEHOUSE_KAFKA={place}" in told
    assert last_line(said("status", "--json"))["services"]["kafka"]["state"] == "foreign"
    monkeypatch.setenv("LAKEHOUSE_KAFKA", place)
    said("generate", "payments", "--count", "1", "--rate", "0")
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "127.0.0.1:9")
    assert "LAKEHOUSE_KAFKA=127.0.0.1:9" in refused("generate", "payments", "--count", "1")


@pytest.fixture
def charges_sent(empty_lake: Path) -> str:
    """The hour, for `rebuild --partition`, in which some charges lie in Kafka."""
    fresh_topic(CHARGES)
    ensure_topic(CHARGES)
    hour = f"{now():%Y-%m-%d-%H:00}"
    produce(charges(7, 40, now() - timedelta(seconds=40)))
    return hour


def test_a_place_where_nothing_can_be_written_is_told_in_one_line(
    charges_sent: str, empty_lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = empty_lake / "file"
    file.write_text("nothing can be made below a file, not even by root")
    rebuild = ("rebuild", RAW, "--partition", charges_sent)
    monkeypatch.setenv("LAKEHOUSE_WAREHOUSE", str(file / "warehouse"))
    assert f"{file}/warehouse" in (told := one_line(*rebuild)) and "Not a directory" in told
    monkeypatch.setenv("LAKEHOUSE_CATALOG_URI", f"sqlite:///{file}/catalog.db")
    assert f"catalog sqlite:///{file}/catalog.db: unable to open" in one_line(*rebuild)
    monkeypatch.setenv("LAKEHOUSE_HOME", str(file / "home"))
    assert f"{file}/home/run: Not a directory" in one_line("up", "kafka")


def test_what_spark_cannot_write_is_told_in_one_line(charges_sent: str, empty_lake: Path) -> None:
    lake = Lake(run="test")
    lake.catalog.ensure(tables()[RAW].contract)
    lake.close()
    data = next((empty_lake / "warehouse").rglob("metadata")).with_name("data")
    data.write_text("in the way of the folder")
    told = one_line("rebuild", RAW, "--partition", charges_sent)
    assert f"Spark cannot write to {empty_lake}/warehouse" in told and str(data) in told


def one_line(*args: str) -> str:
    """The error, apart from what Spark's start may say before."""
    told = refused(*args)
    errors = [line for line in told.strip().splitlines() if line.startswith("Error: ")]
    assert told.strip().splitlines()[-1:] == errors, told
    return errors[0]


def test_errors_of_full_and_read_only_disks_say_what_and_where(tmp_path: Path) -> None:
    with pytest.raises(OSError) as full, open("/dev/full", "w", buffering=1) as disk:
        disk.write("\n" * 2)
    assert "No space left on device. Make room" in str(trouble.told(full.value))
    sqlite3.connect(tmp_path / "c.db").close()
    reader = sqlite3.connect(f"file:{tmp_path}/c.db?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError) as readonly:
        reader.execute("create table t (x)")
    reader.close()
    wrapped = RuntimeError("as SQLAlchemy does")
    wrapped.__cause__ = readonly.value
    assert f"{settings.catalog_uri()}: attempt to write a readonly" in str(trouble.told(wrapped))
    assert trouble.told(ValueError("a mistake of ours")) is None


def test_a_locked_catalog_is_waited_for_and_not_taken_for_an_empty_one(
    empty_lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = sqlite3.connect(empty_lake / "catalog.db", check_same_thread=False)
    holder.execute("create table iceberg_tables (catalog_name, table_namespace, table_name,"
                   " metadata_location)")  # fmt: skip
    holder.execute("begin exclusive")
    release = Timer(3, holder.rollback)
    release.start()
    assert last_line(said("status", "--json"))["tables"] == {}
    assert not release.is_alive()
    holder.execute("begin exclusive")
    monkeypatch.setattr(glance, "LOCK_PATIENCE_S", 0.1)
    with pytest.raises(sqlite3.OperationalError) as locked:
        glance.glances(with_kafka=False)
    assert "catalog.db is locked by another program" in str(trouble.told(locked.value))
    holder.close()


def test_wipe_tells_what_lies_elsewhere_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lake_in(tmp_path / "a lake"):
        monkeypatch.setenv("LAKEHOUSE_CATALOG_URI", "postgresql://me:s3cret@127.0.0.1:9/lake")
        monkeypatch.setenv("LAKEHOUSE_WAREHOUSE", str(tmp_path))
        told = said("wipe", "--yes")
        assert "elsewhere: postgresql://me:•••@127.0.0.1:9/lake" in told and "s3cret" not in told
        assert f"elsewhere: {tmp_path}\n" in told
