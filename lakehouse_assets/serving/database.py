"""The database `analytics`: its migrations, and connections to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.errors import LockNotAvailable

from lakehouse_assets import settings
from lakehouse_assets.services.flyway import migrate
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.postgres import Postgres, dsn
from lakehouse_assets.services.secrets import secret

DATABASE = "analytics"
MIGRATIONS = Path(__file__).parent / "migrations"
PAGES, PAGES_PASSWORD = "pages", "PAGES_PASSWORD"  # who may only read, and its password's name
CONNECT_S = 5
LOCK_S = 60  # that another writer may take
STALLED_S = 120  # a writer that does nothing for so long is let go of, and its locks with it


def migrate_analytics(migrations: Path = MIGRATIONS) -> None:
    """The newest schema. It goes into SQL, where a quote in the password would end it."""
    migrate(DATABASE, migrations, {"pages_password": secret(PAGES_PASSWORD).replace("'", "''")})


def pages_dsn() -> str:
    """How pages reach it."""
    return dsn(DATABASE, PAGES, secret(PAGES_PASSWORD))


@contextmanager
def transaction() -> Iterator[psycopg.Connection]:
    """One, which is committed at the end of the block, if nothing was raised in it."""
    options = (
        f"-c timezone=UTC -c lock_timeout={LOCK_S}s"
        f" -c idle_in_transaction_session_timeout={STALLED_S}s"
    )
    try:
        connection = psycopg.connect(dsn(DATABASE), connect_timeout=CONNECT_S, options=options)
    except psycopg.OperationalError as failure:
        where = Postgres().external() or f"127.0.0.1:{settings.port('postgres')}"
        raise ServiceError(
            f"The database {DATABASE} at {where} does not let us in: {failure}. Start it with"
            " `lakehouse up postgres`, or name yours in LAKEHOUSE_POSTGRES."
        ) from failure
    try:
        with connection:
            yield connection
    except LockNotAvailable as failure:
        raise ServiceError(
            f"{DATABASE}: another writer has held its lock for {LOCK_S} s: {failure}. Try again; it"
            f" is let go of after {STALLED_S} s without a word."
        ) from failure
