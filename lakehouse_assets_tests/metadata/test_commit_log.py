from pathlib import Path

from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lineage.log import CommitLog, batch
from lakehouse_assets.metadata.commit_log import commit_log, lines
from lakehouse_assets_tests.lineage.logged import Logged
from lakehouse_assets_tests.support import lake_in


def test_a_line_is_a_row_and_a_table_without_a_log_has_none(tmp_path: Path) -> None:
    with lake_in(tmp_path / "a lake"):
        catalog = Catalog()
        catalog.ensure(Logged)
        heads = catalog.heads()
        assert lines(heads, {}) == []
        CommitLog(Logged.name).write(batch(4, 1, 9, "run"), [(4, "/data/00003-1-a.parquet")])
        (row,) = lines(heads, {})
    assert row.keys() == commit_log.contract.columns.keys()
    assert (row["table"], row["attempt"], row["subtask"], row["checkpoint_id"]) == (
        "bare.logged", 4, 3, 4,
    )  # fmt: skip
    assert row["s3_key"] == "/data/00003-1-a.parquet"
    assert row["is_trusted"] is False, "nothing says that it was published"
