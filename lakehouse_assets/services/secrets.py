"""Passwords and tokens: from the environment, else made once and kept in `secrets.env` (0600).

They are handed on by environment, never by argv, and stand in no log, metadata or UI.
"""

import os
import secrets
from pathlib import Path

from lakehouse_assets import settings
from lakehouse_assets.services.host import locked, write_atomically


def secrets_file() -> Path:
    return settings.home() / "secrets.env"


def secret(name: str) -> str:
    """The secret of that name, e.g. SPARK_CONNECT_AUTHENTICATE_TOKEN; the first asker makes it."""
    said = os.environ.get(name, "")  # blank is nothing
    if value := said if said.strip() else _kept().get(name):
        return value
    with locked(settings.home() / "run" / "secrets.lock", patience_s=10):
        kept = _kept()
        if name not in kept:
            kept[name] = secrets.token_urlsafe(24)
            lines = [f"{key}={value}\n" for key, value in kept.items()]
            write_atomically(secrets_file(), "".join(lines), mode=0o600)
    return kept[name]


def _kept() -> dict[str, str]:
    try:
        lines = secrets_file().read_text().splitlines()
    except FileNotFoundError:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)
