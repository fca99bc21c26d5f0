import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.services import java
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets_tests.support import lake_in

SHOW = """
from lakehouse_assets import settings as s
print(s.home(), s.jars_home(), s.warehouse(), s.catalog_uri())
"""


def test_relative_places_are_the_same_from_every_folder(tmp_path: Path) -> None:
    relative = {
        "LAKEHOUSE_HOME": "a/home", "LAKEHOUSE_JARS": "jars", "LAKEHOUSE_WAREHOUSE": "wh",
        "LAKEHOUSE_CATALOG_URI": "sqlite:///db/catalog.db?timeout=5",
        "PYTHONPATH": str(settings.ROOT),
    }  # fmt: skip
    root = settings.ROOT
    for folder in (root, tmp_path):
        shown = subprocess.run(
            [sys.executable, "-c", SHOW], cwd=folder, env=os.environ | relative,
            capture_output=True, text=True, check=True, timeout=30,
        ).stdout  # fmt: skip
        uri = f"sqlite:///{root}/db/catalog.db?timeout=5"
        assert shown.strip() == f"{root}/a/home {root}/jars {root}/wh {uri}"


def test_absolute_places_and_addresses_are_left_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for place in ("/lake/files", "s3://bucket/lake", "file:///lake/files"):
        monkeypatch.setenv("LAKEHOUSE_WAREHOUSE", place)
        assert settings.warehouse() == place
    for uri in ("sqlite:////lake/catalog.db", "postgresql+psycopg2://me@host/lake"):
        monkeypatch.setenv("LAKEHOUSE_CATALOG_URI", uri)
        assert settings.catalog_uri() == uri


def test_a_relative_java_is_looked_for_from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_JAVA_HOME", "no/such/java")
    with pytest.raises(ServiceError, match=re.escape(f"{settings.ROOT}/no/such/java/bin/java")):
        java.java_binary()


def test_env_example_lists_every_setting_that_the_code_reads() -> None:
    code = "".join(p.read_text() for p in (settings.ROOT / "lakehouse_assets").rglob("*.py"))
    read = set(re.findall(r"environ(?:\.get\(|\[)[\"'](LAKEHOUSE_\w+)", code))
    listed = set(re.findall(r"# (LAKEHOUSE_\w+)=", (settings.ROOT / ".env.example").read_text()))
    assert len(read) >= 8
    assert read <= listed


def test_env_example_can_be_loaded_whole_as_it_tells_one_to(tmp_path: Path) -> None:
    text = (settings.ROOT / ".env.example").read_text()
    (tmp_path / ".env").write_text(re.sub(r"^# ([A-Z_]+=)", r"\1", text, flags=re.MULTILINE))
    loaded = subprocess.run(
        ["sh", "-euc", "set -a; . ./.env; set +a; env"], cwd=tmp_path, env={"PATH": "/bin"},
        capture_output=True, text=True, timeout=10,
    )  # fmt: skip
    assert loaded.returncode == 0 and loaded.stderr == ""
    found = dict(line.split("=", 1) for line in loaded.stdout.splitlines())
    assert found["LAKEHOUSE_SPARK_REMOTE"] == "sc://spark:15002/;token=...;use_ssl=true"
    assert found["LAKEHOUSE_HOME"] == ".lakehouse" and found["LAKEHOUSE_SPARK_CORES"] == "*"
    assert found["LAKEHOUSE_ALERT_URL"] == ""


def test_a_filled_in_env_file_is_never_committed() -> None:
    assert ".env" in (settings.ROOT / ".gitignore").read_text().splitlines()


def test_a_lake_made_for_tests_is_never_somebodys_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in settings.POINTERS:
        monkeypatch.setenv(name, "/real")
    with lake_in(tmp_path / "mine") as folder:
        assert not set(settings.POINTERS) & set(os.environ)
        assert settings.warehouse() == f"{folder}/warehouse"
        assert settings.catalog_uri() == f"sqlite:///{folder}/catalog.db"
    assert os.environ["LAKEHOUSE_WAREHOUSE"] == "/real"


def test_a_broker_named_without_a_port_has_kafkas_usual_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "broker-1, broker-2:9192,[::1]")
    assert settings.kafka_bootstrap() == "broker-1:9092,broker-2:9192,[::1]:9092"
    monkeypatch.setenv("LAKEHOUSE_KAFKA", "no-such-host.invalid")
    assert Kafka().status().state == "unhealthy"


def test_a_password_in_an_address_is_not_shown() -> None:
    shown = settings.without_password("postgresql+psycopg2://me:s3cr:et@host:5432/lake")
    assert shown == "postgresql+psycopg2://me:•••@host:5432/lake"
    for plain in ("sqlite:////a/lake@home:1/catalog.db", "s3://bucket/a:b@c"):
        assert settings.without_password(plain) == plain
