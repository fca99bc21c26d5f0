"""Run by a test in a process of its own, which dies where LAKEHOUSE_KILL_AT says: one landing."""

import sys

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.landing.hours import land
from lakehouse_assets.raw.storefront_orders import StorefrontOrders
from lakehouse_assets_tests.topics.records import notes

if __name__ == "__main__":
    lake = Lake(run="killed")
    lake.compile(False)
    land(lake, notes(sys.argv[1], StorefrontOrders))
