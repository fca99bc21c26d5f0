"""Waiting for the capture: what it says when nobody captures. That it waits long enough, the
integration tests show.
"""

import psycopg
import pytest

from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.sources.storefront.captured import SLOT, wait_until_captured


def test_it_ends_and_says_that_nobody_made_the_slot_or_reads_it(shop: psycopg.Connection) -> None:
    with pytest.raises(ServiceError, match="nobody made the replication slot storefront"):
        wait_until_captured(0.5)
    shop.execute("select pg_create_logical_replication_slot(%s, 'pgoutput')", [SLOT])
    try:
        with pytest.raises(ServiceError, match=r"nobody reads .* `lakehouse connectors"):
            wait_until_captured(0.5)
    finally:
        shop.execute("select pg_drop_replication_slot(%s)", [SLOT])
