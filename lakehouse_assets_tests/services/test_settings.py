import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.services import java
from lakehouse_assets.services.host import ServiceError

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
