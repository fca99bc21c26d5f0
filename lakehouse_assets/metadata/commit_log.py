"""metadata.commit_log: one row per line of the tables' write-ahead commit logs.

The same as the files `write-ahead-commit-log/chk-N/subtask-M.csv`, for who would rather ask SQL:
which attempt wrote which file, whose rows are in it, and whether a reader may trust it. Attempts
that were never published are told of too, as long as the log has them; it decides nothing.
"""

from datetime import datetime

from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.contract import Layout, Table, column, recompute_all
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.table import Told, metadata_table
from lakehouse_assets.lineage.log import CommitLog
from lakehouse_assets.lineage.trust import live, may_trust


class CommitLogLines(Table):
    table_name = column("string", "The table whose attempt it was.", key=True, name="table")
    attempt = column("bigint", "N of chk-N: the attempt that wrote the file.", key=True, ge=1)
    subtask = column("int", "M of subtask-M: the write task.", key=True, ge=0)
    checkpoint_id = column("bigint", "The attempt whose rows are in the file.", key=True, ge=1)
    s3_key = column("string", "The file, of rows or of deletes.", key=True)
    commit_timestamp = column("timestamp", "When the attempt was written down, UTC.")
    is_trusted = column("boolean", "Readers see this file now.")

    layout = Layout(scope=recompute_all())


def lines(heads: dict[str, Head], _: dict[str, int]) -> list[Told]:
    return [row for name in heads for row in _of_table(name)]


def _of_table(name: str) -> list[Told]:
    if not (entries := CommitLog(name).entries()):
        return []
    seen = may_trust(entries, live(Catalog().load(name)))
    return [
        {
            "table": name,
            "attempt": entry.attempt,
            "subtask": entry.subtask,
            "checkpoint_id": entry.checkpoint_id,
            "s3_key": entry.s3_key,
            "commit_timestamp": datetime.fromisoformat(entry.commit_timestamp),
            "is_trusted": is_trusted,
        }
        for entry, is_trusted in zip(entries, seen, strict=True)
    ]


commit_log = metadata_table(CommitLogLines, lines)
