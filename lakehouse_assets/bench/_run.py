"""One run in a process of its own, which loads the definitions first: the slow way to launch it.

    python -m lakehouse_assets.bench._run 2026-01-01-00:00 raw.payment_charges staging…

The partition may be empty. The run carries the sensor's tag, so that it takes the news only.
"""

import sys

import dagster as dg

from lakehouse_assets.definitions import defs
from lakehouse_assets.definitions import tables as every_table
from lakehouse_assets.orchestration.asset import riding
from lakehouse_assets.orchestration.names import NEWS, asset_key

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def execute(
    instance: dg.DagsterInstance, partition: str, tables: list[str], is_quiet: bool = False
) -> None:
    """The sensor's run request, in this process; raises what a step raised."""
    checks = riding([every_table()[name] for name in tables])
    job = defs.resolve_implicit_global_asset_job_def().get_subset(
        asset_selection={asset_key(name) for name in tables}, asset_check_selection=set(checks)
    )
    job.execute_in_process(
        instance=instance,
        partition_key=partition or None,
        tags={NEWS: "true"},
        run_config=QUIET if is_quiet else None,
    )


def main() -> None:
    with dg.DagsterInstance.get() as instance:
        execute(instance, sys.argv[1], sys.argv[2:])


if __name__ == "__main__":
    main()
