"""Waiting until all that was done in the shop so far has been captured."""

import time

from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.sources.storefront.database import connect

SLOT = "storefront"
PATIENCE_S = 120
POLL_S = 0.25
STANDS = """
select active, confirmed_flush_lsn >= %s::pg_lsn, confirmed_flush_lsn::text,
    pg_current_wal_lsn()::text
from pg_replication_slots
where slot_name = %s and database = current_database()
"""


def wait_until_captured(patience_s: float = PATIENCE_S) -> None:
    """Who captures confirms a place in the log once all before it is in Kafka, every few seconds.

    A snapshot is not read from the log, but before it; so the place to wait for is where the log
    ends once it is being read.
    """
    deadline, target, stands = time.monotonic() + patience_s, None, None
    with connect() as connection:
        while time.monotonic() < deadline:
            stands = connection.execute(STANDS, [target, SLOT]).fetchone()
            if stands and stands[0] and stands[2]:  # else it is still being made
                if stands[1]:
                    return
                target = target or stands[3]
            time.sleep(POLL_S)
    if stands is None:
        why = f"nobody made the replication slot {SLOT}"
    elif not stands[0]:
        why = f"nobody reads the replication slot {SLOT}"
    else:
        why = f"it has come to {stands[2]}, not to {target}"
    raise ServiceError(
        f"The shop's changes were not captured within {patience_s:.0f} s: {why}. "
        "`lakehouse connectors status` tells how the capture is, `lakehouse logs connect` why."
    )
