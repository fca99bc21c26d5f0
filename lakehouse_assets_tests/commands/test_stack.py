"""What `lakehouse up` starts for which names, and in which order it stops."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.commands import common, running, stack
from lakehouse_assets_tests.support import lake_in

OF_STOREFRONT = {"postgres", "registry", "connect", "capture"}


@pytest.fixture(autouse=True)
def lake(tmp_path: Path) -> Iterator[None]:
    with lake_in(tmp_path / "a lake"):
        yield


def wanted(*names: str) -> list[set[str]]:
    groups, _ = stack._wanted(names, no_generate=True)
    return [{s.name for s in group} for group in groups]


def test_payments_starts_nothing_of_the_other_sources() -> None:
    names = set().union(*wanted("payments"))
    assert {"kafka", "spark", "dagster"} <= names
    assert not names & {*OF_STOREFRONT, "webhooks", "shop"}
    assert "webhooks" in set().union(*wanted("webhooks"))


def test_what_captures_starts_after_what_it_needs() -> None:
    ranks = {s.name: n for n, group in enumerate(common.services()) for s in group}
    assert max(ranks[n] for n in ("kafka", "postgres", "registry")) < ranks["connect"]
    assert ranks["connect"] < ranks["capture"]


def test_what_captures_stops_before_what_it_needs() -> None:
    services = common.chosen(["kafka", "connect", "capture", "registry"])
    order = [sorted(s.name for s in rank) for rank in running._dependants_first(services)]
    assert order == [["capture"], ["connect"], ["kafka", "registry"]]
