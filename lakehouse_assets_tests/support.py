"""What tests share: lakes of their own, tiny literal inputs, and readers that know nothing of the
engine.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
from confluent_kafka.admin import AdminClient
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import DataFrame, SparkSession

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import free_port_offset
from lakehouse_assets.lake import quality
from lakehouse_assets.lake.contract import COMMIT, Table
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.spark import struct
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks import standing

Row = dict[str, Any]


@contextmanager
def lake_in(folder: Path) -> Iterator[Path]:
    """The environment of a lake in its own folder, on its own ports, with the project's jars."""
    jars = settings.jars_home()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_HOME", str(folder))
        patch.setenv("LAKEHOUSE_JARS", str(jars))
        patch.setenv("LAKEHOUSE_PORT_OFFSET", str(free_port_offset()))
        for name in settings.POINTERS:
            patch.delenv(name, raising=False)
        yield folder


def lakehouse(*args: str, timeout: float = 120) -> "subprocess.CompletedProcess[str]":
    """Without a terminal, from another folder than the repository's."""
    return subprocess.run(
        [sys.executable, "-m", "lakehouse_assets.cli", *args],
        env=dict(os.environ, PYTHONPATH=str(settings.ROOT)), cwd="/", stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip


def said(*args: str) -> str:
    done = lakehouse(*args)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refused(*args: str) -> str:
    """The one message of a command that fails; never a traceback."""
    done = lakehouse(*args)
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stderr and "\tat " not in done.stderr, done.stderr
    return done.stderr


def last_line(text: str) -> Any:
    return json.loads(text.strip().splitlines()[-1])


def rows(spark: SparkSession, contract: type[Table], *given: Row) -> DataFrame:
    """A frame of the contract's columns from the ones that matter; the others are NULL."""
    types = {n: c.type for n, c in contract.columns.items()} | {COMMIT: "bigint"}
    unknown = {n for row in given for n in row} - set(types)
    assert not unknown, f"{contract.name} has no column {sorted(unknown)}"
    schema = struct(spark, ", ".join(f"`{n}` {t}" for n, t in types.items()))
    return spark.createDataFrame([tuple(row.get(n) for n in types) for row in given], schema)


def broken_rules(lake: Lake, contract: type[Table], *given: Row) -> list[str]:
    """The names of the rules that each row breaks, in the contract's order; '' for a good one."""
    rules = contract.all_rules()
    why = quality.reasons(rules, f"({quality.failures(rules)})")
    found = rows(lake.spark, contract, *given).selectExpr(f"{why} as why")
    return [row["why"] for row in found.collect()]


def broken_across(lake: Lake, table: LakeTable) -> dict[str, list[Row]]:
    """What breaks each rule of a table across rows, of the rules that something breaks."""
    looks = {rule.name: standing.found(standing.across(rule), lake, table)[1]
             for rule in table.contract.across}  # fmt: skip
    return {name: told["examples"] for name, told in looks.items() if told.get("examples")}


def stored(name: str, *columns: str) -> list[Row]:
    """A table as pyiceberg reads it, bookkeeping left out, sorted; instants as aware UTC."""
    catalog = SqlCatalog(settings.CATALOG, uri=settings.catalog_uri())
    found = catalog.load_table(name).scan().to_arrow().to_pylist()
    chosen = [
        {k: v for k, v in r.items() if (k in columns if columns else k[0] != "_")} for r in found
    ]
    return sorted(chosen, key=repr)


def fresh_topic(name: str) -> None:
    """Delete a topic that an earlier test left, and wait until it is gone."""
    admin = AdminClient({"bootstrap.servers": settings.kafka_bootstrap()})
    if name not in admin.list_topics(timeout=10).topics:
        return
    admin.delete_topics([name])[name].result(10)
    deadline = monotonic() + 20
    while name in admin.list_topics(timeout=10).topics:
        assert monotonic() < deadline, f"{name} is still there"
        sleep(0.05)


def emptied(postgres: str, database: str) -> None:
    """A database of that name with nothing in it, on the server that all tests share."""
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"drop database if exists {database} with (force)".encode())
        admin.execute(f"create database {database}".encode())


def same_rows(found: Iterable[Row], expected: Iterable[Row]) -> None:
    """Equal as multisets; on a difference shows the first few of both sides."""
    have, want = sorted(map(_text, found)), sorted(map(_text, expected))
    missing, extra = sorted(set(want) - set(have))[:3], sorted(set(have) - set(want))[:3]
    assert not missing and not extra, f"missing {missing}\nunexpected {extra}"
    assert len(have) == len(want), f"{len(have)} rows, expected {len(want)}"


def _text(row: Row) -> str:
    """One spelling of a row, whichever library read it."""
    plain = {
        k: v.astimezone(timezone.utc).isoformat() if isinstance(v, datetime) else v
        for k, v in row.items()
    }
    return repr(sorted(plain.items()))
