from pathlib import Path

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lineage.log import CommitLog, batch
from lakehouse_assets.metadata.commit_log import commit_log, lines
from lakehouse_assets_tests.lake.tables import EVENTS, add, event
from lakehouse_assets_tests.lineage.logged import Logged, put
from lakehouse_assets_tests.support import lake_in, stored


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


def test_a_lake_without_any_log_has_an_empty_table_which_fills_once_there_is_one(
    lake: Lake,
) -> None:
    add(lake, EVENTS, event(1, "a"))
    assert len(advance(lake, commit_log).published) == 1 and stored(commit_log.name) == []
    assert advance(lake, commit_log).published == []
    put(lake, 1, 2)
    advance(lake, commit_log)
    rows = stored(commit_log.name)
    assert {(r["table"], r["checkpoint_id"], r["is_trusted"]) for r in rows} == {
        ("bare.logged", 1, True)
    }
