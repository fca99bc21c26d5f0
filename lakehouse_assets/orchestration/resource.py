"""Dagster's handle on the lake: dagster-pyspark's resource, made lazy, on the shared Spark Connect
server.
"""

from typing import TYPE_CHECKING, Any

from dagster import InitResourceContext
from dagster_pyspark import PySparkResource
from pydantic import Field, PrivateAttr

from lakehouse_assets.lake.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class LakeResource(PySparkResource):
    """Nothing is started when a run begins: a run without news never meets Spark."""

    spark_config: dict[str, Any] = Field(default_factory=dict)
    _lake: Lake | None = PrivateAttr(default=None)

    def setup_for_execution(self, context: InitResourceContext) -> None:
        self._lake = Lake(run=context.run.run_id if context.run else "")

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        if self._lake is not None:
            self._lake.close()

    @property
    def lake(self) -> Lake:
        if self._lake is None:
            self._lake = Lake()
        return self._lake

    @property
    def spark_session(self) -> "SparkSession":
        return self.lake.spark
