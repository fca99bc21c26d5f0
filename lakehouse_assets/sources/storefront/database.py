"""The shop's database: its migrations, connections to it, and that one at a time writes to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.errors import LockNotAvailable

from lakehouse_assets.services.flyway import migrate
from lakehouse_assets.services.postgres import dsn
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.sources.event import NotTakenError

DATABASE = "storefront"
MIGRATIONS = Path(__file__).parent / "migrations"
CAPTURE_PASSWORD = "STOREFRONT_CAPTURE_PASSWORD"
CONNECT_S = 5
PATIENCE_S = 1  # with whoever wrote before
WRITER = 7_305_041  # the number of the lock that whoever writes to the shop holds


class ShopError(NotTakenError):
    """The shop's database did not take what was meant for it; the message says what to do."""


class ShopBusyError(ShopError):
    """Somebody else writes to the shop."""


def migrate_shop(migrations: Path = MIGRATIONS) -> None:
    """The newest schema. It goes into SQL, where a quote in the password would end it."""
    migrate(DATABASE, migrations, {"capture_password": secret(CAPTURE_PASSWORD).replace("'", "''")})


def connect() -> psycopg.Connection:
    return psycopg.connect(dsn(DATABASE), connect_timeout=CONNECT_S, autocommit=True)


@contextmanager
def writer() -> Iterator[psycopg.Connection]:
    """The one that may write: what is chosen in a transaction then stays as it was read, and ids
    that are given out ahead are nobody else's. A killed one's lock falls free after a moment.
    """
    with connect() as connection:
        connection.execute(f"set lock_timeout = '{PATIENCE_S}s'".encode())
        try:
            connection.execute("select pg_advisory_lock(%s)", [WRITER])
        except LockNotAvailable:
            raise ShopBusyError(
                "Somebody else writes to the shop: its seeder (`lakehouse logs shop`) or a"
                " generator (`lakehouse down generate-storefront`). Stop that first"
            ) from None
        connection.execute("reset lock_timeout")
        try:
            yield connection
        finally:
            if not connection.closed:  # else the server lets go only some time after us
                connection.execute("select pg_advisory_unlock(%s)", [WRITER])


def next_run(connection: psycopg.Connection) -> int:
    """What keeps apart the ids and addresses that two runs of one seed make up."""
    found = connection.execute("select nextval('runs')").fetchone()
    assert found
    return int(found[0])


def is_empty(connection: psycopg.Connection) -> bool:
    found = connection.execute(
        "select not exists(select from customers) and not exists(select from products)"
    ).fetchone()
    return found == (True,)
