"""Rules in one aggregation; pandera is the oracle: the same verdicts on the same data."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from lakehouse_assets.bench import _pandera
from lakehouse_assets.lake import quality
from lakehouse_assets.lake.contract import Rule, Table, column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets_tests.lake.tables import Row, own_lake
from lakehouse_assets_tests.support import rows


class Judged(Table, name="bare.judged"):
    """bare.judged: one row per id, with every kind of rule."""

    id = column("string", "Who.", key=True)
    code = column("string", "Two letters.", nullable=True, str_matches=r"^[A-Z]{2}\z")
    back = column("string", "A backslash and a quote.", nullable=True, str_matches=r"^\d+'?$")
    kind = column("string", "One of two.", nullable=True, isin=("a", "b"))
    amount = column("decimal(10,2)", "How much.", nullable=True, ge=0, le=100)
    share = column("double", "Of all.", nullable=True, ge=0, le=1)
    start = column("timestamp", "Begin, UTC.", nullable=True)
    end = column("timestamp", "End, UTC.", nullable=True)
    email = column("string", "Whose.", nullable=True, pii=True, isin=("ann@x", "bob@x"))
    rules = (
        Rule("in_order", "end >= start"),
        Rule("cheap_or_a", "amount < 10 or kind = 'a'", threshold=0.5),
    )


GOOD: Row = {
    "id": "1", "code": "US", "back": "12'", "kind": "a", "amount": 1, "share": 0.5,
    "email": "ann@x",
}  # fmt: skip
CASES: dict[str, Row] = {
    "nothing": {},
    "id_present": {"id": None},
    "code_well_formed": {"code": "USA"},
    "code_well_formed, lower": {"code": "us"},
    "code_well_formed, line": {"code": "US\n"},
    "back_well_formed": {"back": "x"},
    "kind_known": {"kind": "c"},
    "amount_not_negative": {"amount": -1},
    "amount_at_most_100": {"amount": 101},
    "share_not_negative": {"share": -0.1},
    "share_at_most_1": {"share": float("nan")},
    "email_known": {"email": "secret@x"},
    "in_order": {"start": "2024-02-01", "end": "2024-01-01"},
    "cheap_or_a": {"amount": 50, "kind": "b"},
    "unknown is not wrong": dict.fromkeys(GOOD, None) | {"id": "2"},
}


@pytest.fixture(scope="module")
def spark_lake(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with own_lake(tmp_path_factory.mktemp("quality")) as lake:
        yield lake


def frame_of(lake: Lake, *given: Row) -> "F.DataFrame":  # type: ignore[name-defined]
    from datetime import datetime, timezone
    from decimal import Decimal

    def typed(row: Row) -> Row:
        times = {k: datetime.fromisoformat(row[k]).replace(tzinfo=timezone.utc)
                 for k in ("start", "end") if row.get(k)}  # fmt: skip
        money = {"amount": Decimal(row["amount"])} if row.get("amount") is not None else {}
        return row | times | money

    return rows(lake.spark, Judged, *[typed(GOOD | g) for g in given])


def counted(lake: Lake, *given: Row) -> dict[str, int]:
    rules = Judged.all_rules()
    masked = frame_of(lake, *given).withColumn("_new", F.expr(quality.failures(rules)))
    row = masked.agg(*quality.counts(rules, "_new")).first()
    assert row is not None
    return {name: failed for name, failed in row.asDict().items() if failed}


def test_each_bad_value_breaks_its_rule_and_no_other(spark_lake: Lake) -> None:
    rules = Judged.all_rules()
    frame = frame_of(spark_lake, *CASES.values())
    found = frame.withColumn("_m", F.expr(quality.failures(rules))).select(
        F.expr(quality.reasons(rules, "_m")).alias("why")
    )
    broken = [r["why"] for r in found.collect()]
    known = {r.name for r in rules}
    assert broken == [n.split(",")[0] if n.split(",")[0] in known else "" for n in CASES]


def test_one_aggregation_counts_every_rule(spark_lake: Lake) -> None:
    assert counted(spark_lake, *CASES.values(), {"kind": "d", "amount": -5}) == {
        "id_present": 1, "code_well_formed": 3, "back_well_formed": 1, "kind_known": 2,
        "amount_not_negative": 2, "amount_at_most_100": 1, "share_not_negative": 1,
        "share_at_most_1": 1, "email_known": 1, "in_order": 1, "cheap_or_a": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "part",
    [
        slice(0, 1),
        slice(4, 5),
        slice(0, 8),
        slice(8, None),
        slice(14, None),
    ],
)
def test_pandera_gives_the_same_verdicts_on_the_same_data(spark_lake: Lake, part: slice) -> None:
    given = list(CASES.values())[part]
    rows_given = frame_of(spark_lake, *given).drop("_commit")
    assert _pandera.broken(Judged, rows_given) == set(counted(spark_lake, *given))


def test_a_verdict_allows_its_rate_of_failures_and_no_more() -> None:
    rule = Rule("r", "true", threshold=0.05)
    assert quality.Verdict(rule, 11, 100).passed
    assert not quality.Verdict(rule, 12, 100).passed
    assert quality.Verdict(rule, 0, 0).passed


def test_as_many_rules_as_bits_and_not_one_more(spark_lake: Lake) -> None:
    rules = tuple(Rule(f"r{n}", f"id != '{n}'") for n in range(quality.MAX_RULES))
    frame = frame_of(spark_lake, {"id": "0"}, {"id": str(quality.MAX_RULES - 1)})
    masked = frame.withColumn("_new", F.expr(quality.failures(rules)))
    row = masked.agg(*quality.counts(rules, "_new")).first()
    assert row is not None
    assert {n for n, failed in row.asDict().items() if failed} == {"r0", "r61"}
    with pytest.raises(ValueError, match="63 rules on one table; at most 62"):
        quality.failures((*rules, Rule("more", "true")))


@pytest.mark.parametrize(
    "threshold, rows, allowed",
    [(0.0, 10**9, 0), (0.05, 10**6, 50_653), (0.05, 20, 3), (0.05, 1, 0), (0.1, 6, 2), (0.5, 0, 0)],
)
def test_few_rows_may_miss_a_rate_by_chance_and_none_may_that_has_no_threshold(
    threshold: float, rows: int, allowed: int
) -> None:
    assert quality.allowed(threshold, rows) == allowed
