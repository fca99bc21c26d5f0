"""Counts of rows on their way, as Spark's Observation takes them."""

import uuid
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.connect import plan
from pyspark.sql.connect.dataframe import DataFrame as Connected
from pyspark.sql.connect.observation import Observation


class Watch(Observation):
    """`frame.observe` would ask the server whether the frame is a stream, which takes an analysis
    of the whole plan.
    """

    def over(self, frame: Any, *counts: Column) -> DataFrame:
        self._name, self._result = str(uuid.uuid4()), {}
        return Connected(plan.CollectMetrics(frame._plan, self, list(counts)), frame._session)
