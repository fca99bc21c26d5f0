"""The write-ahead commit log of a table: which files each attempt to publish would add.

`write-ahead-commit-log/chk-N/subtask-M.csv` is durable after the data files are complete and before
readers can see any of them; N is the attempt's number, M the write task. Each attempt puts its name
into the folder of its number before anything else; of two names there, neither may use the number.
So none is used twice, on any file system whose lists are up to date. An attempt that died has a
folder all the same: what stands here is no promise, see `trust`.

The folder of a compaction tells, of each file it wrote, whose rows are in it now.
"""

import csv
import io
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from functools import cached_property

from pyiceberg.manifest import ManifestEntryStatus
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table.snapshots import Snapshot

from lakehouse_assets import settings
from lakehouse_assets.landing.place import DEAD
from lakehouse_assets.lineage.durable import Durable

FOLDER = "write-ahead-commit-log"
COLUMNS = ("checkpoint_id", "s3_key", "commit_timestamp")
NOTE = "attempt.json"
CLAIM = "began-"  # and the branch of the attempt that claims the number
CLAIMS, APART_S = 100, 0.05  # tries for a number, and at most so long between them
BATCH, COMPACTION = "batch", "compaction"


class Busy(Exception):
    """No number of its own could be found for an attempt."""


@dataclass(frozen=True)
class Attempt:
    """What an attempt was: the batch `commit` it was to become, and the snapshot that it made."""

    number: int
    commit: int  # of a compaction: the one after which it came
    kind: str
    snapshot_id: int
    run: str
    at: str  # ISO, UTC


@dataclass(frozen=True)
class Entry:
    """One line: in the folder of `attempt`, rows of attempt `checkpoint_id` are in that file."""

    attempt: int
    subtask: int
    checkpoint_id: int
    s3_key: str
    commit_timestamp: str


class CommitLog:
    def __init__(self, table: str) -> None:
        self.table = table

    @cached_property
    def _place(self) -> Durable:
        return Durable(f"{settings.commit_logs()}/{self.table.replace('.', '/')}")

    @property
    def address(self) -> str:
        return f"{self._place.address}/{FOLDER}"

    def numbers(self) -> list[int]:
        """Of the attempts that are in it, in their order."""
        found = [re.fullmatch(r"chk-(\d+)", name) for name in self._place.names(FOLDER)]
        return sorted(int(one[1]) for one in found if one)

    def last(self) -> int:
        return max(self.numbers(), default=0)

    def begin(self, branch: str, run: str) -> int:
        """A number for an attempt, greater than any that was used before."""
        at = datetime.now(timezone.utc).isoformat()
        for _ in range(CLAIMS):
            number = self.last() + 1
            self._put(number, CLAIM + branch, json.dumps({"run": run, "at": at}))
            if self.claims(number) == [branch]:
                return number
            time.sleep(random.random() * APART_S)
        raise Busy(
            f"{self.address}: {CLAIMS} numbers in a row were claimed by others at the same time; "
            "are there as many runs of this table? One is enough: end the others, then try again"
        )

    def claims(self, number: int) -> list[str]:
        """The branches whose attempts would have the number."""
        names = self._place.names(f"{FOLDER}/chk-{number}")
        return [name.removeprefix(CLAIM) for name in names if name.startswith(CLAIM)]

    def is_old(self, number: int) -> bool:
        """Begun so long ago that no attempt takes that long."""
        paths = [f"{FOLDER}/chk-{number}/{CLAIM}{branch}" for branch in self.claims(number)]
        began = [datetime.fromisoformat(json.loads(self._place.read(p))["at"]) for p in paths]
        return all(datetime.now(timezone.utc) - at > DEAD for at in began)

    def write(self, attempt: Attempt, files: Iterable[tuple[int, str]]) -> None:
        """Whose rows each file has; on return all of it is durable."""
        lines: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
        for checkpoint, path in files:
            lines[subtask_of(path)].append((checkpoint, path, attempt.at))
        for subtask, said in sorted(lines.items()):
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([COLUMNS, *sorted(said)])
            self._put(attempt.number, f"subtask-{subtask}.csv", text.getvalue())
        self._put(attempt.number, NOTE, json.dumps(asdict(attempt)))

    def _put(self, number: int, name: str, text: str) -> None:
        self._place.write(f"{FOLDER}/chk-{number}/{name}", text.encode())

    def entries(self) -> list[Entry]:
        """Every line, whether or not its attempt was published."""
        return [entry for path in self._place.files(FOLDER) for entry in self._lines(path)]

    def _lines(self, path: str) -> Iterator[Entry]:
        if named := re.fullmatch(r"chk-(\d+)/subtask-(\d+)\.csv", path):
            text = self._place.read(f"{FOLDER}/{path}").decode()
            for line in csv.DictReader(io.StringIO(text)):
                told = int(line["checkpoint_id"]), line["s3_key"], line["commit_timestamp"]
                yield Entry(int(named[1]), int(named[2]), *told)

    def attempts(self) -> list[Attempt]:
        """Those that had written all they would, in their order."""
        paths = [path for path in self._place.files(FOLDER) if path.endswith(f"/{NOTE}")]
        noted = [json.loads(self._place.read(f"{FOLDER}/{path}")) for path in paths]
        return sorted((Attempt(**note) for note in noted), key=lambda one: one.number)

    def forget(self, number: int) -> None:
        self._place.remove(f"{FOLDER}/chk-{number}")


def subtask_of(path: str) -> int:
    """Spark names a file by the number of the task that wrote it: `00003-17-….parquet`."""
    named = re.match(r"(\d+)-", path.rpartition("/")[2])
    return int(named[1]) if named else 0


def note(log: CommitLog, table: IcebergTable, snapshot: Snapshot, attempt: Attempt) -> None:
    """Write down a batch that is not published yet: what its snapshot adds."""
    log.write(attempt, [(attempt.number, path) for path in added(table, snapshot)])


def batch(number: int, commit: int, snapshot_id: int, run: str) -> Attempt:
    return _attempt(number, commit, BATCH, snapshot_id, run)


def compaction(number: int, commit: int, snapshot_id: int, run: str) -> Attempt:
    return _attempt(number, commit, COMPACTION, snapshot_id, run)


def _attempt(number: int, commit: int, kind: str, snapshot_id: int, run: str) -> Attempt:
    at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return Attempt(number, commit, kind, snapshot_id, run, at)


def added(table: IcebergTable, snapshot: Snapshot) -> list[str]:
    """The files, of data and of deletes, that a snapshot added to the one before it."""
    manifests = snapshot.manifests(table.io)
    own = [m for m in manifests if m.added_snapshot_id == snapshot.snapshot_id]
    every = [entry for manifest in own for entry in manifest.fetch_manifest_entry(table.io)]
    return [e.data_file.file_path for e in every if e.status == ManifestEntryStatus.ADDED]
