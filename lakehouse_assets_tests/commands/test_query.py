"""`lakehouse query`: saved queries, and where the SQL is taken from."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException

from lakehouse_assets import settings
from lakehouse_assets.cli import main
from lakehouse_assets.commands import common
from lakehouse_assets.commands.query import SAVED, ask
from lakehouse_assets.lake.lake import Lake

FILES = sorted((settings.ROOT / SAVED).glob("*.sql"))


def refused(*args: str) -> str:
    done = CliRunner().invoke(main, ["query", *args])
    assert done.exit_code != 0
    return done.output


def test_every_saved_query_says_what_it_answers_and_runs_on_the_tables(lake: Lake) -> None:
    assert len(FILES) > 15
    for table in common.tables().values():
        lake.catalog.ensure(table.contract)
    for file in FILES:
        text = file.read_text()
        assert text.startswith("-- ") and text.splitlines()[0].endswith(("?", ".")), file.name
        found = ask(lake.spark, text, limit=1)
        assert len(found.column_names) > 1 and found.num_rows == 0, file.name


def test_a_mistake_is_told_with_the_line_of_its_file(lake: Lake) -> None:
    with pytest.raises(PySparkException, match=r"line 4"):  # one line more stands before it
        ask(lake.spark, "-- What?\nselect 1 as a,\nnope", limit=1)


def test_either_the_sql_or_a_file_is_named() -> None:
    for args in ((), ("select 1", "--file", str(FILES[0]))):
        assert "either the SQL or a --file" in refused(*args)


def test_a_missing_file_is_answered_with_what_there_is(tmp_path: Path) -> None:
    for missing in (tmp_path / "nope.sql", tmp_path):
        told = refused("--file", str(missing))
        assert f"There is no file {missing}" in told and str(SAVED) in told
        assert all(file.name in told for file in FILES)


def test_without_postgres_it_says_how_to_start_it_and_not_with_which_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PAGES_PASSWORD", "never-shown")
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://a:b@127.0.0.1:1/c")
    told = refused("--postgres", "select * from weather")
    assert "lakehouse up weather --no-generate" in told and "never-shown" not in told
