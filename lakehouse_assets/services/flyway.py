"""Flyway, which applies a database's versioned SQL migrations, each once and in order.

Only new ones run; one that was changed after it had been applied is refused. Of two starters one
waits for the other, by a lock that Flyway holds in the database.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lakehouse_assets import settings
from lakehouse_assets.services import jars, java
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.postgres import dsn

MAIN = "org.flywaydb.commandline.Main"
TOLD = ("migrate", "-outputType=json", "-skipCheckForUpdate")
OPTIONS = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
TIMEOUT_S = 300  # the other starter's migrations included
QUIET = {"REDGATE_DISABLE_TELEMETRY": "true"}


def migrate(database: str, migrations: Path, placeholders: Mapping[str, str]) -> None:
    """Bring the database to the newest version; `placeholders` may be passwords."""
    jars.resolve_jars(["flyway"])
    home = settings.home() / "run"
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="flyway-", dir=home) as folder:
        options = [*OPTIONS, f"-Duser.home={folder}"]  # nobody's own settings of Flyway
        done = subprocess.run(
            java.command("flyway", MAIN, *TOLD, options=options, folder=Path(folder)),
            env=_env(database, migrations.name, placeholders), cwd=migrations.parent,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
    if failure := _failure(done):
        raise ServiceError(
            f"flyway: the migrations in {migrations} were not applied to the database {database}:\n"
            f"{failure[-2000:].strip()}\n"
            "A migration that has been applied is not changed: restore it, and put the change into"
            " one of the next number."
        )


def _failure(done: "subprocess.CompletedProcess[str]") -> str:
    """It exits with 0 also after a migration that failed; what it says tells the truth."""
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return done.stdout + done.stderr or f"Flyway ended with {done.returncode}."
    if done.returncode == 0 and said.get("success") is True:
        return ""
    return str((said.get("error") or {}).get("message") or done.stdout)


def _env(database: str, folder: str, placeholders: Mapping[str, str]) -> dict[str, str]:
    """Passwords go this way, since everybody may read a command line."""
    place = urlsplit(dsn(database))
    where = place.netloc.rpartition("@")[2]
    query = f"?{place.query}" if place.query else ""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("FLYWAY_", "PG"))}
    return inherited | java.LOCALE | QUIET | {
        "FLYWAY_URL": f"jdbc:postgresql://{where}{place.path}{query}",
        "FLYWAY_USER": unquote(place.username or ""),
        "FLYWAY_PASSWORD": unquote(place.password or ""),
        "FLYWAY_LOCATIONS": f"filesystem:{folder}",
        **{f"FLYWAY_PLACEHOLDERS_{name.upper()}": said for name, said in placeholders.items()},
    }  # fmt: skip
