"""semantic.storefront_people: who is, and who was, a customer of the shop."""

from typing import Any

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.storefront_people import StorefrontPeople, storefront_people
from lakehouse_assets.staging.storefront import TABLES
from lakehouse_assets_tests.lake.tables import add
from lakehouse_assets_tests.semantic.shop import T0, Row, after, at, change

NONE: Row = {"customer_id": None}


def who(op: str, lsn: int, number: int, name: str, **more: Any) -> Row:
    said = {"email": f"{name}@x.org", "phone": None, "first_name": name, "last_name": "L",
            "country": "DE", "updated_at": at(lsn)}  # fmt: skip
    return change(op, lsn, customer_id=number, **said | more)


def told(found: list[Row]) -> list[tuple[Any, ...]]:
    return [(r["customer_id"], r["email"], r["is_deleted"]) for r in found]


def test_who_is_deleted_stays_with_id_and_times_alone_and_may_come_back(lake: Lake) -> None:
    batches = [[who("c", 1, 1, "ada"), who("c", 2, 2, "bob")], [who("d", 5, 1, "ada")]]
    (ada, bob) = after(lake, storefront_people, *batches)
    assert told([ada, bob]) == [(1, None, True), (2, "bob@x.org", False)]
    assert {ada[name] for name in ("phone", "first_name", "last_name", "country")} == {None}
    assert (ada["created_at"], ada["updated_at"]) == (T0, at(5))
    again = who("c", 9, 1, "eve", created_at=at(9))
    assert told(after(lake, storefront_people, [again])) == [
        (1, "eve@x.org", False), (2, "bob@x.org", False),
    ]  # fmt: skip


def test_the_last_change_of_the_log_stands_however_late_the_others_come(lake: Lake) -> None:
    batches = [[who("u", 9, 1, "new")], [who("c", 1, 1, "old"), who("u", 4, 1, "mid")]]
    assert told(after(lake, storefront_people, *batches)) == [(1, "new@x.org", False)]


def test_truncate_takes_all_and_a_new_snapshot_all_but_its_own(lake: Lake) -> None:
    first = [who("r", 1, number, f"m{number}") for number in (1, 2, 3)]
    found = after(lake, storefront_people, first, [change("t", 4, **NONE)])
    assert [row["is_deleted"] for row in found] == [True] * 3
    snapshot = [change("s", 9, **NONE), who("r", 9, 2, "m2"), who("r", 9, 4, "m4")]
    found = after(lake, storefront_people, [who("c", 6, 3, "m3")], snapshot)
    assert told(found) == [
        (1, None, True), (2, "m2@x.org", False), (3, None, True), (4, "m4@x.org", False),
    ]  # fmt: skip


def test_no_row_ever_goes_so_that_who_reads_the_news_hears_of_everything(lake: Lake) -> None:
    for batch in ([who("c", 1, 1, "ada")], [who("d", 2, 1, "ada")], [change("t", 3, **NONE)]):
        add(lake, TABLES["customers"], *batch, stated=False)
        before = lake.catalog.head(storefront_people.name) if batch[0]["lsn"] > 1 else None
        advance(lake, storefront_people)
        head = lake.catalog.head(storefront_people.name)
        assert head.rows == 1
        assert before is None or not head.may_have_lost(before.stamp.commit)


def test_who_they_are_and_how_they_are_reached_is_private() -> None:
    assert StorefrontPeople.pii() == ("email", "phone", "first_name", "last_name")
