"""A table with a parent of another source: which sensor brings it up to date, and when."""

from datetime import date

import pytest

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.orchestration import sensors
from lakehouse_assets.orchestration.sensors import look, sources
from lakehouse_assets_tests.lake.tables import add

MART, PAYERS = tables()["marts.customer_360"], tables()["analytics.payer_days"]


def test_another_sources_news_alone_wait_a_minute_and_never_ride_in_its_own_run(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = {source.group: source for source in sources(tables())}
    assert MART.name not in {table.name for table in ours["payments"].tables}
    person = {"entity_id": "ada", "source": "stripe", "source_id": "cus_1"}
    add(lake, MART.parents["entities"], person, stated=False)
    for table in ours["webhooks"].tables:
        if not table.hourly:
            advance(lake, table)
    day = {"charged_on": date(2024, 3, 1), "email_normalized": "a@x.org"}
    add(lake, PAYERS, day, stated=False)
    monkeypatch.setattr(sensors, "FOREIGN_S", 0)
    assert not look(ours["webhooks"]).tables  # nothing was ever heard of this source
    lake.catalog.ensure(ours["webhooks"].raw[0].contract)
    for table in ours["webhooks"].about:
        advance(lake, table)
    monkeypatch.setattr(sensors, "FOREIGN_S", 60)
    assert not look(ours["webhooks"]).tables
    monkeypatch.setattr(sensors, "FOREIGN_S", 0)
    assert [table.name for table in look(ours["webhooks"]).tables] == [MART.name]
