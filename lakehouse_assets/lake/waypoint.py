"""Named points of a batch's life, so that a test can kill a run exactly there."""

import os
import signal

POINTS = ("read", "branch", "data files", "judge", "publish", "published")


def passed(point: str, table: str) -> None:
    """Nothing, unless `LAKEHOUSE_KILL_AT` names this point (`judge` or `judge@staging.stg_x`)."""
    wanted = os.environ.get("LAKEHOUSE_KILL_AT")
    if wanted in (point, f"{point}@{table}"):
        os.kill(os.getpid(), signal.SIGKILL)
