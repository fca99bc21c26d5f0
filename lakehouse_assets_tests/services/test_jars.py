import hashlib
import shutil
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.services import jars
from lakehouse_assets.services.host import ServiceError

VICTIM = "spark/commons-pool2-2.12.1.jar"
ARCHIVE = "debezium/debezium-connector-postgres-3.6.2.Final.zip"
CONFS = ("spark", "kafka", "debezium")


@pytest.fixture
def jars_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of some of the project's jars, to be spoilt."""
    copy = tmp_path / "the jars"
    for name in (*CONFS, ".ivy"):
        shutil.copytree(settings.jars_home() / name, copy / name)
    monkeypatch.setenv("LAKEHOUSE_JARS", str(copy))
    return copy


def test_a_half_downloaded_and_a_missing_jar_are_noticed_and_put_right(jars_home: Path) -> None:
    jars.resolve_jars(CONFS)
    with (jars_home / VICTIM).open("r+b") as file:
        file.truncate(1_000)
    (jars_home / "kafka" / "re2j-1.8.jar").unlink()
    (jars_home / "spark" / "left-over-0.9.jar").touch()
    assert jars.resolve_jars(CONFS) == 2
    lines = [line.split() for line in jars.lock_file().open()]
    pinned = {name: sha256 for sha256, name in lines if name.split("/")[0] in CONFS}
    files = [path for conf in CONFS for path in (jars_home / conf).iterdir() if path.is_file()]
    found = {
        path.relative_to(jars_home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }
    assert found == pinned
    assert jars.resolve_jars(CONFS) == 0


def test_an_archive_is_unpacked_whole_or_not_at_all(jars_home: Path) -> None:
    place = jars.unpacked("debezium")
    whole = sorted(path.name for path in place.rglob("*.jar"))
    assert "debezium-connector-postgres-3.6.2.Final.jar" in whole
    shutil.rmtree(place)
    (place.parent / ".unpacking-killed" / "whole").mkdir(parents=True)
    (place.parent / "debezium-connector-postgres-3.5.0.Final-0123456789ab").mkdir()
    (jars_home / ARCHIVE).write_bytes(b"half")
    assert jars.resolve_jars(["debezium"]) == 1
    assert sorted(path.name for path in place.rglob("*.jar")) == whole
    assert {path.name for path in place.parent.iterdir()} == {place.name, Path(ARCHIVE).name}
    inode = place.stat().st_ino
    assert jars.resolve_jars(["debezium"]) == 0
    assert place.stat().st_ino == inode


def test_a_jar_that_stays_wrong_is_an_error_that_says_which_and_what_to_do(
    jars_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    right = hashlib.sha256((jars_home / VICTIM).read_bytes()).hexdigest()
    other = tmp_path / "jars.sha256"
    other.write_text(f"{'0' * 64}  {VICTIM}\n")
    monkeypatch.setattr(jars, "lock_file", lambda: other)
    monkeypatch.setattr(jars, "ATTEMPTS", 1)
    with pytest.raises(ServiceError) as error:
        jars.resolve_jars(["spark"])
    for part in (VICTIM, "0" * 64, right, "make lock"):
        assert part in str(error.value)
    assert not (jars_home / VICTIM).exists()


def test_a_configuration_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(ServiceError, match="no-such-conf"):
        jars.resolve_jars(["no-such-conf"])


def test_the_download_goes_through_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    told = [option for option in jars._ivy_command(tmp_path, CONFS) if "proxy" in option]
    assert told == ["-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128"]
