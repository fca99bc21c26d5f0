"""`lakehouse checks`: the board in a terminal."""

from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from lakehouse_assets.commands.checks import checks
from lakehouse_assets_tests.pages import lakes
from lakehouse_assets_tests.pages.lakes import MART, RAW, RULE
from lakehouse_assets_tests.support import lake_in, last_line, said


@pytest.fixture(scope="module", autouse=True)
def a_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with lake_in(tmp_path_factory.mktemp("checks") / "a lake"):
        lakes.publish(MART, {RULE: 3})
        lakes.publish(RAW, {"parses": 80}, rows=1_000)
        lakes.hold(MART, "the transform gave one key 2 rows [bold]")
        lakes.set_aside("malformed [red]", "malformed [red]")
        yield


def test_it_tells_what_is_red_since_when_why_and_what_to_do() -> None:
    told = said("checks")
    assert told.startswith("2 red, 1 yellow, ")
    for part in (f"red {MART} publishes, since", "the transform gave one key 2 rows [bold]",
                 f"lakehouse release {MART}", f"red {MART} {RULE}, since",
                 "3 of 100 rows break it; 0 may", f"yellow {RAW} parses, since"):  # fmt: skip
        assert part in told, told
    assert told.index(f"red {MART} publishes") < told.index(f"yellow {RAW} parses")
    assert "malformed [red]" in told and "team:payments" in told


def answered(*args: str, code: int = 0) -> str:
    """In this process, which has imported the tables."""
    done = CliRunner().invoke(checks, args)
    assert done.exit_code == code, done.output
    return done.output


def test_of_a_table_it_tells_every_check() -> None:
    told = answered(MART)
    assert "key_is_unique" in told and RULE in told and f"lakehouse release {MART}" in told
    assert RAW not in told
    assert "Did you mean marts.payments_daily" in answered("payments_daly", code=1)


def test_its_last_line_is_what_the_page_is_told() -> None:
    found = last_line(answered("--json"))
    assert found["summary"]["failed"] == 2 and found["attention"][0] == f"{MART}:publishes"
    assert {t["name"] for t in found["tables"]} > {MART, RAW}
    assert found["quarantine"][0]["records"] == 2
