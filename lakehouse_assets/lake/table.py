"""A lake table: a contract, the function that makes its rows, and the tables those come from."""

import ast
import hashlib
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.contract import Table

if TYPE_CHECKING:
    from datetime import date

    from pyspark.sql import DataFrame

    from lakehouse_assets.lake.head import Head

    Transform = Callable[..., Any]  # a frame; of a table of kind `own` two
    Mentions = Callable[[str, DataFrame, dict[str, DataFrame]], DataFrame]
    Source = Callable[[dict[str, Head], dict[str, int]], list["Told"]]

ENGINE = "lakehouse_assets.lake."
ALL = "_all"  # a column that mentions may have: true where news touch every row there is
Told = dict[str, object]  # a row of a table about the lake, by column


@dataclass(frozen=True, eq=False)
class LakeTable:
    """One table of the lake. Exactly one of `topic`, `transform`, `source` and `daily` makes its
    rows.
    """

    contract: type[Table]
    group: str
    topic: str = ""
    transform: "Transform | None" = None
    parents: "dict[str, LakeTable]" = field(default_factory=dict)
    source: "Source | None" = None
    daily: "Callable[[date], list[Told]] | None" = None  # tells once a day, UTC
    mentions: "Mentions | None" = None  # keys that a parent's news touch, if not by name
    rebuilt_with: "tuple[LakeTable, ...]" = ()  # not read, but whose rebuild means one here too

    @property
    def name(self) -> str:
        return self.contract.name

    @property
    def layer(self) -> str:
        return self.name.split(".")[0]

    @property
    def hourly(self) -> bool:
        """Raw and what is made of it alone are partitioned by hour in Dagster; nothing else is."""
        above = self.parents.values()
        return self.layer == "raw" or (self.layer == "staging" and all(p.topic for p in above))

    @property
    def upstream(self) -> "tuple[LakeTable, ...]":
        """What has to be made before it: what it reads, and what it is rebuilt with."""
        return (*self.parents.values(), *self.rebuilt_with)

    @property
    def removes(self) -> bool:
        """Its rows may disappear: who reads it by its news alone would not see that."""
        stays = self.contract.layout.scope.kind in ("newest", "log")
        return self.transform is not None and not stays

    def code_version(self) -> str:
        """Changes when the contract or the code that makes the rows does: the function, its file,
        and the files from which that takes names, and those in turn. The engine's are left out,
        and so is a file of which only the table or its contract is taken: a child does not change
        with its parent.
        """
        made_by = self.transform or self.source or self.daily or self.contract
        files = _with_helpers(made_by.__module__, {})
        code = [inspect.getsource(made_by), *[files[n] for n in sorted(files)]]
        columns = repr([self.contract.columns, self.contract.layout, self.contract.all_rules()])
        return hashlib.sha256("".join([columns, *code]).encode()).hexdigest()[:12]


def _with_helpers(module: str, files: dict[str, str]) -> dict[str, str]:
    """The texts of a module and of ours that it takes names from, by the modules' names."""
    files[module] = inspect.getsource(sys.modules[module])
    for origin, name in _imports(files[module]):
        if origin.split(".")[0] == module.split(".")[0]:
            value = getattr(importlib.import_module(origin), name, None)
            taken = value.__name__ if isinstance(value, ModuleType) else origin
            kind = value if isinstance(value, type) else type(value)
            known = taken in files or f"{taken}.".startswith(ENGINE)
            if not (known or issubclass(kind, LakeTable | Table)):
                _with_helpers(taken, files)
    return files


@cache
def _imports(code: str) -> list[tuple[str, str]]:
    """Each import in it: a module, and the name that is taken from there."""
    found = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Import | ast.ImportFrom)]
    return [(getattr(n, "module", None) or a.name, a.name) for n in found for a in n.names]


def raw_table(contract: type[Table], *, topic: str, group: str) -> LakeTable:
    """A topic's raw table: every record of it, once."""
    return LakeTable(contract, group, topic=topic)


def table_asset(
    contract: type[Table],
    transform: "Transform",
    *,
    group: str = "",
    mentions: "Mentions | None" = None,
    rebuilt_with: tuple[LakeTable, ...] = (),
    **parents: LakeTable,
) -> LakeTable:
    """A table made from others; `transform` takes their frames under the parents' names here."""
    if not contract.key():
        raise ValueError(
            f"{contract.name}: no column is a key; a table without a key is not a table"
        )
    group = group or next(iter(parents.values())).group
    return LakeTable(
        contract, group, transform=transform, parents=parents, mentions=mentions,
        rebuilt_with=rebuilt_with,
    )  # fmt: skip


def metadata_table(contract: type[Table], source: "Source") -> LakeTable:
    """A table about the lake itself: `source` tells its rows from the other tables' heads.

    It is also given, for a log, the commits that it has told of already.
    """
    return LakeTable(contract, "metadata", source=source)


def discover(packages: Iterable[ModuleType]) -> dict[str, LakeTable]:
    """Every table of the layers' packages by name, parents before children."""
    found: dict[str, LakeTable] = {}
    for package in packages:
        for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
            members = vars(importlib.import_module(f"{package.__name__}.{module}")).values()
            several = [one.values() for one in members if isinstance(one, dict)]
            for table in chain(members, *several):
                if isinstance(table, LakeTable) and table.contract.__module__.endswith(module):
                    found[table.name] = table
    return dict(sorted(found.items(), key=lambda item: (_depth(item[1]), item[0])))


def _depth(table: LakeTable) -> int:
    if table.source is not None:
        return 1_000  # tables about the lake come last: they tell what the others did
    above = [*table.parents.values(), *table.rebuilt_with]
    return 1 + max((_depth(p) for p in above), default=0)
