"""Which files of an attempt readers may trust: those that hold its rows in what readers see now.

An attempt that was never published has none, whatever its log says. When compaction moves rows
into other files, those are trusted for the attempt in place of the old ones.
"""

from dataclasses import dataclass

from pyiceberg.table import Table as IcebergTable

from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lineage.log import CommitLog, Entry


@dataclass(frozen=True)
class Trusted:
    """A file that holds rows of an attempt. It may hold others' too: an attempt's own rows are
    those with its number in `checkpoint_id`, less those that the files of deletes name.
    """

    checkpoint_id: int
    s3_key: str
    commit_timestamp: str
    logged_by: int  # the attempt that wrote the file
    deletes: tuple[str, ...] = ()


def live(table: IcebergTable) -> dict[str, tuple[str, ...]]:
    """The data files of what readers see now, each with the files of deletes that apply to it."""
    tasks = table.scan().plan_files()
    return {t.file.file_path: tuple(sorted(d.file_path for d in t.delete_files)) for t in tasks}


def trusted(catalog: Catalog, name: str, checkpoint: int | None = None) -> list[Trusted]:
    """Of one attempt, or of all; in the order of attempts and files."""
    entries, there = CommitLog(name).entries(), live(catalog.load(name))
    found = [
        Trusted(e.checkpoint_id, e.s3_key, e.commit_timestamp, e.attempt, there[e.s3_key])
        for e in entries
        if e.s3_key in there and checkpoint in (None, e.checkpoint_id)
    ]
    return sorted(found, key=lambda one: (one.checkpoint_id, one.s3_key))


def may_trust(entries: list[Entry], there: dict[str, tuple[str, ...]]) -> list[bool]:
    """Of each line, whether readers see its file; a file of deletes by what it applies to."""
    deletes = {path for applied in there.values() for path in applied}
    return [e.s3_key in there or e.s3_key in deletes for e in entries]
