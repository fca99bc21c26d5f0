"""What the shop's database keeps of its log for who captures it: its replication slot."""

from dataclasses import dataclass

from lakehouse_assets import settings
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.postgres import dsn

CONNECT_S = 5
GONE = "lost"
LOST = ("unreserved", GONE)  # some of what the slot needs may be gone, or is
STANDS = """
select active, coalesce(wal_status, 'lost'),
    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint,
    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn), 0)::bigint,
    safe_wal_size
from pg_replication_slots
where slot_name = %s and database = current_database()
"""


@dataclass(frozen=True)
class Slot:
    """`retained`: bytes of log kept for it. `waiting`: those of them that nobody has captured.
    `left`: how many more may be written before it is lost; None: there is no bound.
    """

    is_read: bool
    status: str
    retained: int
    waiting: int
    left: int | None

    @property
    def is_lost(self) -> bool:
        return self.status in LOST

    @property
    def is_gone(self) -> bool:
        """Nobody can go on from it."""
        return self.status == GONE


def slot(name: str, database: str) -> Slot | None:
    """None: nobody captures."""
    import psycopg

    where = dsn(database)
    try:
        with psycopg.connect(where, autocommit=True, connect_timeout=CONNECT_S) as connection:
            found = connection.execute(STANDS, [name]).fetchone()
    except psycopg.Error as error:
        raise ServiceError(
            f"{settings.without_password(where)}: {str(error).strip()}. `lakehouse up storefront` "
            "starts the shop and what captures it."
        ) from None
    return Slot(*found) if found else None
