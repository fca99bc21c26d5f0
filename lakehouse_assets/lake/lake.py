"""One process's hold on the lake: the catalog at once, Spark when data is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING

from lakehouse_assets import settings
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.contract import Table
from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.schema import all_columns
from lakehouse_assets.lake.spark import configure, open_session, struct

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows of a table that one task reads where queries are small: then joins and groups need no other
# stage, of which most cost more than their rows.
ONE_TASKS = 200_000


class Lake:
    def __init__(self, spark: "SparkSession | None" = None, run: str = "") -> None:
        self.catalog = Catalog()
        self.run = run
        self.seconds: dict[str, float] = {}
        self.began = perf_counter()  # the batch that is being made
        self._given = spark
        self._compiles = True  # as a session does

    @cached_property
    def spark(self) -> "SparkSession":
        with self.phase("open spark"):
            spark = self._given or open_session()
            self._tune(spark)
            return spark

    def compile(self, is_worth_it: bool) -> None:
        """Of the queries that follow. For few rows it takes longer than to interpret them, and each
        batch's constants would make it new code. Nor is it worth it to plan anew after each stage.
        """
        if is_worth_it != self._compiles:
            self._compiles = is_worth_it
            if "spark" in self.__dict__:
                self._tune(self.spark)

    def _tune(self, spark: "SparkSession") -> None:
        is_worth_it = str(self._compiles).lower()
        configure(spark, {
            "spark.sql.codegen.factoryMode": "FALLBACK" if self._compiles else "NO_CODEGEN",
            "spark.sql.codegen.wholeStage": is_worth_it,
            "spark.sql.adaptive.enabled": is_worth_it,
        })  # fmt: skip

    def at(self, head: Head) -> "DataFrame":
        """The table as it was at that head, whatever happens to it meanwhile."""
        rows = self.spark.read.option("versionAsOf", head.snapshot_id).table(full_name(head.name))
        rows = rows.coalesce(1) if not self._compiles and head.rows <= ONE_TASKS else rows
        if head.older_schema:  # a snapshot is read with its own schema: bring it up to today's
            return self.table(head.name).limit(0).unionByName(rows, allowMissingColumns=True)
        return rows

    def table(self, name: str) -> "DataFrame":
        return self.spark.table(full_name(name))

    def empty(self, contract: type[Table]) -> "DataFrame":
        """No row, the contract's columns."""
        columns = ", ".join(f"`{n}` {c.type}" for n, c in all_columns(contract).items())
        return self.spark.createDataFrame([], struct(self.spark, columns))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a part of the work; the figures go into the materialization's metadata."""
        begin = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - begin

    def interrupt(self) -> None:
        """End what the server does for us now, from another thread than the one that waits."""
        from pyspark.errors import PySparkException

        if (spark := self.__dict__.get("spark")) is not None:
            with suppress(PySparkException):  # it was closed meanwhile: nothing is left to end
                spark.interruptAll()

    def close(self) -> None:
        if self._given is None and "spark" in self.__dict__:
            self.spark.stop()
            del self.__dict__["spark"]


def full_name(name: str, branch: str = "") -> str:
    return f"{settings.CATALOG}.{name}" + (f".branch_{branch}" if branch else "")
