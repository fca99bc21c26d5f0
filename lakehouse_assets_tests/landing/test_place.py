"""A file is there whole or not at all, whoever fails or dies while it is written."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.lake.branch import new_branch
from lakehouse_assets.landing.place import UNFINISHED, Place


@pytest.fixture(params=["path", "address"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    folder = tmp_path / "a landing"
    return Place(str(folder) if request.param == "path" else f"file://{folder}")


def put(place: Place, *pieces: bytes, wanted: bool = True) -> bool:
    return place.put("raw/t/h/file", pieces, "landing.t", lambda: wanted)


def held(place: Place) -> bytes:
    with place.open("raw/t/h/file") as file:
        return bytes(file.read())


def test_a_file_takes_the_place_of_another(place: Place) -> None:
    assert put(place, b"a", b"b") and held(place) == b"ab"
    assert put(place, b"c") and held(place) == b"c"
    assert place.names("raw/t") == ["h"] and place.names(UNFINISHED) == []


def test_a_file_that_is_no_longer_wanted_leaves_nothing(place: Place) -> None:
    put(place, b"a")
    assert not put(place, b"b", wanted=False)
    assert held(place) == b"a" and place.names(UNFINISHED) == []


def test_a_file_whose_writing_fails_leaves_nothing(place: Place) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        place.put("raw/t/h/file", pieces(), "landing.t", lambda: True)
    assert place.names("raw/t/h") == place.names(UNFINISHED) == []


def test_what_a_dead_process_left_is_cleared_and_what_is_being_written_is_not(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pieces() -> Iterator[bytes]:
        place.clear()
        yield b"a"

    process = subprocess.Popen(["true"])
    process.wait()
    dead = re.sub(r"_\d+_\d+_", f"_{process.pid}_1_", new_branch())
    with monkeypatch.context() as patch:
        patch.setattr("lakehouse_assets.landing.place.new_branch", lambda: dead)
        patch.setattr(Place, "remove", lambda *_: None)
        assert not put(place, b"half", wanted=False)
    assert place.names(UNFINISHED) == [dead]
    assert place.put("raw/t/h/file", pieces(), "landing.t", lambda: True)
    assert held(place) == b"a" and place.names(UNFINISHED) == []


def test_removing_what_is_not_there_is_no_failure(place: Place) -> None:
    place.remove("raw/t/h")
    place.clear()
    assert place.names("raw/t") == []


def test_files_are_left_beside_the_warehouse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKEHOUSE_LANDING", raising=False)
    for warehouse, landing in (
        ("/a/warehouse", "/a/landing"), ("s3://lake/warehouse/", "s3://lake/landing"),
        ("file:///a/warehouse", "file:///a/landing"), ("s3://lake", "s3://lake/landing"),
        ("data/files", f"{settings.ROOT}/data/landing"),
    ):  # fmt: skip
        monkeypatch.setenv("LAKEHOUSE_WAREHOUSE", warehouse)
        assert settings.landing() == landing
    monkeypatch.setenv("LAKEHOUSE_LANDING", "s3://others/inbox")
    assert settings.landing() == "s3://others/inbox"
    monkeypatch.setenv("LAKEHOUSE_LANDING", "left")
    assert settings.landing() == f"{settings.ROOT}/left"
