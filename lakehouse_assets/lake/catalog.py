"""The tables' heads and branches, read and moved through pyiceberg: 2 ms to look, 15 ms to publish.

Spark writes data onto a branch; everything that decides what readers see happens here, in one
compare-and-swap of the table's metadata: main moves to the branch, the batch's tally is stored,
and every run's branch is dropped, since none of them can publish any more.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, TableAlreadyExistsError
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update.snapshot import ManageSnapshots
from sqlalchemy.exc import IntegrityError, OperationalError

from lakehouse_assets import settings
from lakehouse_assets.lake import schema
from lakehouse_assets.lake.branch import FAILED, RUN, owner_lives
from lakehouse_assets.lake.contract import Table
from lakehouse_assets.lake.head import Head, Hold, Stamp
from lakehouse_assets.lake.remembering import Remembering

STAMP = "lake"  # the snapshot property that makes a snapshot one of ours
TALLY = "lake.tally"  # the table property with the newest batches' counts
HOLD = "lake.held"  # the table property with the held batch: branch, since, why
CARE = "lake.care"  # the table property with what maintenance did last
# Until metadata.check_history has told of them: what the sensor leaves untold (sensors.UNTOLD), the
# run that goes over it and the run that tells, of advance.BATCHES commits each. One: up to 1.5 kB.
TALLIES_KEPT = 75
COMPACT = (",", ":")  # JSON without spaces
COMMIT_ATTEMPTS = 8


class MainMoved(Exception):
    """Another run published first; the batch must be made again from the new state."""


class NoTable(Exception):
    """The table has not been made yet: nothing was ever written to it."""


class Catalog:
    """pyiceberg's view of the lake; opened once per process."""

    @cached_property
    def iceberg(self) -> Remembering:
        settings.home().mkdir(parents=True, exist_ok=True)
        uri = settings.catalog_uri()
        patience = f"{uri}{'&' if '?' in uri else '?'}timeout=30"  # seconds, for another's lock
        try:
            return Remembering(settings.CATALOG, uri=patience, warehouse=settings.warehouse())
        except OperationalError as error:  # another made the catalog's tables at the same time
            if "already exists" not in str(error):
                raise
            return Remembering(settings.CATALOG, uri=patience, warehouse=settings.warehouse())

    def load(self, name: str) -> IcebergTable:
        try:
            return self.iceberg.load_table(name)
        except NoSuchTableError as missing:
            raise NoTable(f"{name} has no data yet: materialize it first") from missing

    def exists(self, name: str) -> bool:
        return self.iceberg.table_exists(name)

    def ensure(self, contract: type[Table]) -> None:
        """Make the table, or bring its columns up to the contract's; refuse a loss of data."""
        if self.exists(contract.name):
            self._change(contract.name, lambda table: schema.evolve(table, contract))
            return
        with suppress(IntegrityError):  # another run was first
            self.iceberg.create_namespace_if_not_exists(contract.name.split(".")[0])
        wanted = schema.iceberg_schema(contract)
        # An epoch that no earlier table of this name had: its children then compute anew.
        born = Stamp(commit=0, epoch=int(time.time()), progress={})
        # Table and empty first commit in one step, so that main always exists.
        tx = self.iceberg.create_table_transaction(
            contract.name,
            wanted,
            partition_spec=schema.partition_spec(contract, wanted),
            properties=schema.properties(contract),
        )
        nothing = tx.table_metadata.schema().as_arrow().empty_table()
        tx.append(nothing, snapshot_properties={STAMP: json.dumps(asdict(born))})
        with suppress(CommitFailedException, TableAlreadyExistsError):  # another run was first
            tx.commit_transaction()

    def heads(self) -> dict[str, Head]:
        """Every table that this lake has made, by name; somebody else's are left alone."""
        spaces = [s[0] for s in self.iceberg.list_namespaces()]
        names = [".".join(name) for space in spaces for name in self.iceberg.list_tables(space)]
        found = {}
        for name in sorted(names):
            with suppress(NoTable):  # without our stamp, or dropped meanwhile
                found[name] = self.head(name)
        return found

    def head(self, name: str) -> Head:
        table = self.load(name)
        current = table.current_snapshot()
        newest = next(stamped(table, current), None)
        if current is None or newest is None:
            raise NoTable(f"{name} exists but was not made by this lake: it has no stamped commit")
        summary = current.summary.additional_properties if current.summary else {}
        rows = int(summary.get("total-records", 0)) - int(summary.get("total-position-deletes", 0))
        tallies = json.loads(table.properties.get(TALLY, "[]"))
        published_ms = newest[1].timestamp_ms
        files = sum(int(summary.get(f"total-{k}-files", 0)) for k in ("data", "delete"))
        care = json.loads(table.properties.get(CARE, "{}"))
        older = current.schema_id != table.metadata.current_schema_id
        return Head(
            name, current.snapshot_id, newest[0], rows, published_ms, tallies,
            _held(table, current), files, len(table.metadata.snapshots), care, older,
        )  # fmt: skip

    def note_care(self, name: str, care: dict[str, Any]) -> None:
        def change(table: IcebergTable) -> None:
            with table.transaction() as tx:
                tx.set_properties({CARE: json.dumps(care)})

        self._change(name, change)

    def _change(self, name: str, change: Callable[[IcebergTable], None]) -> None:
        """A change of metadata that does not touch main, tried again when another came between."""
        for _ in range(COMMIT_ATTEMPTS):
            with suppress(CommitFailedException):
                return change(self.load(name))
        raise MainMoved(f"{name}: busy, {COMMIT_ATTEMPTS} attempts to change its metadata failed")

    def commits(self, name: str, after: int) -> tuple[list[Stamp], bool]:
        """The published batches newer than `after`, and whether none of them has expired."""
        table = self.load(name)
        found: list[Stamp] = []
        for stamp, _ in stamped(table, table.current_snapshot()):
            if stamp.commit <= after:
                return found, True
            found.append(stamp)
        return found, False

    def create_branch(self, head: Head, branch: str) -> None:
        def change(table: IcebergTable) -> None:
            if table.metadata.current_snapshot_id != head.snapshot_id:
                raise MainMoved(head.name)
            table.manage_snapshots().create_branch(head.snapshot_id, branch).commit()

        self._change(head.name, change)

    def publish(self, head: Head, branch: str, tally: dict[str, Any] | None) -> int:
        """Move main from `head` to the branch, if it still stands there. Returns the snapshot.
        Without a tally no batch is told of: rows were only moved.
        """
        ours = -1
        for _ in range(COMMIT_ATTEMPTS):
            table = self.load(head.name)
            refs, main = table.metadata.refs, table.metadata.current_snapshot_id
            if main == ours:
                return ours  # an earlier attempt got through though its answer was lost
            if main != head.snapshot_id or branch not in refs:
                raise MainMoved(head.name)
            ours = refs[branch].snapshot_id
            kept = [*filter(None, [tally]), *head.tallies][:TALLIES_KEPT]
            with suppress(CommitFailedException), table.transaction() as tx:
                tx.set_properties({TALLY: json.dumps(kept, separators=COMPACT)})
                tx.remove_properties(*{HOLD} & table.properties.keys())
                with ManageSnapshots(tx) as manage:
                    manage.set_current_snapshot(snapshot_id=ours)
                    for ref in [r for r in refs if r.startswith(RUN)]:
                        manage.remove_branch(ref)
        if self.load(head.name).metadata.current_snapshot_id == ours:
            return ours
        raise MainMoved(f"{head.name}: busy, {COMMIT_ATTEMPTS} attempts to publish failed")

    def branch_snapshot(self, name: str, branch: str) -> Snapshot:
        table = self.load(name)
        ref = table.metadata.refs.get(branch)
        snapshot = table.snapshot_by_id(ref.snapshot_id) if ref else None
        if snapshot is None:
            raise MainMoved(f"{name}: branch {branch} is gone")
        return snapshot

    def hold(self, name: str, branch: str, why: str) -> str:
        """Keep an unpublished batch for people to look at, under a name that no run reaps. Tried
        again in vain it is held since the first time.
        """
        held, snapshot = FAILED + branch.removeprefix(RUN), self.branch_snapshot(name, branch)

        def change(table: IcebergTable) -> None:
            first = json.loads(table.properties.get(HOLD, "{}"))
            since = first.get("since", datetime.now(timezone.utc).isoformat())
            with table.transaction() as tx, ManageSnapshots(tx) as manage:
                tx.set_properties({HOLD: json.dumps({"branch": held, "since": since, "why": why})})
                manage.create_branch(snapshot.snapshot_id, held)
                for ref in [r for r in table.metadata.refs if r.startswith(FAILED) or r == branch]:
                    manage.remove_branch(ref)  # one held batch a table: the newest try

        self._change(name, change)
        return held

    def drop_branches(self, name: str, branches: list[str]) -> None:
        def change(table: IcebergTable) -> None:
            if present := [b for b in branches if b in table.metadata.refs]:
                noted = json.loads(table.properties.get(HOLD, "{}"))
                with table.transaction() as tx, ManageSnapshots(tx) as manage:
                    if noted.get("branch") in present:
                        tx.remove_properties(HOLD)
                    for branch in present:
                        manage.remove_branch(branch)

        self._change(name, change)

    def reap(self, name: str) -> list[str]:
        """Drop the branches of runs on this machine whose process is gone."""
        refs = self.load(name).metadata.refs
        dead = [ref for ref in refs if ref.startswith(RUN) and not owner_lives(ref)]
        self.drop_branches(name, dead)
        return dead


def stamp_of(snapshot: Snapshot) -> Stamp | None:
    text = snapshot.summary.additional_properties.get(STAMP) if snapshot.summary else None
    return Stamp(**json.loads(text)) if text else None


def _held(table: IcebergTable, main: Snapshot) -> Hold | None:
    """The batch kept back, unless main has moved on since: then it is tried again anyway."""
    noted = json.loads(table.properties.get(HOLD, "{}"))
    ref = table.metadata.refs.get(noted.get("branch", ""))
    failed = table.snapshot_by_id(ref.snapshot_id) if ref else None
    stamp = stamp_of(failed) if failed and failed.parent_snapshot_id == main.snapshot_id else None
    return Hold(stamp=stamp, **noted) if stamp else None


def stamped(table: IcebergTable, start: Snapshot | None) -> Iterator[tuple[Stamp, Snapshot]]:
    """Our snapshots among the ancestors, newest first; maintenance's are passed over."""
    snapshot = start
    while snapshot is not None:
        if (stamp := stamp_of(snapshot)) is not None:
            yield stamp, snapshot
        parent = snapshot.parent_snapshot_id
        snapshot = table.snapshot_by_id(parent) if parent is not None else None
