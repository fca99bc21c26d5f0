"""What is known of one check now: the verdict, since when, of how many rows, and what to do.

A rule is judged by every batch: its newest tally stands in the table's head. What Dagster evaluated
later than that (the daily checks over the whole table, a look by hand) is news of it.
"""

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from lakehouse_assets.lake import quality
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration.names import HELD, UNIQUE
from lakehouse_assets.pages.evaluations import EXAMPLES, Evaluation
from lakehouse_assets.pages.known import Known

FAILED, WARNED, PASSED, UNKNOWN = "failed", "warned", "passed", "unknown"
MEASURED = ("raw", "staging")  # layers whose failing rules are warnings
COUNTS = ("failed", "rows", "share", "threshold", "rule", "bad")  # told by figures of their own
STEP, WHY = "next step", "why"
TEXT = 600  # characters of what a check tells in its own words


@dataclass
class Verdict:
    state: str = UNKNOWN
    at: datetime | None = None
    since: datetime | None = None  # of what is red or yellow
    failed: int | None = None  # rows
    rows: int | None = None
    threshold: float | None = None
    why: str = ""
    step: str = ""  # what to do; commands between backticks
    partition: str = ""  # the hour it is about; '' for all
    told: dict[str, str] = field(default_factory=dict)  # what else it said
    examples: list[dict[str, Any]] = field(default_factory=list)
    examples_at: datetime | None = None

    @property
    def allowed(self) -> int | None:
        if self.threshold is None or self.rows is None:
            return None
        return quality.allowed(self.threshold, self.rows)


def judged(
    known: Known, table: LakeTable | None, head: Head | None, evaluation: Evaluation | None
) -> Verdict:
    """The newer of what the table's head and what Dagster says; a held batch is held now."""
    of_head = _of_head(known, table, head) if table and head else None
    if of_head and (head and head.held and known.name == HELD):
        return of_head
    if evaluation and (of_head is None or of_head.at is None or evaluation.at > of_head.at):
        return _of_evaluation(known, evaluation)
    return of_head or Verdict()


def _of_head(known: Known, table: LakeTable, head: Head) -> Verdict | None:
    published = datetime.fromtimestamp(head.published_ms / 1000, timezone.utc)
    if known.name == HELD and head.held:
        since = datetime.fromisoformat(head.held.since)
        return Verdict(
            FAILED, since, since, why=f"batch {head.held.stamp.commit} is held: {head.held.why}"
        )
    if known.name in (HELD, UNIQUE):  # a batch that broke them would not have been published
        return Verdict(PASSED, published) if head.stamp.commit else None
    tally = head.tallies[0] if head.tallies else None
    if known.rule is None or tally is None or known.name not in tally["failed"]:
        return None
    rows, failed = quality.judged(table.contract, tally), int(tally["failed"][known.name])
    bad = WARNED if table.layer in MEASURED else FAILED
    passed = failed <= quality.allowed(known.rule.threshold, rows)
    return Verdict(
        PASSED if passed else bad, datetime.fromisoformat(tally["at"]),
        failed=failed, rows=rows, threshold=known.rule.threshold, partition=tally["hour"],
    )  # fmt: skip


def _of_evaluation(known: Known, it: Evaluation) -> Verdict:
    state = PASSED if it.passed else WARNED if it.is_warning else FAILED
    told = it.told
    failed = told.get("failed", told.get("bad"))
    threshold = told.get("threshold")
    return Verdict(
        state, it.at,
        failed=failed if isinstance(failed, int) else None,
        rows=told["rows"] if isinstance(told.get("rows"), int) else None,
        threshold=float(threshold) if isinstance(threshold, (int, float)) else None,
        why=_text(told.get(WHY, "")), step=_text(told.get(STEP, "")),
        told={name: _text(value) for name, value in told.items()
              if name not in (*COUNTS, STEP, WHY, EXAMPLES) and value not in ("", None)},
    )  # fmt: skip


def sentence(known: Known, verdict: Verdict) -> str:
    """Why it is red or yellow, in one sentence."""
    if verdict.why:
        return verdict.why
    if verdict.failed is not None and verdict.rows is not None:
        hour = f" of the hour {verdict.partition[:16].replace('T', ' ')}" if (
            verdict.partition) else ""  # fmt: skip
        allowed = f"; {verdict.allowed:,} may" if verdict.allowed is not None else ""
        return f"{verdict.failed:,} of {verdict.rows:,} rows{hour} break it{allowed}"
    told = "; ".join(f"{name}: {value}" for name, value in verdict.told.items())
    return told[:TEXT] or known.doc


def next_step(known: Known, table: LakeTable | None, verdict: Verdict) -> str:
    """What a person does about it."""
    name = known.asset
    if known.name == HELD and "accept-gap" not in verdict.why:
        return (
            f"Mend the code: it is tried by itself. Or mend the input, then `lakehouse release "
            f"{name}`. Readers still see the rows before it"
        )
    if verdict.step or known.rule is None or table is None:
        return verdict.step or "Execute the check in Dagster; what it tells there says more"
    if table.contract.refuses and known.rule.refuses:
        (raw, *_) = table.parents.values()
        return f"The rows were set aside: `lakehouse quarantine list --table {raw.name}`"
    if table.layer in MEASURED:
        return "The feed is dirtier than agreed: look at the examples, then ask who sends it"
    return f"Look at the examples; mend the transform or its input, then `lakehouse rebuild {name}`"


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= TEXT else f"{text[:TEXT]}…"
