"""A written batch's counts and invariants: what it adds to its tally, and what forbids it."""

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake import quality
from lakehouse_assets.lake.contract import Table
from lakehouse_assets.lake.head import Head

if TYPE_CHECKING:
    from lakehouse_assets.lake.publish import Change


def tally(
    contract: type[Table], head: Head, change: "Change", counted: dict[str, int]
) -> dict[str, Any]:
    """This batch's counts on top of what the same partition (or the whole table) had before it."""
    earlier = [t for t in head.tallies if t["hour"] == change.stamp.hour] if change.carry else []
    before: dict[str, Any] = earlier[0] if earlier else {}
    failed = {
        rule.name: counted.get(rule.name, 0) + before.get("failed", {}).get(rule.name, 0)
        for rule in contract.all_rules()
    }
    grown = counted["stored"] - (counted["removed"] if change.mode == "merge" else 0)
    carried = before.get("rows", 0) if change.mode != "replace" else 0
    read = counted.get("read", counted["stored"])
    newest: dict[str, Any] = head.tallies[0] if head.tallies else {}
    tally = {
        "commit": change.stamp.commit,
        "at": datetime.now(timezone.utc).isoformat(),
        "hour": change.stamp.hour,
        "batch": counted["stored"],
        "gone": counted.get("gone", 0),
        "processed": read + newest.get("processed", 0),  # since the table was made
        "read": read + before.get("read", 0),
        "refused": counted.get("refused", 0) + before.get("refused", 0),
        "stored": counted["stored"] + before.get("stored", 0),
        "rows": counted.get("rows", grown + carried),
        "failed": failed,
        "rules": quality.spelled(contract.all_rules()),
    }
    verdicts = quality.verdicts(contract, tally)
    broken = [place for place, v in enumerate(verdicts) if not v.passed]  # in `failed`
    return tally | {"broken": broken, "judged": quality.judged(contract, tally)}


def problems(
    change: "Change", counted: dict[str, int], summary: dict[str, str], gone: int
) -> list[str]:
    """The invariants; each says what was expected and what was found."""
    found = []
    if counted.get("copies", 1) > 1:
        found.append(f"the transform gave one key {counted['copies']} rows")
    added = int(summary.get("added-records", 0))
    if counted["stored"] != added:
        found.append(f"accounting: {counted['stored']} rows were meant, {added} were written")
    if change.mode == "merge" and counted["removed"] != gone:
        found.append(f"key not unique: {counted['removed']} rows were to be replaced, {gone} were")
    return found


def dropped(summary: dict[str, str]) -> int:
    """Rows that the batch deleted; a file's older deletes are written again with the new ones."""
    deletes = [int(summary.get(f"{k}-position-deletes", 0)) for k in ("added", "removed")]
    return deletes[0] - deletes[1]


def has_new_rules(contract: type[Table], head: Head, change: "Change") -> bool:
    """A rule that was not counted before has to be counted over the rows that are there."""
    earlier = [t for t in head.tallies if t["hour"] == change.stamp.hour]
    if not earlier or not change.carry or contract.refuses:
        return False
    return bool(earlier[0].get("rules") != quality.spelled(contract.all_rules()))
