"""Metadata is parsed once a version, and a newer version is seen at once."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.serializers import FromInputFile

from lakehouse_assets.lake import remembering
from lakehouse_assets.lake.remembering import Remembering

NUMBERS = pa.table({"n": pa.array([1], pa.int64())})


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    place = {"uri": f"sqlite:///{tmp_path / 'catalog.db'}", "warehouse": str(tmp_path)}
    catalog = SqlCatalog("lake", **place)
    catalog.create_namespace("raw")
    catalog.create_table("raw.numbers", NUMBERS.schema)
    return place


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    parsed: list[str] = []
    really = FromInputFile.table_metadata

    def counted(file, *args):  # type: ignore[no-untyped-def]
        parsed.append(file.location)
        return really(file, *args)

    monkeypatch.setattr(FromInputFile, "table_metadata", counted)
    return parsed


def test_a_version_is_parsed_once_whoever_asks(place: dict[str, str], parses: list[str]) -> None:
    first = Remembering("lake", **place).load_table("raw.numbers")
    again = Remembering("lake", **place).load_table("raw.numbers")
    assert first.metadata == again.metadata and len(parses) == 1
    assert again.scan().to_arrow().num_rows == 0


def test_what_others_published_is_seen_at_once(place: dict[str, str], parses: list[str]) -> None:
    ours, others = Remembering("lake", **place), SqlCatalog("lake", **place)
    assert ours.load_table("raw.numbers").current_snapshot() is None
    others.load_table("raw.numbers").append(NUMBERS)
    assert ours.load_table("raw.numbers").scan().to_arrow() == NUMBERS
    ours.load_table("raw.numbers").append(NUMBERS)
    assert others.load_table("raw.numbers").scan().to_arrow().num_rows == 2


def test_so_many_tables_are_remembered_and_not_more(
    place: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "TABLES", 1)
    catalog = Remembering("lake", **place)
    catalog.create_table("raw.others", NUMBERS.schema)
    for name in ("raw.numbers", "raw.others") * 2:
        assert catalog.load_table(name).name() == tuple(name.split("."))
        assert len(remembering._seen) == 1
