"""What the shop's database says was committed in it, and when: its own log, through a slot of ours.

Whoever captures has another slot; so this tells what should have been captured, each change once,
and what came of a row that was gone again before anybody looked. Only what happens after `begin` is
told. Postgres keeps its log for it meanwhile, also when it is killed.
"""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from lakehouse_assets.sources.storefront.database import connect
from lakehouse_assets.sources.storefront.truth.shape import TABLES

SLOT, PUBLICATION = "witness", "storefront"
AT_ONCE = 20_000  # messages; it goes on to the end of a transaction
EPOCH_S = 946_684_800  # 2000-01-01, where Postgres begins to count
OPS = {b"I": "c", b"U": "u", b"D": "d"}
MOVED = ["d", "c"]  # what an update of the key is: another row
MORE = """
select lsn - '0/0'::pg_lsn, data from pg_logical_slot_get_binary_changes(
    %s, null, %s, 'proto_version', '1', 'publication_names', %s)
"""

Key = tuple[int, ...]
Columns = tuple[str, list[str]]  # a table's name, and its columns'


class Logged(NamedTuple):
    table: str
    lsn: int
    op: str
    key: Key
    committed_at: float  # epoch seconds


def begin() -> None:
    """From here on."""
    with connect() as shop:
        shop.execute("select pg_create_logical_replication_slot(%s, 'pgoutput')", [SLOT])


def more() -> list[Logged]:
    """What was committed since the last time it was asked."""
    found: list[Logged] = []
    reader = _Reader()
    with connect() as shop:
        while messages := shop.execute(MORE, [SLOT, AT_ONCE, PUBLICATION]).fetchall():
            for lsn, data in messages:
                found += reader.read(int(lsn), bytes(data))
    return found


class _Reader:
    """Of pgoutput's messages: they say once what a table's number means."""

    def __init__(self) -> None:
        self._tables: dict[int, Columns] = {}
        self._committed_at = 0.0

    def read(self, lsn: int, data: bytes) -> Iterator[Logged]:
        kind, body = data[:1], data[1:]
        if kind == b"B":
            self._committed_at = struct.unpack(">q", body[8:16])[0] / 1e6 + EPOCH_S
        elif kind == b"R":
            self._tables[struct.unpack(">I", body[:4])[0]] = _relation(body[4:])
        elif kind in OPS:
            name, columns = self._tables[struct.unpack(">I", body[:4])[0]]
            keys = [_key(name, columns, row) for row in _rows(body[4:])]
            ops = [OPS[kind]] if keys[0] == keys[-1] else MOVED
            for op, key in zip(ops, keys[-len(ops) :], strict=True):
                yield Logged(name, lsn, op, key, self._committed_at)


def _key(name: str, columns: list[str], row: list[Any]) -> Key:
    said = dict(zip(columns, row, strict=True))
    origins = {column.name: column.origin for column in TABLES[name].columns}
    return tuple(int(said[origins[part]]) for part in TABLES[name].key)


def _relation(body: bytes) -> Columns:
    _, name, rest = body.split(b"\0", 2)
    (count,) = struct.unpack(">H", rest[1:3])
    place, columns = 3, []
    for _ in range(count):
        end = rest.index(b"\0", place + 1)  # behind a flag
        columns.append(rest[place + 1 : end].decode())
        place = end + 9  # behind type and modifier
    return name.decode(), columns


def _rows(body: bytes) -> list[list[Any]]:
    """Those that a message holds: of an update the old one, then the new one."""
    place, rows = 0, list[list[Any]]()
    while place < len(body):
        row, place = _row(body, place + 1)
        rows.append(row)
    return rows


def _row(body: bytes, place: int) -> tuple[list[Any], int]:
    (count,) = struct.unpack(">H", body[place : place + 2])
    place, values = place + 2, list[Any]()
    for _ in range(count):
        kind, value = body[place : place + 1], None
        place += 1
        if kind == b"t":
            (length,) = struct.unpack(">I", body[place : place + 4])
            value = body[place + 4 : place + 4 + length].decode()
            place += 4 + length
        values.append(value)
    return values, place
