"""semantic.matching: whatever the order in which records come, they are grouped as all at once."""

import random
from collections import Counter
from collections.abc import Iterable

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic import matching
from lakehouse_assets.sources.webhooks.truth import people

Record = tuple[str, str | None, str | None]  # id, mailbox, number
Row = dict[str, object]

COLUMNS = "source string, source_id string, email_normalized string, phone_normalized string"
HERE = f"{COLUMNS}, entity_id string"


class Index:
    """What a table of kind `own` would hold, batch after batch."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.rows = lake, dict[str, Row]()

    def take(
        self, *records: Record, gone: Iterable[str] = (), anew: bool = False
    ) -> dict[str, str]:
        """Each record's entity after these have come or changed and those are gone; `anew`: these
        are all that there are.
        """
        spark = self.lake.spark
        fresh = [("s", *record, False) for record in records]
        fresh += [("s", name, None, None, True) for name in gone]
        frame = spark.createDataFrame(fresh, f"{COLUMNS}, is_deleted boolean")
        counts = F.lit(not anew).alias("_counts")
        made, old = matching.grouped(self._here().select("*", counts), frame)
        found = {row["source_id"]: row.asDict() for row in made.collect()}
        if anew:
            assert not old.count(), "nothing stands that they could come in place of"
            self.rows.clear()
        for row in old.collect():
            del self.rows[row["source_id"]]
        assert not found.keys() & self.rows.keys(), "a record would stand twice"
        self.rows |= found
        return {name: str(row["entity_id"]) for name, row in self.rows.items()}

    def _here(self) -> DataFrame:
        names = ("source", "source_id", "email_normalized", "phone_normalized", "entity_id")
        stored = [tuple(row[n] for n in names) for row in self.rows.values()]
        return self.lake.spark.createDataFrame(stored, HERE)


def grouping(entities: dict[str, str]) -> set[frozenset[str]]:
    names: dict[str, set[str]] = {}
    for record, entity in entities.items():
        names.setdefault(entity, set()).add(record)
    return {frozenset(records) for records in names.values()}


def test_a_record_that_joins_two_people_makes_them_one_and_the_larger_gives_its_name(
    lake: Lake,
) -> None:
    index = Index(lake)
    before = index.take(("1", "a@x.y", None), ("2", "a@x.y", None), ("3", None, "+4911111111"))
    assert grouping(before) == {frozenset("12"), frozenset("3")}
    after = index.take(("4", "a@x.y", "+4911111111"))
    assert after == dict.fromkeys("1234", before["1"])


def test_people_are_linked_over_many_steps(lake: Lake) -> None:
    steps = 12
    chain = [(f"r{n}", f"m{n // 2}@x.y", f"+49{(n + 1) // 2:08}") for n in range(steps)]
    assert len(set(Index(lake).take(*chain).values())) == 1


def test_who_leaves_gets_a_new_name_and_the_larger_part_keeps_the_old_one(lake: Lake) -> None:
    index = Index(lake)
    before = index.take(*[(name, "a@x.y", None) for name in "123"])
    after = index.take(("1", "b@x.y", None))
    assert after["2"] == after["3"] == before["2"]
    assert after["1"] != before["1"]
    again = index.take(("1", "a@x.y", None))
    assert again == before


def test_when_the_link_is_deleted_its_people_are_apart_again(lake: Lake) -> None:
    index = Index(lake)
    index.take(("1", "a@x.y", None), ("2", "a@x.y", "+4911111111"), ("3", None, "+4911111111"))
    after = index.take(gone=["2", "nobody"])
    assert grouping(after) == {frozenset("1"), frozenset("3")}


def test_a_number_that_too_many_share_links_nobody_until_one_gives_it_up(lake: Lake) -> None:
    index, cap = Index(lake), matching.CAPS["phone"]
    family = [(str(n), None, "+4911111111") for n in range(cap)]
    assert len(set(index.take(*family).values())) == 1
    assert len(set(index.take(("x", None, "+4911111111")).values())) == cap + 1
    assert len(set(index.take(gone=["0"]).values())) == 1


def test_the_mailbox_of_a_role_links_nobody(lake: Lake) -> None:
    found = Index(lake).take(("1", "info@x.y", None), ("2", "info@x.y", None))
    assert len(set(found.values())) == 2


def test_made_anew_nobody_is_there_but_the_records_and_they_are_called_as_before(
    lake: Lake
) -> None:
    index = Index(lake)
    numbers = [(f"n{n}", None, "+4911111111") for n in range(matching.CAPS["phone"] + 1)]
    before = index.take(("1", "a@x.y", None), ("2", "a@x.y", "+492222222"),
                        ("3", None, "+492222222"), *numbers)  # fmt: skip
    after = index.take(("1", "a@x.y", None), ("3", None, "+492222222"), *numbers[1:], anew=True)
    assert before.keys() - after.keys() == {"2", "n0"}
    assert sorted({after["1"], after["3"]} & {*before.values()}) == [before["2"]]
    assert after["1"] != after["3"], "who linked them is no more"
    assert len({after[name] for name, _, _ in numbers[1:]}) == 1, "they are few enough now"


def test_it_is_said_by_what_a_record_is_linked(lake: Lake) -> None:
    index = Index(lake)
    index.take(("1", "a@x.y", "+4911111111"), ("2", "a@x.y", None), ("3", None, "+4911111111"),
               ("4", "d@x.y", None))  # fmt: skip
    how = {name: (row["_by_email"], row["_by_phone"]) for name, row in index.rows.items()}
    assert how == {"1": (True, True), "2": (True, False), "3": (False, True), "4": (False, False)}


@pytest.mark.parametrize("seed", range(3))
def test_any_schedule_gives_the_grouping_of_all_at_once(lake: Lake, seed: int) -> None:
    rng, index = random.Random(seed), Index(lake)
    known: dict[str, people.Contact] = {}
    for _ in range(5):
        names = [str(rng.randrange(40)) for _ in range(rng.choice((1, 6, 15)))]
        gone = {name for name in names if rng.random() < 0.25}
        told = {name: _contact(rng) for name in names if name not in gone}
        entities = index.take(
            *[(name, c.email, c.phone) for name, c in told.items()], gone=gone
        )
        known = {n: c for n, c in (known | told).items() if n not in gone}
        wanted = people.groups(known)
        assert grouping(entities) == grouping(wanted), Counter(map(len, grouping(wanted)))


def _contact(rng: random.Random) -> people.Contact:
    email = rng.choice((None, f"m{rng.randrange(14)}@x.y", "info@x.y"))
    phone = rng.choice((None, f"+491111{rng.randrange(9):04}"))
    return people.Contact(email, phone, None)
