"""Writing the file of one hour: Spark reads, sorts and encodes the records, here they are framed.

Blocks gather beside until all are there, since the header before them tells how many records
follow. Whoever finds that another run replaced the file meanwhile begins again from that one.
"""

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from lakehouse_assets.lake.advance import ATTEMPTS
from lakehouse_assets.lake.catalog import MainMoved
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.ingest import SMALL
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.landing.container import Header, blocks, header_of
from lakehouse_assets.landing.envelope import encoded, schema_of
from lakehouse_assets.landing.files import NAMED, Files, Left, Standing, of_hour, said, told_by

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame

IN_MEMORY = 64_000_000  # bytes of blocks; more wait on disk until they are whole
COPIED = 1_000_000  # bytes at once
AT_ONCE = 200_000  # records of one query
ORDER = ("topic_generation", "kafka_partition", "kafka_offset")


@dataclass(frozen=True)
class Landed:
    """What became of an hour's file."""

    hour: datetime
    address: str
    rows: int = 0
    added: int = 0  # of them by this write
    bytes: int = 0
    is_there: bool = True  # False: raw has no such hour, nor is there a file


def write(lake: Lake, files: Files, head: Head, hour: datetime, is_whole: bool) -> Landed:
    """The hour as the raw table has it at that head: whole, or added to the file that is there."""
    for _ in range(ATTEMPTS):
        left = files.left(hour)
        if left and left.standing.is_later_than(Standing.of(head)):  # another run saw more
            return as_it_is(files, hour, left)
        base = None if is_whole else left
        with lake.phase("write"), tempfile.SpooledTemporaryFile(IN_MEMORY) as fresh:
            sync = base.header.sync if base else uuid.uuid4().bytes
            added = _framed(lake, files, head, hour, base, sync, fresh)
            if not base and not added and not _has(lake, head, hour):
                files.remove(hour)
                return Landed(hour, files.address(hour), is_there=False)
            header = _header(files, head, hour, added + (base.rows if base else 0), sync)
            if files.replace(hour, left, _pieces(files, hour, base, header, fresh)):
                return as_it_is(files, hour, told_by(header), added)
    raise MainMoved(f"{files.address(hour)}: others replaced it {ATTEMPTS} times; try again")


def as_it_is(files: Files, hour: datetime, left: Left, added: int = 0) -> Landed:
    return Landed(hour, files.address(hour), left.rows, added, files.size(hour))


def _framed(
    lake: Lake, files: Files, head: Head, hour: datetime, base: Left | None, sync: bytes,
    into: IO[bytes],
) -> int:  # fmt: skip
    """Write the records that the base has not as blocks; how many they are."""
    rows, most = lake.at(head).where(of_hour(hour)).where("_error is null"), float(head.rows)
    if base:
        rows = rows.where(f"{COMMIT} > {base.standing.commit}")
        most = min(most, head.news_rows(base.standing.commit))
    lake.compile(most > SMALL)
    count = 0
    for part in _parts(rows) if most > AT_ONCE else [rows]:
        if most <= SMALL:  # of one task: each would give a block of its own
            part = part.coalesce(1)
        for piece in _arrow(part.orderBy(*ORDER).select(encoded(files.table))):
            count += piece.num_rows
            into.writelines(blocks(piece.column(0), sync))
    return count


def _parts(rows: "DataFrame") -> "Iterator[DataFrame]":
    """In their order: what is on its way to us, Spark holds in memory."""
    from pyspark.sql import functions as F

    *of, offset = ORDER
    spans = rows.groupBy(*of).agg(F.min(offset).alias("a"), F.max(offset).alias("b")).orderBy(*of)
    for span in spans.collect():
        mine = rows.where(" and ".join(f"{name} = {span[name]}" for name in of))
        for start in range(span["a"], span["b"] + 1, AT_ONCE):
            yield mine.where(f"{offset} >= {start} and {offset} < {start + AT_ONCE}")


def _arrow(frame: "DataFrame") -> "Iterator[pa.Table]":
    """Piece by piece: `toArrow` would hold all of it."""
    from pyspark.sql.types import StructType

    it: Any = frame
    client = it.sparkSession.client
    plan = it._plan.to_proto(client)
    for piece in client.to_table_as_iterator(plan, it._plan.observations):
        if not isinstance(piece, StructType):
            yield piece


def _has(lake: Lake, head: Head, hour: datetime) -> bool:
    return bool(lake.at(head).where(of_hour(hour)).limit(1).count())


def _header(files: Files, head: Head, hour: datetime, rows: int, sync: bytes) -> Header:
    ours = {
        "table": head.name, "hour": f"{hour:{NAMED}}", "commit": head.stamp.commit,
        "epoch": head.stamp.epoch, "rows": rows, "write": uuid.uuid4().hex,
    }  # fmt: skip
    avro = {"avro.schema": schema_of(files.table), "avro.codec": "deflate"}
    return Header({k: str(v).encode() for k, v in (avro | said(ours)).items()}, sync)


def _pieces(
    files: Files, hour: datetime, base: Left | None, header: Header, fresh: IO[bytes]
) -> Iterator[bytes]:
    """A file's bytes, in their order."""
    yield header.encoded()
    if base:
        with suppress(FileNotFoundError), files.open(hour) as old:  # gone: ours will not be taken
            header_of(old)
            yield from iter(partial(old.read, COPIED), b"")
    fresh.seek(0)
    yield from iter(partial(fresh.read, COPIED), b"")
