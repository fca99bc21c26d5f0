"""semantic.as_of: the day, told once."""

from datetime import datetime, timezone

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.as_of import as_of
from lakehouse_assets_tests.support import stored


def test_the_day_is_told_once(lake: Lake) -> None:
    advance(lake, as_of)
    today = datetime.now(timezone.utc).date()
    assert not advance(lake, as_of).published
    assert stored(as_of.name) == [{"as_of_on": today}]
