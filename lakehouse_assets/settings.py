"""Every setting, read from the environment in one place; `.env.example` lists them all.

Relative places are meant from the repository's root, whoever reads them: commands, services and
Spark's JVM work in folders of their own and would else make a lake for each. Nothing here is read
at import time, so a test or a bench points a process at a lake of its own by its environment.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]

HOUR_FORMAT = "%Y-%m-%d-%H:%M"  # of an hourly partition's name, UTC

PORTS = {
    "dagster": 3000,
    "dagster_code": 4266,
    "kafka": 9092,
    "kafka_controller": 9093,
    "connect": 8083,
    "pages": 3001,
    "postgres": 4444,
    "registry": 8081,
    "shop": 8000,
    "spark": 15002,
    "spark_ui": 4040,
    "weather": 9998,
    "webhooks": 8090,
}

# What points at somebody's real lake or changes what is done there. Who makes a lake of its own, a
# test or a bench, takes these out of the environment first.
POINTERS = (
    "LAKEHOUSE_KAFKA", "LAKEHOUSE_SPARK_REMOTE", "SPARK_REMOTE", "LAKEHOUSE_CATALOG_URI",
    "LAKEHOUSE_WAREHOUSE", "LAKEHOUSE_FIRST_HOUR", "LAKEHOUSE_KILL_AT", "LAKEHOUSE_ALERT_URL",
    "LAKEHOUSE_WEBHOOKS_URL", "LAKEHOUSE_WEBHOOKS_PER_S", "DAGSTER_HOME", "LAKEHOUSE_POSTGRES",
    "LAKEHOUSE_REGISTRY", "LAKEHOUSE_CONNECT", "LAKEHOUSE_LANDING", "LAKEHOUSE_COMMIT_LOGS",
)  # fmt: skip

SQLITE = "sqlite:///"
CATALOG = "lake"  # Spark's and pyiceberg's name for the catalog; the two must agree


def home() -> Path:
    """The folder that holds everything this lake writes: data, catalog, jars, logs, secrets."""
    return (ROOT / (os.environ.get("LAKEHOUSE_HOME") or ".lakehouse")).resolve()


def jars_home() -> Path:
    """Where the JVM parts are; lakes made for tests and benches share those of the project."""
    return (ROOT / (os.environ.get("LAKEHOUSE_JARS") or ".lakehouse/jars")).resolve()


def port(service: str) -> int:
    return PORTS[service] + int(os.environ.get("LAKEHOUSE_PORT_OFFSET", "0"))


def kafka_bootstrap() -> str:
    """`host:port,host:port`; Kafka's usual port where none is said, which Spark would not add."""
    said = os.environ.get("LAKEHOUSE_KAFKA") or f"127.0.0.1:{port('kafka')}"
    servers = [server.strip() for server in said.split(",") if server.strip()]
    return ",".join(s if re.search(r":\d+$", s) else f"{s}:{PORTS['kafka']}" for s in servers)


def spark_remote() -> str | None:
    """`sc://host:port` of a Spark Connect server of somebody else's; None: the embedded one."""
    return os.environ.get("LAKEHOUSE_SPARK_REMOTE") or None


def catalog_uri() -> str:
    """The SQLite file that names every table's current metadata (shared by Spark and pyiceberg)."""
    uri = os.environ.get("LAKEHOUSE_CATALOG_URI") or f"sqlite:///{home() / 'catalog.db'}"
    if not uri.startswith(SQLITE):
        return uri
    path, *options = uri.removeprefix(SQLITE).split("?", 1)
    return "?".join([f"{SQLITE}{ROOT / path}", *options])


def warehouse() -> str:
    """A folder, or an address (`s3://…`, `file:///…`), which is left as it is."""
    place = os.environ.get("LAKEHOUSE_WAREHOUSE") or f"{home() / 'warehouse'}"
    return place if urlsplit(place).scheme else str(ROOT / place)


def landing() -> str:
    """Where files are left for others."""
    return _beside("landing", "LAKEHOUSE_LANDING")


def commit_logs() -> str:
    """Where tables' write-ahead commit logs are, each in a folder named like its table."""
    return _beside("commit_logs", "LAKEHOUSE_COMMIT_LOGS")


def _beside(name: str, setting: str) -> str:
    """A folder beside the warehouse, in it if that is a whole bucket, or where the setting says."""
    if said := os.environ.get(setting):
        return said if urlsplit(said).scheme else str(ROOT / said)
    place = warehouse().rstrip("/")
    parts = urlsplit(place)
    is_bucket = bool(parts.scheme) and not parts.path
    return f"{place if is_bucket else place.rpartition('/')[0]}/{name}"


def webhooks_url() -> str:
    """Where the vendors believe the door to be, without the path; '': where it is."""
    return (os.environ.get("LAKEHOUSE_WEBHOOKS_URL") or "").rstrip("/")


def webhooks_per_s() -> float:
    """Requests of one address."""
    said = os.environ.get("LAKEHOUSE_WEBHOOKS_PER_S") or "5000"
    try:
        if (rate := float(said)) >= 1:
            return rate
    except ValueError:
        pass
    raise ValueError(f"LAKEHOUSE_WEBHOOKS_PER_S={said}: say requests per second, at least 1.")


def webhook_secrets(name: str) -> list[bytes]:
    """The secret in the variable of that name, and in `<name>_PREVIOUS` while it is replaced; none
    but these is ever valid.
    """
    said = [os.environ.get(variable, "").strip() for variable in (name, f"{name}_PREVIOUS")]
    return [secret.encode() for secret in said if secret]


def without_password(uri: str) -> str:
    """For screens and logs."""
    return re.sub(r"(://[^/@]*?:)[^/]*@", r"\1•••@", uri)


def reaching_ourselves(env: Mapping[str, str]) -> dict[str, str]:
    """A proxy set in the environment is for the world: what runs on this machine is not behind it.
    gRPC and urllib both look here.
    """
    said = env.get("no_proxy") or env.get("NO_PROXY") or ""
    if said != "*":
        missing = [h for h in ("localhost", "127.0.0.1") if h not in said.split(",")]
        said = ",".join([*filter(None, [said]), *missing])
    return {**env, "no_proxy": said, "NO_PROXY": said}


def parse_hour(partition: str) -> datetime:
    return datetime.strptime(partition, HOUR_FORMAT).replace(tzinfo=timezone.utc)


def first_hour() -> datetime:
    """The first hourly partition: the hour of first set-up, kept in a file; it takes everything
    older.
    """
    if stated := os.environ.get("LAKEHOUSE_FIRST_HOUR"):
        return parse_hour(stated)
    file = home() / "first_hour"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        mine = file.with_suffix(f".{os.getpid()}")
        mine.write_text(f"{datetime.now(timezone.utc):%Y-%m-%d-%H}:00")
        try:
            os.link(mine, file)  # the first of two processes wins
        except FileExistsError:
            pass
        finally:
            mine.unlink()
    return parse_hour(file.read_text())


@contextmanager
def environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Other settings for a while; None removes a variable."""
    before = {name: os.environ.get(name) for name in changes}
    try:
        _set(changes)
        yield
    finally:
        _set(before)


def _set(changes: Mapping[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
