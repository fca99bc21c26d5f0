"""What a contract says: names, keys, columns, and the rules they state."""

import importlib
import sys
from pathlib import Path

import pytest

from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.bases import COORDINATES, RawTable
from lakehouse_assets.lake.contract import Rule, Table, column, column_rules
from lakehouse_assets.lake.table import LakeTable, discover, table_asset
from lakehouse_assets_tests.lake.tables import EVENTS, LATEST, Events, Latest, latest_of
from lakehouse_assets_tests.topics.records import KeyedNotes, Notes


def test_a_tables_name_is_its_modules_and_needs_no_saying() -> None:
    class Here(Table):
        """lake.test_contract: one row per nothing."""

    assert Here.name == "lake.test_contract"


def test_a_contract_inherits_columns_and_puts_its_own_first() -> None:
    class Coloured(Latest, name="bare.coloured"):
        """bare.coloured: one row per id."""

        colour = column("string", "Which.")
        amount = column("bigint", "How much.")

    assert list(Coloured.columns)[:2] == ["colour", "amount"]
    assert Coloured.columns["amount"].type == "bigint"
    assert Coloured.key() == ("id",)


def test_a_column_may_have_a_name_that_python_cannot_spell() -> None:
    class Odd(Table, name="bare.odd"):
        """bare.odd: one row per id."""

        secure = column("string", "x", name="3ds")

    assert list(Odd.columns) == ["3ds"]
    assert column_rules("3ds", Odd.columns["3ds"])[0].sql == "`3ds` is not null"


def test_each_declaration_of_a_column_is_one_rule_and_null_is_judged_by_nullable_alone() -> None:
    full = column("string", "x", isin=("a", "b"), ge=0, le=9, str_matches="^a$")
    names = [r.name for r in column_rules("x", full)]
    assert names == ["x_present", "x_known", "x_not_negative", "x_at_most_9", "x_well_formed"]
    assert column_rules("x", column("string", "x", nullable=True)) == []
    assert Rule("r", "x > 0").passes() == "coalesce((x > 0), true)"


def test_rules_of_columns_come_before_those_of_rows() -> None:
    assert [r.name for r in Latest.all_rules()] == [
        "id_present", "at_present", "amount_not_negative", "amount_at_most_100", "even",
    ]  # fmt: skip


def test_raw_adds_coordinates_and_only_measures() -> None:
    assert set(COORDINATES) - set(Notes.columns) == {"kafka_key", "is_deletion"}
    assert set(COORDINATES) <= set(KeyedNotes.columns) and not Notes.refuses
    assert Notes.key() == ("kafka_partition", "kafka_offset", "topic_generation")
    assert [r.name for r in Notes.all_rules()] == ["parses"]
    assert issubclass(Notes, RawTable)


def test_a_table_without_a_key_is_refused() -> None:
    class Keyless(Table, name="bare.keyless"):
        """bare.keyless: one row per nothing."""

        x = column("int", "x")

    with pytest.raises(ValueError, match=r"bare\.keyless: no column is a key"):
        table_asset(Keyless, latest_of, events=EVENTS)


def test_code_version_changes_with_the_contract_and_with_the_transform() -> None:
    class Ruled(Latest, name="bare.latest"):
        """bare.latest: one row per id."""

        rules = (Rule("small", "amount < 10"),)

    def other(events: object) -> object:
        return events

    same = LakeTable(Latest, "bare", transform=latest_of, parents={"events": EVENTS})
    assert same.code_version() == LATEST.code_version()
    versions = {t.code_version() for t in (
        LATEST,
        table_asset(Ruled, latest_of, events=EVENTS),
        table_asset(Latest, other, events=EVENTS),  # type: ignore[arg-type]
    )}  # fmt: skip
    assert len(versions) == 3


SHOP = {
    "words": "KINDS = {'a': 'b'}",
    "vocabulary": "from shop.words import KINDS\n\ndef listed(): return sorted(KINDS)",
    "unused": "OTHER = 1",
    "parent": """
from lakehouse_assets.lake.contract import Table, column
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets_tests.lake.tables import EVENTS
from shop.words import KINDS
class Parent(Table, name="shop.parent"):
    id = column("string", "Whose.", key=True)
def transform(events): return events.where(f"id in {tuple(KINDS)}")
parent = table_asset(Parent, transform, events=EVENTS)
BOUND = 3
""",
    "child": """
from lakehouse_assets.lake.contract import Table, column
from lakehouse_assets.lake.table import table_asset
from shop import limits
from shop.parent import Parent, parent
from shop.vocabulary import listed
class Child(Parent, name="shop.child"):
    \"\"\"shop.child\"\"\"
def transform(parent): return parent.where(f"id in {listed()}").limit(limits.MOST)
child = table_asset(Child, transform, parent=parent)
""",
    "limits": "MOST = 2",
}


def shop_versions(folder: Path, **changed: str) -> dict[str, str]:
    """The code versions of a package's two tables, some of its files changed."""
    for name in [n for n in sys.modules if n.split(".")[0] == "shop"]:
        del sys.modules[name]
    (folder / "shop").mkdir(exist_ok=True)
    for name, text in (SHOP | {"__init__": ""} | changed).items():
        (folder / "shop" / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    tables = [getattr(importlib.import_module(f"shop.{n}"), n) for n in ("parent", "child")]
    return {t.name: t.code_version() for t in tables}


@pytest.mark.parametrize(("file", "text", "moved"), [
    ("unused", "OTHER = 22", set()),
    ("words", "KINDS = {'a': 'bb'}", {"shop.parent", "shop.child"}),  # the child's: by vocabulary
    ("vocabulary", "from shop.words import KINDS\n\ndef listed(): return []", {"shop.child"}),
    ("limits", "MOST = 200", {"shop.child"}),
    ("parent", SHOP["parent"].replace("in {tuple", "not in {tuple"), {"shop.parent"}),
    ("parent", SHOP["parent"].replace("Whose.", "Of whom."), {"shop.parent", "shop.child"}),
    ("child", SHOP["child"] + "from shop.unused import OTHER\n", {"shop.child"}),
])  # fmt: skip
def test_code_version_changes_with_whatever_the_tables_file_takes_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, moved: set[str]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = shop_versions(tmp_path)
    assert shop_versions(tmp_path) == before
    after = shop_versions(tmp_path, **{file: text})
    assert {name for name in before if before[name] != after[name]} == moved


def test_a_parents_file_counts_when_more_than_its_table_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    child = SHOP["child"].replace("import Parent, parent", "import BOUND, Parent, parent")
    before = shop_versions(tmp_path, child=child)
    parent = SHOP["parent"].replace("BOUND = 3", "BOUND = 33")
    assert shop_versions(tmp_path, child=child, parent=parent)["shop.child"] != before["shop.child"]


def test_tables_are_found_with_parents_before_children() -> None:
    names = list(tables())
    for table in tables().values():
        for parent in table.parents.values():
            assert names.index(parent.name) < names.index(table.name)
    assert discover([]) == {}


def test_events_are_hourly_in_raw_and_staging_only() -> None:
    hourly = {name: LakeTable(type("T", (Events,), {}, name=name), "x").hourly
              for name in ("raw.x", "staging.x", "semantic.x", "marts.x")}  # fmt: skip
    assert hourly == {"raw.x": True, "staging.x": True, "semantic.x": False, "marts.x": False}
