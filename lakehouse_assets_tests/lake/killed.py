"""Run by a test in a process of its own, which dies where LAKEHOUSE_KILL_AT says: one advance."""

import sys

from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets_tests.lake.tables import LATEST
from lakehouse_assets_tests.topics.records import ingest, notes

if __name__ == "__main__":
    topic = sys.argv[1]
    if topic:
        ingest(Lake(run="killed"), notes(topic))
    else:
        advance(Lake(run="killed"), LATEST)
