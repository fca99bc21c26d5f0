"""The files of one raw table: where each hour's lies, and what those that are there say of
themselves.

A file's header tells the batch of the raw table up to which it holds the hour's records, so that it
and its standing are replaced in one step. How far all hours were brought is noted beside; that
note only saves looking at every header, and whoever loses it loses time.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import BinaryIO, cast

from lakehouse_assets import settings
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.scope import iso
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.landing.container import Header, NoContainer, header_of
from lakehouse_assets.landing.place import Place

NAMED = "%Y-%m-%d-%H"  # of an hour's folder, UTC
OURS = "lakehouse."  # what we say in a header begins so


@dataclass(frozen=True)
class Standing:
    """A batch of a raw table: its number, and which incarnation of the table counts so."""

    commit: int
    epoch: int

    @classmethod
    def of(cls, head: Head) -> "Standing":
        return cls(head.stamp.commit, head.stamp.epoch)

    def is_later_than(self, other: "Standing") -> bool:
        return self.epoch == other.epoch and self.commit > other.commit


@dataclass(frozen=True)
class Noted:
    """A raw table as it was when all of its hours were brought up to it."""

    commit: int
    epoch: int
    snapshot: int

    @classmethod
    def of(cls, head: Head) -> "Noted":
        return cls(head.stamp.commit, head.stamp.epoch, head.snapshot_id)


@dataclass(frozen=True)
class Left:
    """What a file says of itself."""

    header: Header
    standing: Standing
    rows: int


class Files:
    def __init__(self, table: LakeTable, place: Place | None = None) -> None:
        self.table, self.place = table, place or Place(settings.landing())
        self.name = f"landing.{table.name.split('.')[-1]}"
        self.folder = f"raw/{table.topic}"
        self._note = f"progress/{table.topic}.json"

    def _path(self, hour: datetime) -> str:
        name = f"{hour:{NAMED}}"
        return f"{self.folder}/{name}/{self.table.topic}+{name}.avro"

    def hours(self) -> list[datetime]:
        """Those that have a folder."""
        found = []
        for name in self.place.names(self.folder):
            with suppress(ValueError):  # somebody else's
                found.append(datetime.strptime(name, NAMED).replace(tzinfo=timezone.utc))
        return found

    def address(self, hour: datetime) -> str:
        """For people and other programs."""
        return f"{self.place.address}/{self._path(hour)}"

    def open(self, hour: datetime) -> BinaryIO:
        return cast(BinaryIO, self.place.open(self._path(hour)))

    def left(self, hour: datetime) -> Left | None:
        """None: there is no file, or none that we wrote."""
        try:
            with self.open(hour) as file:
                return told_by(header_of(file))
        except (FileNotFoundError, NoContainer, KeyError, ValueError):
            return None

    def size(self, hour: datetime) -> int:
        """Bytes."""
        return self.place.info(self._path(hour)).size or 0

    def replace(self, hour: datetime, left: Left | None, pieces: Iterable[bytes]) -> bool:
        """Whether they took the place of the file that is left: not if another did first."""
        still = lambda: self.left(hour) == left  # noqa: E731
        return self.place.put(self._path(hour), pieces, self.name, still)

    def remove(self, hour: datetime) -> None:
        self.place.remove(self._path(hour).rpartition("/")[0])

    def noted(self) -> Noted | None:
        """Up to where every hour was brought."""
        try:
            with self.place.open(self._note) as file:
                return Noted(**json.loads(file.read()))
        except (FileNotFoundError, ValueError, TypeError):  # or it is none of ours
            return None

    def noted_at(self) -> float:
        """When that was, seconds since 1970; 0: never."""
        return (self.place.info(self._note).mtime_ns or 0) / 1e9

    def note(self, noted: Noted) -> None:
        self.place.put(self._note, [json.dumps(asdict(noted)).encode()], self.name, lambda: True)


def said(what: dict[str, object]) -> dict[str, object]:
    return {f"{OURS}{name}": value for name, value in what.items()}


def told_by(header: Header) -> Left:
    commit, epoch, rows = (int(header.meta[f"{OURS}{n}"]) for n in ("commit", "epoch", "rows"))
    return Left(header, Standing(commit, epoch), rows)


def of_hour(hour: datetime) -> str:
    """SQL: the raw table's rows of that hour."""
    return f"ingest_hour = timestamp'{iso(hour)}'"
