"""Dagster's history in SQLite, as Dagster keeps it, over connections that stay open.

Dagster's own opens a database for every statement, compiles the statement anew, waits for the disk,
and folds the log back into the file as it closes. A run of three hundred checks has four thousand
statements: they took as long as its tables. Here a process opens a database once. What a killed
process wrote is there; after a power cut the last second of the history may be missing, as of a run
that was cut off: the lake's own tables tell what was published.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy as db
from dagster._config.config_schema import UserConfigSchema
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import QueuePool

from lakehouse_assets import settings

OPEN = 16  # databases: one of each run that is looked at, and what they share


class Kept:
    """Databases that are open, by place; the one that was not asked for longest is closed first."""

    def __init__(self) -> None:
        self._engines: OrderedDict[str, Engine] = OrderedDict()

    def engine(self, place: str) -> Engine:
        if place not in self._engines:
            self._engines[place] = _opened(place)
            if len(self._engines) > OPEN:
                self._engines.popitem(last=False)[1].dispose()
        self._engines.move_to_end(place)
        return self._engines[place]

    def close(self) -> None:
        while self._engines:
            self._engines.popitem()[1].dispose()


def _opened(place: str) -> Engine:
    patience = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False}
    engine = db.create_engine(place, poolclass=QueuePool, connect_args=patience)

    @db.event.listens_for(engine, "connect")
    def _(connection: Any, _: Any) -> None:
        connection.execute("pragma synchronous = normal")  # the disk is waited for now and then

    return engine


class Events(SqliteEventLogStorage):
    def __init__(self, base_dir: str) -> None:
        self._kept, self._there = Kept(), set[str]()
        super().__init__(base_dir)

    def has_table(self, table_name: str) -> bool:
        """Asked twice a check; one that is there stays there."""
        if table_name not in self._there and super().has_table(table_name):
            self._there.add(table_name)
        return table_name in self._there

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            engine = self._kept.engine(self.conn_string_for_shard(shard))
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.begin() as connection:
                yield connection

    def store_event(self, event: EventLogEntry) -> None:
        """Who watches the run in the UI watches the file, which an open database leaves alone."""
        super().store_event(event)
        with suppress(FileNotFoundError):  # the run was deleted
            os.utime(self.path_for_shard(event.run_id))

    def dispose(self) -> None:
        super().dispose()
        self._kept.close()


class _Open:
    """The other two have a database each, and open it for every statement by the same name."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engine = _opened(conn_string)
        super().__init__(conn_string, inst_data)  # type: ignore[call-arg]

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        self._engine.dispose()


class Runs(_Open, SqliteRunStorage):
    pass


class Schedules(_Open, SqliteScheduleStorage):
    pass


class SqliteHistory(DagsterSqliteStorage):
    """`storage` in dagster.yaml: under DAGSTER_HOME. Without one, as for `dagster dev`, apart from
    what `lakehouse up` runs: two daemons on one history would quarrel.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        # Not the parent's own, which would open it Dagster's way.
        super(DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]
        self.base_dir, self._inst_data = base_dir, inst_data
        self._run_storage = Runs.from_local(os.path.join(base_dir, "history", ""))
        self._event_log_storage = Events(os.path.join(base_dir, "history", "runs", ""))
        self._schedule_storage = Schedules.from_local(os.path.join(base_dir, "schedules"))

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        return {}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "SqliteHistory":
        home = os.environ.get("DAGSTER_HOME") or str(settings.home() / "dagster-dev")
        return cls.from_local(home, inst_data)
