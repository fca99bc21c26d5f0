"""Of which columns of its parents each column of a table is made, by its transform's own plan.

The transform is given frames without rows, and Spark is asked for the plan of what it makes:
nothing is typed by hand, nothing is read. What was found is kept beside the lake for as long as the
table's code is the same.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse_assets import settings
from lakehouse_assets.lake import versions
from lakehouse_assets.lake.derive import BATCHES
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.lineage.plan import LEAF, Made, Source, sources
from lakehouse_assets.services.host import write_atomically

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FOLDER = "column_lineage"
WIDE = 100_000  # columns that a node of a plan is told with: all
Columns = dict[str, list[Source]]  # by column, sorted; a source's frame is the parent's table


def columns(lake: Lake, table: LakeTable) -> Columns:
    """Columns that are made of no parent's are left out; literals of a parent's rows are not."""
    if table.transform is None:
        return {}
    if (known := kept(table)) is not None:
        return known
    found, file = analyzed(lake, table), _file(table)
    file.parent.mkdir(parents=True, exist_ok=True)
    plain = {n: [astuple(source) for source in made] for n, made in found.items()}
    write_atomically(file, json.dumps({"code": _code(table), "columns": plain}))
    return found


def kept(table: LakeTable) -> Columns | None:
    """What was found before; None: nothing, or of other code."""
    file = _file(table)
    if not file.exists() or (told := json.loads(file.read_text()))["code"] != _code(table):
        return None
    found: dict[str, list[list[Any]]] = told["columns"]
    return {name: [Source(*one) for one in made] for name, made in found.items()}


def _file(table: LakeTable) -> Path:
    return settings.home() / FOLDER / f"{table.name}.json"


def _code(table: LakeTable) -> str:
    """Also of the parents' columns, which a transform may take as they are."""
    given = {p.name: [*p.contract.columns] for p in table.parents.values()}
    return f"{table.code_version()} {json.dumps(given)}"


def analyzed(lake: Lake, table: LakeTable) -> Columns:
    """What the plan says."""
    key = "spark.sql.debug.maxToStringFields"
    before = lake.spark.conf.get(key)
    lake.spark.conf.set(key, str(WIDE))
    try:
        with _followed(lake) as cuts:
            made: Any = versions.transformed(table, dict(_frames(lake, table)))
            every = sources(made._explain_string(extended=True), cuts)
    finally:
        lake.spark.conf.set(key, str(before))
    names = {arg: parent.name for arg, parent in table.parents.items()}
    found = {}
    for column, made_of in every.items():
        theirs = {replace(s, frame=names[s.frame]) for s in made_of if s.frame in names}
        same = {(s.frame, s.column) for s in theirs if s.is_same}
        ours = {s for s in theirs if s.is_same or (s.frame, s.column) not in same}
        if ours:
            found[column] = sorted(ours)
    return found


@contextmanager
def _followed(lake: Lake) -> "Iterator[dict[str, Made]]":
    """A local checkpoint cuts a plan in two. In this thread what is behind it is read then, and a
    frame without rows stands for it; the names of these, and of what they are made.
    """
    from pyspark.sql.connect import dataframe

    frames: Any = dataframe.DataFrame
    cut, ours = frames.localCheckpoint, threading.get_ident()
    cuts: dict[str, Made] = {}

    def checkpoint(frame: Any, *args: Any, **named: Any) -> Any:
        if threading.get_ident() != ours:
            return cut(frame, *args, **named)
        name = f"cut_{len(cuts)}"
        cuts[name] = sources(frame._explain_string(extended=True), cuts)
        return lake.spark.createDataFrame([], frame.schema).alias(f"{LEAF}{name}")

    frames.localCheckpoint = checkpoint
    try:
        yield cuts
    finally:
        frames.localCheckpoint = cut


def _frames(lake: Lake, table: LakeTable) -> "Iterator[tuple[str, DataFrame]]":
    """Of every kind of table, under the names that its transform takes them by."""
    is_log = table.contract.layout.scope.kind == "log"
    for arg, parent in table.parents.items():
        for name in (arg, f"{arg}_new", f"{arg}_old") if is_log else (arg,):
            yield name, lake.empty(parent.contract).alias(f"{LEAF}{arg}")
    if is_log:
        yield "batches", lake.spark.createDataFrame([], BATCHES)
    if table.contract.layout.scope.kind == "own":
        yield "here", lake.empty(table.contract).selectExpr("*", "true as _counts")
