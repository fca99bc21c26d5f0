"""One batch, whole or not at all: branch, write, judge, compare-and-swap.

Readers see main only. Of two writers that start from one head exactly one publishes; the other
makes its batch again. A batch that fails its invariants is held: kept on a branch `failed_…`, in
nobody's way, until new code, a run by hand or `lakehouse release` tries it again.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pyiceberg.table.snapshots import Snapshot

from lakehouse_assets.lake import judge, quality, waypoint
from lakehouse_assets.lake.branch import new_branch
from lakehouse_assets.lake.catalog import STAMP, MainMoved
from lakehouse_assets.lake.contract import CHECKPOINT, COMMIT, Table
from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.lake.lake import Lake, full_name
from lakehouse_assets.lake.merge import merge, quoted
from lakehouse_assets.lineage import log
from lakehouse_assets.lineage.log import CommitLog

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lakehouse_assets.lake.watch import Watch

PROPERTY = f"spark.sql.iceberg.snapshot-property.{STAMP}"


class Held(Exception):
    """The batch broke an invariant and was not published."""


@dataclass
class Change:
    """What a batch does to its table. `frame` has the contract's columns and what `mode` needs
    beside them.

    append: rows to add. merge: `_op` I, U or D, `_new` and `_old`, the failures before and
    after. replace: the new content of `where` ("true" for the whole table). Merged rows
    bring `_copies`: how many share their key; so do replacing ones if `has_copies`.
    """

    frame: "DataFrame"
    mode: str
    stamp: Stamp
    where: str = "true"
    seen: "Watch | None" = None  # counts over what was read: `read`, and refusals by rule
    carry: bool = True  # add to the tally of the same partition or table; else start a new one
    counted: dict[str, int] = field(default_factory=dict)  # counts made by a query of their own
    recount: "Callable[[], dict[str, int]] | None" = None  # what `seen` saw, by a query
    has_copies: bool = False


@dataclass(frozen=True)
class Published:
    """What became visible."""

    head: Head
    stamp: Stamp
    snapshot_id: int
    tally: dict[str, Any]
    stored: int
    removed: int
    read: int
    refused: int
    summary: dict[str, str] = field(default_factory=dict)


def publish(lake: Lake, contract: type[Table], head: Head, change: Change) -> Published:
    """Write, judge and publish; raises MainMoved when another batch came first, Held when it is
    bad.
    """
    branch = new_branch()
    with lake.phase("branch"):
        number = CommitLog(head.name).begin(branch, lake.run) if contract.commit_log else 0
        lake.catalog.create_branch(head, branch)
    waypoint.passed("branch", head.name)
    with lake.phase("write"):
        counted = _write_or_yield(lake, contract, branch, change, number)
    waypoint.passed("data files", head.name)
    with lake.phase("judge"):
        snapshot = _logged(lake, head, branch, change, number)
        summary = dict(snapshot.summary.additional_properties) if snapshot.summary else {}
        counted = _trusted(lake, contract, branch, head, change, counted, summary)
        tally = judge.tally(contract, head, change, counted)
        tally["seconds"] = round(perf_counter() - lake.began, 2)
        gone = judge.dropped(summary)
        if change.mode == "merge" and gone != counted["removed"]:  # it may count a delete twice
            gone = _dropped(lake, head, branch, counted["stored"])
        problems = judge.problems(change, counted, summary, gone)
    waypoint.passed("judge", head.name)
    if problems:
        held = lake.catalog.hold(head.name, branch, "; ".join(problems))
        raise Held(
            f"{head.name}: batch {change.stamp.commit} is held, nothing was published: "
            f"{'; '.join(problems)}. Its rows are on branch {held}. "
            "New code is tried by itself; the same code by the next run after "
            f"`lakehouse release {head.name}`, which drops that branch"
        )
    waypoint.passed("publish", head.name)
    with lake.phase("publish"):
        published = lake.catalog.publish(head, branch, tally)
    waypoint.passed("published", head.name)
    return Published(
        head, change.stamp, published, tally, counted["stored"], counted["removed"],
        counted.get("read", counted["stored"]), counted.get("refused", 0), summary,
    )  # fmt: skip


def _logged(lake: Lake, head: Head, branch: str, change: Change, number: int) -> Snapshot:
    """What was written; in the commit log too, if the attempt has a number there."""
    snapshot = lake.catalog.branch_snapshot(head.name, branch)
    if number:
        attempt = log.batch(number, change.stamp.commit, snapshot.snapshot_id, lake.run)
        log.note(CommitLog(head.name), lake.catalog.load(head.name), snapshot, attempt)
    return snapshot


def _write_or_yield(
    lake: Lake, contract: type[Table], branch: str, change: Change, number: int
) -> dict[str, int]:
    """A run that published first drops our branch: then our write fails, and is made again."""
    try:
        return _write(lake, contract, branch, change, number)
    except Exception as error:  # of any kind: Spark says it in many ways
        if branch in lake.catalog.load(contract.name).metadata.refs:
            raise
        raise MainMoved(f"{contract.name}: a faster run dropped our branch") from error


def _trusted(
    lake: Lake,
    contract: type[Table],
    branch: str,
    head: Head,
    change: Change,
    counted: dict[str, int],
    summary: dict[str, str],
) -> dict[str, int]:
    """The write's own counts, unless a task ran twice or a rule is new; then those of a scan."""
    doubled = counted["stored"] != int(summary.get("added-records", 0))
    if doubled:
        counted = counted | _meant(change)
    if doubled or judge.has_new_rules(contract, head, change):
        counted = counted | _recount(lake, contract, branch, change)
        change.carry = change.carry and contract.refuses  # else: the whole partition or table
    return counted


def _dropped(lake: Lake, head: Head, branch: str, added: int) -> int:
    """How many of the rows that stood are gone, by looking at them."""
    return lake.at(head).count() + added - lake.spark.table(full_name(head.name, branch)).count()


def _meant(change: Change) -> dict[str, int]:
    """What the batch was to store and remove, asked of its source again."""
    row = change.frame.agg(*_counts(change)).first()
    return {k: int(v) for k, v in row.asDict().items()} if row else {}


def _write(
    lake: Lake, contract: type[Table], branch: str, change: Change, number: int
) -> dict[str, int]:
    """Write the rows and count them, and the rules over them, in one pass."""
    from pyspark.sql import functions as F

    from lakehouse_assets.lake.watch import Watch

    noted, target = Watch(), full_name(contract.name, branch)
    filled = {COMMIT: change.stamp.commit}
    if number and CHECKPOINT in contract.columns:
        filled[CHECKPOINT] = number
    frame = change.frame.withColumns({c: F.lit(n).cast("bigint") for c, n in filled.items()})
    if change.mode == "merge":
        failed = _difference(contract)
    else:
        failed = [] if contract.refuses else quality.broken(contract.all_rules())
    if change.mode == "merge" or change.has_copies:
        failed = [*failed, F.expr("coalesce(max(_copies), 1)").alias("copies")]
    frame = noted.over(frame, *_counts(change), *failed)
    lake.spark.conf.set(PROPERTY, json.dumps(asdict(change.stamp)))
    try:
        if change.mode == "merge":
            merge(frame, contract, target, change.where)
        else:
            rows = frame.select(*quoted(contract)).writeTo(target)
            if change.mode == "append":
                rows.append()
            else:  # all partitions: rows sorted by them, or each of their files would be held open
                rows.option("fanout-enabled", "false").overwrite(F.expr(change.where))
    finally:
        lake.spark.conf.unset(PROPERTY)
    # Spark drops the whole plan, counters too, when it sees that nothing can come out of it.
    counted = {"stored": 0, "removed": 0} | change.counted
    counted |= {k: int(v or 0) for k, v in noted.get.items()}
    if change.seen is not None:
        counted |= {k: int(v or 0) for k, v in change.seen.get.items()}
    return counted


def _counts(change: Change) -> "list[Column]":
    from pyspark.sql import functions as F

    merged = {"stored": "_op != 'D'", "removed": "_op != 'I'", "gone": "_op = 'D'"}
    added = {"stored": "true", "removed": "false"}
    counted = merged if change.mode == "merge" else added
    return [F.expr(f"count_if({what})").alias(name) for name, what in counted.items()]


def _difference(contract: type[Table]) -> "list[Column]":
    """How many more rows break each rule after the merge than before it."""
    rules = () if contract.refuses else contract.all_rules()
    pairs = zip(quality.counts(rules, "_new"), quality.counts(rules, "_old"), strict=True)
    return [(new - old).alias(r.name) for (new, old), r in zip(pairs, rules, strict=True)]


def _recount(lake: Lake, contract: type[Table], branch: str, change: Change) -> dict[str, int]:
    """The rules' counts and the rows, taken from the branch's files."""
    from pyspark.sql import functions as F

    if contract.refuses:
        return change.recount() if change.recount else {}
    rows = lake.spark.table(full_name(contract.name, branch))
    if change.stamp.hour:
        rows = rows.where(f"ingest_hour = timestamp'{change.stamp.hour}'")
    checks = quality.broken(contract.all_rules())
    row = rows.agg(F.count(F.lit(1)).alias("rows"), *checks).first()
    return {k: int(v) for k, v in row.asDict().items()} if row else {}
