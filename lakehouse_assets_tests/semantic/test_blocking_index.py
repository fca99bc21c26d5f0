"""semantic.blocking_index: who has which key, and how many share it."""

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.blocking_index import BlockingIndex, blocking_index
from lakehouse_assets.semantic.entity_index import EntityIndex
from lakehouse_assets.semantic.matching import CAPS
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.semantic.people import STRIPE, entities, known, tell
from lakehouse_assets_tests.support import rows, stored


def record(number: str, email: str | None, phone: str | None = None) -> Row:
    return {
        "entity_id": f"ent_{number}", "source": "stripe", "source_id": number,
        "email_normalized": email, "phone_normalized": phone,
    }  # fmt: skip


def made(lake: Lake, *given: Row) -> list[tuple[object, ...]]:
    found = result(blocking_index, entities=rows(lake.spark, EntityIndex, *given))
    columns = ("key_type", "blocking_key", "source_id", "block_size")
    return sorted(tuple(row[c] for c in columns) for row in found)


def test_a_record_lies_in_the_blocks_of_its_keys(lake: Lake) -> None:
    assert made(lake, record("1", "a@x.y", "+4911111111"), record("2", "a@x.y"), record("3", None),
                record("4", "info@x.y", "+4922222222")) == [
        ("email", "a@x.y", "1", 2), ("email", "a@x.y", "2", 2),
        ("phone", "+4911111111", "1", 1), ("phone", "+4922222222", "4", 1),
    ]  # fmt: skip


def test_a_size_is_counted_up_to_one_too_many(lake: Lake) -> None:
    cap = CAPS["phone"]
    many = [record(str(n), None, "+4911111111") for n in range(cap + 3)]
    assert {row[-1] for row in made(lake, *many)} == {cap + 1}


def test_who_leaves_a_block_is_missed_there_and_others_are_left_alone(lake: Lake) -> None:
    tell(lake, STRIPE, *[known(f"c{n}", "a@x.org") for n in range(3)], known("d", "d@x.org"))
    entities(lake)
    advance(lake, blocking_index)
    tell(lake, STRIPE, known("e", "e@x.org"), known("f", "a@x.org"))
    entities(lake)
    (published,) = advance(lake, blocking_index).published
    assert (published.stored, published.removed) == (5, 3)  # e; f and the three beside it
    sizes = {row["source_id"]: row["block_size"] for row in stored(blocking_index.name)}
    assert sizes == {"c0": 4, "c1": 4, "c2": 4, "f": 4, "d": 1, "e": 1}


def test_keys_of_people_are_private() -> None:
    assert BlockingIndex.pii() == ("blocking_key",)
