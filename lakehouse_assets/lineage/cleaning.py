"""Removing what readers will never see: files of attempts that were not published.

A snapshot that stands on no branch can never be published any more, nor be looked at. Its files go
at once, not only with the orphans days later; and an attempt leaves the log when none of its files
is needed by any snapshot that is kept.
"""

from pyiceberg.table import Table as IcebergTable

from lakehouse_assets.lake.branch import owner_lives
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lineage.log import CommitLog, added
from lakehouse_assets.lineage.trust import live


def clean(catalog: Catalog, name: str) -> tuple[int, int]:
    """How many files were removed, and how many attempts have left the log."""
    table, kept = catalog.load(name), CommitLog(name)
    reachable, there = _reachable(table), live(table)
    lost = [s for s in table.metadata.snapshots if s.snapshot_id not in reachable]
    files = [path for snapshot in lost for path in added(table, snapshot)]
    needed = there.keys() | {path for applied in there.values() for path in applied}
    removed = sum(_remove(table, path) for path in files if path not in needed)
    standing = {entry.attempt for entry in kept.entries() if entry.s3_key in needed}
    standing |= {one.number for one in kept.attempts() if one.snapshot_id in reachable}
    gone = [n for n in kept.numbers()[:-1] if n not in standing and _is_over(kept, n)]
    for number in gone:  # never the newest, by which numbers go on
        kept.forget(number)
    return removed, len(gone)


def _is_over(kept: CommitLog, number: int) -> bool:
    """Nobody is at it any more; another machine's is taken to be after a while."""
    return all(not owner_lives(branch) for branch in kept.claims(number)) or kept.is_old(number)


def _reachable(table: IcebergTable) -> set[int]:
    """The snapshots that stand on some branch, held ones too, and all before them."""
    found: set[int] = set()
    for ref in table.metadata.refs.values():
        at: int | None = ref.snapshot_id
        while at is not None and at not in found:
            found.add(at)
            snapshot = table.snapshot_by_id(at)
            at = snapshot.parent_snapshot_id if snapshot else None
    return found


def _remove(table: IcebergTable, path: str) -> bool:
    if not table.io.new_input(path).exists():
        return False
    table.io.delete(path)
    return True
