"""Numbers are given once, lines are kept whole; the catalog alone decides, no Spark is asked."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.lake.branch import new_branch
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lineage.log import CommitLog, batch, subtask_of
from lakehouse_assets_tests.lineage.logged import Logged
from lakehouse_assets_tests.support import lake_in

NAME = Logged.name


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with lake_in(tmp_path / "a lake"):
        catalog = Catalog()
        catalog.ensure(Logged)
        yield catalog


def begun() -> int:
    return CommitLog(NAME).begin(new_branch(), "test")


def test_attempts_at_once_get_numbers_of_their_own(catalog: Catalog) -> None:
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda _: begun(), range(24)))
    assert len({*numbers}) == 24 and begun() > max(numbers)


def test_a_number_is_not_given_again_after_its_process_was_killed(catalog: Catalog) -> None:
    code = (
        "import os, signal; from lakehouse_assets_tests.lineage.test_log import begun; "
        "print(begun(), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ), cwd=settings.ROOT,
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (-9, "1"), done.stderr
    assert CommitLog(NAME).attempts() == [] and begun() == 2


def test_a_table_that_is_made_again_goes_on_after_what_its_log_holds(catalog: Catalog) -> None:
    CommitLog(NAME).write(batch(41, 7, 1, "test"), [(41, "/data/00000-1-x.parquet")])
    assert begun() == 42
    catalog.iceberg.purge_table(NAME)
    catalog.ensure(Logged)
    assert begun() == 43


def test_lines_lie_in_a_file_for_each_write_task_as_a_shell_reads_them(catalog: Catalog) -> None:
    kept = CommitLog(NAME)
    files = ["/data/hour=01/00000-7-a, \"b\".parquet", "/data/00000-8-c.parquet",
             "/data/00011-9-d-00001-deletes.parquet"]  # fmt: skip
    kept.write(batch(5, 3, 99, "run"), [(5, file) for file in files])
    folder = Path(kept.address) / "chk-5"
    assert Path(kept.address) == settings.home() / "commit_logs/bare/logged/write-ahead-commit-log"
    assert {p.name for p in folder.iterdir()} == {
        "subtask-0.csv", "subtask-11.csv", "attempt.json",
    }  # fmt: skip
    head, line = (folder / "subtask-11.csv").read_text().splitlines()
    assert head == "checkpoint_id,s3_key,commit_timestamp" and line.startswith(f"5,{files[2]},20")
    assert {(e.attempt, e.subtask, e.s3_key) for e in kept.entries()} == {
        (5, 0, files[0]), (5, 0, files[1]), (5, 11, files[2]),
    }  # fmt: skip
    (told,) = kept.attempts()
    assert (told.number, told.commit, told.kind, told.snapshot_id) == (5, 3, "batch", 99)


def test_what_a_killed_writer_left_is_no_line(catalog: Catalog) -> None:
    kept = CommitLog(NAME)
    kept.write(batch(1, 1, 9, "run"), [(1, "/data/00000-1-a.parquet")])
    (Path(kept.address) / "chk-1" / ".subtask-1.csv.unfinished").write_text("checkpoint_id,s3_")
    assert [entry.subtask for entry in kept.entries()] == [0]
    kept.forget(1)
    assert kept.entries() == [] and kept.numbers() == []


def test_the_write_task_is_read_from_a_files_name() -> None:
    assert subtask_of("s3://b/t/data/hour=03/00012-345-0f6e-00001.parquet") == 12
    assert subtask_of("/somebody/elses.parquet") == 0
