"""The database that a connector reads, as the user who captures: what it publishes, and the slot
for which it keeps its log.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakehouse_assets import settings
from lakehouse_assets.services.connect import PASSWORD
from lakehouse_assets.services.host import HOST, ServiceError
from lakehouse_assets.services.postgres import USUAL_PORT, dsn, server
from lakehouse_assets.services.secrets import secret

if TYPE_CHECKING:
    import psycopg

LET_GO_S = 10  # by which whoever read from a slot has to be gone
PAUSE_S = 0.2
LOOPBACK = {"localhost": HOST, "::1": HOST}

TABLES = """
select schemaname || '.' || tablename from pg_publication_tables where pubname = %s order by 1
"""
# For the null of an optional field with a default Connect hands a converter the default, and
# Apicurio's believes it.
MISREAD = """
select concat_ws('.', p.schemaname, p.tablename, a.attname)
from pg_publication_tables p
join pg_namespace n on n.nspname = p.schemaname
join pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
join pg_attribute a on a.attrelid = c.oid
where p.pubname = %s and a.attnum > 0 and a.atthasdef and not a.attnotnull and a.attgenerated = ''
order by 1
"""
DROP = """
select pg_drop_replication_slot(slot_name) from pg_replication_slots
where slot_name = %s and database = %s and not active
"""
LOST = """
select 1 from pg_replication_slots
where slot_name = %s and database = %s and wal_status = 'lost'
"""
LEFT = "select 1 from pg_replication_slots where slot_name = %s and database = %s"

Config = Mapping[str, str]


def published(config: Config) -> str:
    """The tables of its publication, as the connector wants them named."""
    name = config["publication.name"]
    with _database(config) as database:
        tables = [row[0] for row in database.execute(TABLES, (name,))]
        misread = [row[0] for row in database.execute(MISREAD, (name,))]
    if misread:
        raise ServiceError(
            f"{', '.join(misread)}: NULL would arrive as the column's default. Let these columns be"
            " NOT NULL, or drop their defaults."
        )
    if not tables:
        raise ServiceError(
            f"The database {config['database.dbname']} has no publication {name} with a table in "
            "it: the shop's migrations make it."
        )
    return ",".join(re.escape(table) for table in tables)


def elsewhere(config: Config) -> str:
    """What it keeps in a database of a server that is not ours, and how that is dropped there;
    nothing of one that is.
    """
    if "slot.name" not in config:
        return ""
    host, port = config["database.hostname"], int(config.get("database.port") or USUAL_PORT)
    ours, its = server()
    if (LOOPBACK.get(host, host), port) == (LOOPBACK.get(ours, ours), its):
        return ""
    slot, publication = config["slot.name"], config.get("publication.name", "dbz_publication")
    return (
        f"it reads the database {config['database.dbname']} at {host}:{port}, which is not this "
        f"lake's (that is at {ours}:{its}). There the log is kept until somebody says "
        f"`select pg_drop_replication_slot('{slot}')`; its publication is {publication} (`drop "
        f"publication {publication}`, if nobody else reads it)"
    )


def slot_is_lost(config: Config) -> bool:
    """The database let go of log that it needs: nobody can go on from it. Debezium takes such a
    slot for one that is still being made, and waits.
    """
    if "slot.name" not in config or elsewhere(config):
        return False
    with _database(config) as database:
        which = (config["slot.name"], config["database.dbname"])
        return database.execute(LOST, which).fetchone() is not None


def require_database(config: Config) -> None:
    """Refused with the next step if it does not answer."""
    with _database(config):
        pass


def drop_slot(config: Config) -> None:
    """Once whoever reads from it has let go."""
    which = (config["slot.name"], config["database.dbname"])
    deadline = time.monotonic() + LET_GO_S
    with _database(config) as database:
        while database.execute(DROP, which).fetchone() is None:
            if database.execute(LEFT, which).fetchone() is None:
                return
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"The replication slot {which[0]} of {which[1]} is in use by another program. "
                    "End that, then try again."
                )
            time.sleep(PAUSE_S)


@contextmanager
def _database(config: Config) -> "Iterator[psycopg.Connection[Any]]":
    import psycopg

    where = dsn(config["database.dbname"], config["database.user"], secret(PASSWORD))
    try:
        with psycopg.connect(where, autocommit=True, connect_timeout=5) as database:
            yield database
    except psycopg.Error as error:
        raise ServiceError(
            f"{settings.without_password(where)}: {str(error).strip()}. `lakehouse up postgres` "
            f"starts it; the shop's migrations make its user, whose password is {PASSWORD}."
        ) from None
