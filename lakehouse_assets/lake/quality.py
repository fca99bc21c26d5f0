"""Rules as one aggregation: every rule of a table is a bit, counted inside the pass that writes the
rows.

A tally is what one batch says about its partition (raw, staging) or its whole table (the rest):
rows read, refused, stored, and failures by rule. It is carried from commit to commit, so a
verdict never covers only the last delta.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.contract import Rule, Table

if TYPE_CHECKING:
    from pyspark.sql import Column

MAX_RULES = 62  # bits of a bigint
MASK = "•••"
CHANCE = 3  # standard deviations by which so few rows may miss a rate that is kept


def failures(rules: tuple[Rule, ...]) -> str:
    """SQL: a bigint in which bit i is set when the row breaks rule i."""
    if len(rules) > MAX_RULES:
        raise ValueError(f"{len(rules)} rules on one table; at most {MAX_RULES} fit one pass")
    bits = [f"if({rule.passes()}, 0L, {1 << i}L)" for i, rule in enumerate(rules)]
    return " | ".join(bits) or "0L"


def refusing(rules: tuple[Rule, ...]) -> int:
    """The bits of the rules that set a row aside."""
    return sum(1 << i for i, rule in enumerate(rules) if rule.refuses)


def broken(rules: tuple[Rule, ...]) -> "list[Column]":
    """Aggregates: how many rows break each rule."""
    from pyspark.sql import functions as F

    # Not count_if, for which Spark would add columns to every row and take them away again.
    failed = [F.expr(f"coalesce(sum(if({rule.passes()}, 0L, 1L)), 0L)") for rule in rules]
    return [column.alias(rule.name) for column, rule in zip(failed, rules, strict=True)]


def counts(rules: tuple[Rule, ...], mask: str) -> "list[Column]":
    """The same where each row already has its failures, as a mask."""
    from pyspark.sql import functions as F

    bit = [F.expr(f"coalesce(sum(({mask} >> {i}) & 1L), 0L)") for i in range(len(rules))]
    return [column.alias(rule.name) for column, rule in zip(bit, rules, strict=True)]


def reasons(rules: tuple[Rule, ...], mask: str) -> str:
    """SQL: the names of the refusing rules a row broke, in order; '' for a good row."""
    numbered = [(i, rule.name) for i, rule in enumerate(rules) if rule.refuses]
    names = [f"if((({mask} >> {i}) & 1L) = 1L, '{name}', null)" for i, name in numbered]
    return f"concat_ws(', ', {', '.join(names)})" if names else "''"


def spelled(rules: tuple[Rule, ...]) -> str:
    """Names this very set of rules, so that counts of an older one are not added to."""
    return hashlib.sha256(repr([(r.name, r.sql) for r in rules]).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Verdict:
    """One rule's answer for a partition or a table."""

    rule: Rule
    failed: int
    rows: int

    @property
    def share(self) -> float:
        return self.failed / self.rows if self.rows else 0.0

    @property
    def allowed(self) -> int:
        return allowed(self.rule.threshold, self.rows)

    @property
    def passed(self) -> bool:
        return self.failed <= self.allowed


def allowed(threshold: float, rows: int) -> int:
    """How many rows may fail: the threshold is a rate, and of few rows chance makes some more.

    Of a million rows that may fail by 5 % it is 50,653, of twenty 3, of one none.
    """
    mean = threshold * rows
    return math.floor(mean + CHANCE * math.sqrt(mean * (1 - threshold)))


def verdicts(contract: type[Table], tally: dict[str, Any]) -> list[Verdict]:
    rows, failed = judged(contract, tally), tally["failed"]
    return [Verdict(r, int(failed.get(r.name, 0)), rows) for r in contract.all_rules()]


def judged(contract: type[Table], tally: dict[str, Any]) -> int:
    """The rows the rules were about: what was read where bad ones are refused, else what stands."""
    return int(tally["read"] if contract.refuses else tally["rows"])
