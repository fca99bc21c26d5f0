"""A plan's text, read back: renamings, joins, unions, and what is put together and taken apart."""

import pytest

from lakehouse_assets.lineage.plan import NotUnderstood, Source, sources

BEFORE = "== Parsed Logical Plan ==\n'Project ['a]\n\n== Analyzed Logical Plan ==\na: int\n"
AFTER = "\n\n== Optimized Logical Plan ==\nProject [z#99]\n"


def told(plan: str) -> dict[str, list[tuple[str, str, bool]]]:
    found = sources(BEFORE + plan.strip("\n") + AFTER)
    return {n: sorted((s.frame, s.column, s.is_same) for s in made if s.column)
            for n, made in found.items()}  # fmt: skip


def leaf(name: str, listed: str, indent: str = "   ") -> str:
    alias = f"{indent}+- SubqueryAlias made_of_{name}\n"
    return f"{alias}{indent}   +- LocalRelation <empty>, [{listed}]"


def test_a_column_is_followed_through_renaming_casting_and_reckoning() -> None:
    plan = f"""
Project [b#3, cast(a#1 as bigint) AS c#4L, (a#1 + b#3) AS sum#5, 7 AS seven#6]
+- Project [a#1, a#1 AS b#3]
{leaf("t", "a#1, other#2L")}"""
    assert told(plan) == {
        "b": [("t", "a", True)], "c": [("t", "a", True)], "sum": [("t", "a", False)], "seven": [],
    }  # fmt: skip


def test_brackets_and_commas_in_texts_do_not_part_a_list() -> None:
    plan = f"""
Project [regexp_replace(a#1, [)(,, ], x, y, 1) AS b#3, concat(a#1, ), c#2) AS d#4, c#2]
{leaf("t", "a#1, c#2", "")}"""
    assert told(plan) == {
        "b": [("t", "a", False)], "d": [("t", "a", False), ("t", "c", False)],
        "c": [("t", "c", True)],
    }  # fmt: skip


def test_sides_of_a_join_keep_apart_and_a_half_join_gives_one_side() -> None:
    def join(kind: str) -> str:
        return f"""
Join {kind}, (a#1 = a#3)
:- SubqueryAlias made_of_left
:  +- LocalRelation <empty>, [a#1, b#2]
+- SubqueryAlias made_of_right
   +- LocalRelation <empty>, [a#3, c#4]"""

    whole = told(f"Project [b#2, c#4, coalesce(a#1, a#3) AS a#5]\n+- {_in(join('LeftOuter'))}")
    assert whole == {
        "b": [("left", "b", True)], "c": [("right", "c", True)],
        "a": [("left", "a", False), ("right", "a", False)],
    }  # fmt: skip
    assert [*told(join("LeftSemi, "))] == ["a", "b"]


def _in(plan: str) -> str:
    return "\n   ".join(plan.strip("\n").splitlines())


def test_a_union_is_made_of_all_its_parts_place_by_place() -> None:
    plan = """
Union false, false
:- Project [a#1, one AS kind#2]
:  +- SubqueryAlias made_of_x
:     +- LocalRelation <empty>, [a#1]
+- Project [b#3, cast(c#4 as string) AS c#5]
   +- SubqueryAlias made_of_y
      +- LocalRelation <empty>, [b#3, c#4]"""
    assert told(plan) == {
        "a": [("x", "a", True), ("y", "b", True)], "kind": [("y", "c", True)],
    }  # fmt: skip


def test_a_literal_of_one_part_of_a_union_is_of_the_rows_made_of_its_frames() -> None:
    plan = """
Project [kind#2, n#6L]
+- Union false, false
   :- Project [x AS kind#2, count(1) AS n#6L]
   :  +- SubqueryAlias made_of_x
   :     +- LocalRelation <empty>, [a#1]
   +- Project [cast(null as string) AS kind#3, 1 AS n#7L]
      +- SubqueryAlias made_of_y
         +- LocalRelation <empty>, [b#9]"""
    found = sources(BEFORE + plan.strip("\n") + AFTER)
    assert {(s.frame, s.literal) for s in found["kind"]} == {
        ("x", "x"), ("y", "cast(null as string)"),
    }  # fmt: skip
    assert {(s.frame, s.literal) for s in found["n"]} == {("y", "1")}, "a count is no literal"


def test_groups_windows_and_exploded_values_tell_what_they_are_made_of() -> None:
    over = "windowspecdefinition(k#1, v#2 ASC, specifiedwindowframe(RowFrame, a$(), b$()))"
    plan = f"""
Project [k#1, n#5L, item#7, rank#8]
+- Window [row_number() {over} AS rank#8], [k#1], [v#2 ASC]
   +- Generate explode(items#6), false, [item#7]
      +- Aggregate [k#1], [k#1, sum(v#2) AS n#5L, collect_list(v#2, 0, 0) AS items#6, v#2]
{leaf("t", "k#1, v#2", "         ")}"""
    assert told(plan) == {
        "k": [("t", "k", True)], "n": [("t", "v", False)], "item": [("t", "v", False)],
        "rank": [],
    }  # fmt: skip


def test_of_all_rows_together_there_is_one() -> None:
    assert told(f"Aggregate [max(a#1) AS b#2]\n{leaf('t', 'a#1', '')}") == {
        "b": [("t", "a", False)]
    }


def test_of_the_greatest_row_each_part_is_its_own_columns() -> None:
    plan = f"""
Project [last#4.b AS b#5, last#4 AS all#6, other#3.part AS part#7]
+- Aggregate [a#1], [max(struct(at, a#1, b, b#2)) AS last#4, first(other#3, false) AS other#3]
{leaf("t", "a#1, b#2, other#3", "   ")}"""
    found = told(plan)
    assert found["b"] == [("t", "b", True)]
    assert found["all"] == [("t", "a", False), ("t", "b", False)]
    assert found["part"] == [("t", "other", False)]


def test_a_chosen_row_keeps_its_parts_when_it_is_named_anew_and_chosen_again() -> None:
    first = "max_by(struct(early, -unix(a#1), b, b#2), struct(a, a#1))"
    plan = f"""
Project [v#7.b AS b#8, v#7.early AS early#9]
+- Aggregate [a#1], [max(v#6) AS v#7]
   +- Project [a#1, event#5 AS v#6]
      +- Aggregate [a#1], [a#1, {first} AS event#5]
{leaf("t", "a#1, b#2", "         ")}"""
    assert told(plan) == {"b": [("t", "b", True)], "early": [("t", "a", False)]}


def test_columns_made_into_rows_tell_from_which_they_came() -> None:
    plan = f"""
Project [k#1, name#4, value#5]
+- Expand [[k#1, x, x#2], [k#1, y, y#3]], [k#1, name#4, value#5]
{leaf("t", "k#1, x#2, y#3", "   ")}"""
    assert told(plan) == {
        "k": [("t", "k", True)], "name": [], "value": [("t", "x", True), ("t", "y", True)],
    }  # fmt: skip


def test_what_is_not_understood_is_said() -> None:
    with pytest.raises(NotUnderstood, match="no node of the plan gives b"):
        told("Project [b#2]\n+- Strange [a#1 AS c#3]\n" + leaf("t", "a#1"))


def test_a_source_says_whether_the_value_is_the_same() -> None:
    assert Source("t", "a", True) != Source("t", "a", False)
