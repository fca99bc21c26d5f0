"""Rewriting a logged table's files: logged before readers see them, as any other attempt.

The files are written on a branch. Each row says by its `_commit` which batch it is of; the log
tells the attempt that became that batch. So the new files are trusted for the attempts whose rows
they hold, and main moves only once that is written down.
"""

from contextlib import suppress

import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyiceberg.table import Table as IcebergTable

from lakehouse_assets import settings
from lakehouse_assets.lake import waypoint
from lakehouse_assets.lake.branch import new_branch
from lakehouse_assets.lake.catalog import MainMoved
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lineage import log
from lakehouse_assets.lineage.log import BATCH, CommitLog
from lakehouse_assets.lineage.trust import live


def rewrite(lake: Lake, head: Head, arguments: str) -> int | None:
    """How many files were written; None: another run published first, and nothing has changed."""
    kept, branch = CommitLog(head.name), new_branch()
    with suppress(MainMoved):
        number = kept.begin(branch, lake.run)
        lake.catalog.create_branch(head, branch)
        try:
            return _on_branch(lake, head, branch, number, arguments)
        finally:  # published, it is gone already
            lake.catalog.drop_branches(head.name, [branch])
    return None


def _on_branch(lake: Lake, head: Head, branch: str, number: int, arguments: str) -> int:
    told = f"table => '{head.name}', branch => '{branch}', {arguments}"
    lake.spark.sql(f"CALL {settings.CATALOG}.system.rewrite_data_files({told})").collect()
    waypoint.passed("data files", head.name)
    snapshot = lake.catalog.branch_snapshot(head.name, branch)
    if snapshot.snapshot_id == head.snapshot_id:
        return 0
    kept, table = CommitLog(head.name), lake.catalog.load(head.name)
    whose = _attempts_by_commit(kept, table)
    written = log.added(table, snapshot)
    files = [(whose.get(c, number), path) for path in written for c in _commits_in(table, path)]
    attempt = log.compaction(number, head.stamp.commit, snapshot.snapshot_id, lake.run)
    kept.write(attempt, sorted(set(files)))
    waypoint.passed("publish", head.name)
    lake.catalog.publish(head, branch, None)
    return len(written)


def _attempts_by_commit(kept: CommitLog, table: IcebergTable) -> dict[int, int]:
    """Of several attempts at one batch, the one whose rows readers see."""
    there = live(table)
    seen = {e.checkpoint_id for e in kept.entries() if e.s3_key in there}
    tried = [one for one in kept.attempts() if one.kind == BATCH and one.number in seen]
    return {one.commit: one.number for one in tried}


def _commits_in(table: IcebergTable, path: str) -> list[int]:
    with table.io.new_input(path).open() as file:
        found = pq.read_table(file, columns=[COMMIT]).column(COMMIT).unique()
    return [commit for commit in found.to_pylist() if commit is not None]
