"""Dagster's handle on the lake: dagster-pyspark's resource, made lazy, on the shared Spark Connect
server.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dagster import InitResourceContext
from dagster_pyspark import PySparkResource
from pydantic import Field, PrivateAttr

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration.ahead import Ahead, Make

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class LakeResource(PySparkResource):
    """Nothing is started when a run begins: a run without news never meets Spark."""

    spark_config: dict[str, Any] = Field(default_factory=dict)
    _lake: Lake | None = PrivateAttr(default=None)
    _ahead: Ahead | None = PrivateAttr(default=None)

    def setup_for_execution(self, context: InitResourceContext) -> None:
        self._lake = Lake(run=context.run.run_id if context.run else "")

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        if self._ahead is not None:
            self._ahead.close()
        if self._lake is not None:
            self._lake.close()

    def ahead(self, of_run: Callable[[], tuple[list[LakeTable], Make]]) -> Ahead:
        """What is made of the run's tables, begun by the first step that asks."""
        if self._ahead is None:
            self._ahead = Ahead(*of_run(), self.lake.run)
        return self._ahead

    @property
    def lake(self) -> Lake:
        if self._lake is None:
            self._lake = Lake()
        return self._lake

    @property
    def spark_session(self) -> "SparkSession":
        return self.lake.spark
