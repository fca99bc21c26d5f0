"""metadata.check_history: one row per check, partition and commit, with its verdict then.

The history behind the check tabs: when did a rule begin to fail, in which hour, for how many
rows. Taken from the tallies that every commit leaves in its table; a commit's row never changes
afterwards. The sensors ask for it before any tally is dropped; of more commits than that in one run
by hand it tells the newest.
"""

from datetime import datetime
from typing import Any

from lakehouse_assets.lake.contract import Layout, Table, append_only, column
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.table import Told, metadata_table


class CheckHistory(Table):
    table_name = column("string", "The table.", key=True, name="table")
    check_name = column("string", "The rule.", key=True, name="check")
    partition = column("string", "The hour it covers; '' for the whole table.", key=True)
    commit = column("bigint", "The table's commit it was true of.", key=True)
    rows = column("bigint", "Rows judged.", ge=0)
    failed = column("bigint", "Rows that broke the rule.", ge=0)
    verdict = column("string", "passed or failed.", isin=("passed", "failed"))
    at = column("timestamp", "When the commit was judged, UTC.")

    layout = Layout(partitioned_by="days(at)", scope=append_only())


def history(heads: dict[str, Head], consumed: dict[str, int]) -> list[Told]:
    return [
        _row(name, tally, rule, place)
        for name, head in heads.items()
        for tally in head.tallies
        if tally["commit"] > consumed.get(name, 0)
        for place, rule in enumerate(tally["failed"])
    ]


def _row(name: str, tally: dict[str, Any], rule: str, place: int) -> Told:
    return {
        "table": name,
        "check": rule,
        "partition": tally["hour"],
        "commit": tally["commit"],
        "rows": tally["judged"],
        "failed": tally["failed"][rule],
        "verdict": "failed" if place in tally["broken"] else "passed",
        "at": datetime.fromisoformat(tally["at"]),
    }


check_history = metadata_table(CheckHistory, history)
