"""What the staging tests share: a moment, and what staging makes of raw rows of that moment."""

from datetime import datetime, timedelta, timezone

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)
FAR = datetime(2099, 1, 1, tzinfo=timezone.utc)


def staged(lake: Lake, table: LakeTable, clean: Row, *given: Row) -> list[Row]:
    """The table's rows, made of a clean raw row with these changes, each."""
    ((name, raw),) = table.parents.items()
    frame = rows(lake.spark, raw.contract, *[clean | changes for changes in given])
    return result(table, **{name: frame})


def kept(lake: Lake, table: LakeTable, clean: Row, refused: list[Row], good: list[Row]) -> None:
    """Of rows with an event id each, those that break a rule are set aside, and only those."""
    numbered = [{"event_id": f"bad{n}"} | bad for n, bad in enumerate(refused)]
    named = [{"event_id": f"good{n}"} | one for n, one in enumerate(good)]
    found = [r["event_id"] for r in staged(lake, table, clean, *numbered, *named)]
    assert found == [one["event_id"] for one in named]
