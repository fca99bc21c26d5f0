"""What the tests of entities share: records of people, and tables fed with them."""

from datetime import datetime, timedelta, timezone

from lakehouse_assets.lake import scope
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Change, publish
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.semantic.entity_index import entity_index
from lakehouse_assets_tests.lake.tables import Row, add
from lakehouse_assets_tests.support import rows, stored

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
MINUTE = timedelta(minutes=1)
SHOPIFY, STRIPE, HUBSPOT, SHOP = entity_index.parents.values()


def known(
    number: str | int, email: str | None = None, phone: str | None = None, **more: object
) -> Row:
    """A customer or contact, by whatever name the system has for its number."""
    return {
        "email": email, "phone": phone, "country": "US", "created_at": AT, "updated_at": AT,
        "is_deleted": False, "_number": number, **more,
    }  # fmt: skip


def tell(lake: Lake, source: LakeTable, *given: Row) -> None:
    """Add rows to a staging table as its newest versions; a number that is there is replaced."""
    (key,) = source.contract.key()
    add(lake, source, *[{key: row.pop("_number")} | row for row in map(dict, given)], stated=False)


def replace(lake: Lake, source: LakeTable, given: Row) -> None:
    """A newer version of a record, in place of the older one."""
    (key,) = source.contract.key()
    row = {key: given["_number"]} | {k: v for k, v in given.items() if k != "_number"}
    head = lake.catalog.head(source.name)
    frame = rows(lake.spark, source.contract, row).drop("_commit").selectExpr(
        "*", "'U' as _op", "0L as _new", "0L as _old", "1 as _copies"
    )
    publish(lake, source.contract, head, Change(frame, "merge", scope.next_stamp(head.stamp)))


def entities(lake: Lake) -> dict[str, str]:
    """Resolve, and tell each record's entity."""
    advance(lake, entity_index)
    return {f"{r['source']}/{r['source_id']}": r["entity_id"] for r in stored(entity_index.name)}
