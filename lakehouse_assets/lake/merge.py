"""Rows that differ, merged into a branch: inserted, updated and deleted in one commit."""

import re
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.contract import COMMIT, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def merge(frame: "DataFrame", contract: type[Table], target: str, where: str) -> None:
    from pyspark.sql import functions as F

    # Rows that share a key match nothing: they are added beside, for the judge to find.
    same = ["s._copies = 1", *(f"{target}.`{k}` <=> s.`{k}`" for k in contract.key())]
    values = {c: F.col(f"s.{c}") for c in quoted(contract)}
    mine = re.sub(r"(`\w+`)", rf"{target}.\1", where)  # both sides have the column
    into = frame.alias("s").mergeInto(target, F.expr(" and ".join([*same, f"({mine})"])))
    into = into.whenMatched(F.expr("s._op = 'D'")).delete()
    into = into.whenMatched().update(values)
    _execute(into.whenNotMatched(F.expr("s._op != 'D'")).insert(values))


def _execute(merge: Any) -> None:
    """What `merge()` does, but copying the plan where that parses it again: protobuf's parser stops
    at a hundred levels, which are some forty steps of a transform.
    """
    from pyspark.sql.connect.proto import Command

    command, client = Command(), merge._client
    into = command.merge_into_table_command
    into.target_table_name = merge._target_table
    into.source_table_plan.CopyFrom(merge._source_plan.plan(client))
    into.merge_condition.CopyFrom(merge._condition.to_plan(client))
    for action in merge._matched_actions:
        into.match_actions.add().merge_action.CopyFrom(action)
    for action in merge._not_matched_actions:
        into.not_matched_actions.add().merge_action.CopyFrom(action)
    _, _, info = client.execute_command(command, merge._source_plan.observations)
    merge._callback(info)


def quoted(contract: type[Table]) -> list[str]:
    return [f"`{c}`" for c in (*contract.columns, COMMIT)]
