"""Run by a test in a process of its own, which dies where LAKEHOUSE_KILL_AT says: one bringing."""

from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.serving.weather import bring

if __name__ == "__main__":
    bring(Catalog())
