from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from lakehouse_assets import settings
from lakehouse_assets.services.host import ServiceError, ended
from lakehouse_assets.services.postgres import Postgres, dsn
from lakehouse_assets.services.shop import Shop


def test_it_brings_the_schema_stays_on_loopback_and_survives_being_killed(
    lake: Path, listens_on: Callable[[int], set[str]]
) -> None:
    postgres, shop = Postgres(), Shop()
    with pytest.raises(ServiceError, match="lakehouse up postgres"):
        shop.start()
    try:
        postgres.start()
        assert shop.start() is True and shop.start() is False
        with psycopg.connect(dsn("storefront")) as database:
            assert database.execute("select count(*) from orders").fetchone() == (0,)
        status = shop.status()
        assert status.state == "running" and status.ports == {"shop": settings.port("shop")}
        assert status.pid is not None and listens_on(status.pid) == {"127.0.0.1"}
        killed = psutil.Process(status.pid)
        killed.kill()
        assert ended(killed, 5) and shop.start() is True
    finally:
        shop.stop()
        postgres.stop()
