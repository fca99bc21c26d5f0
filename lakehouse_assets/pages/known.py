"""Every check there is, as Dagster's definitions tell them: of the tables, and of what stands
beside them (the shop's database, files that are left for others).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import dagster as dg

from lakehouse_assets.lake.contract import Rule
from lakehouse_assets.lake.table import LakeTable


@dataclass(frozen=True)
class Known:
    """A check. `rule` is None for what is no rule over single rows."""

    asset: str  # the asset key's parts with dots: a table's name
    name: str
    doc: str
    rule: Rule | None = None

    @property
    def key(self) -> dg.AssetCheckKey:
        return dg.AssetCheckKey(dg.AssetKey(self.asset.split(".")), self.name)


@dataclass
class Asset:
    """What has checks: nearly always a table."""

    name: str
    owner: str
    source: str
    table: LakeTable | None
    checks: list[Known] = field(default_factory=list)


def assets() -> dict[str, Asset]:
    """By name, tables first, parents before children."""
    from lakehouse_assets.definitions import defs, tables

    made = [one for one in [*(defs.assets or ()), *(defs.asset_checks or ())]
            if isinstance(one, dg.AssetsDefinition)]  # fmt: skip
    said = {_name(spec.key): spec for spec in _specs(defs)}
    found: dict[str, Asset] = {}
    for name, table in tables().items():
        found[name] = Asset(name, ", ".join(said[name].owners), table.group, table)
    for spec in [spec for one in made for spec in one.check_specs]:
        name = _name(spec.asset_key)
        if name not in found:
            asset = said[name]
            owner = ", ".join(asset.owners) or f"team:{asset.group_name}"
            found[name] = Asset(name, owner, asset.group_name or "", None)
        rule = _rule(found[name].table, spec.name)
        found[name].checks.append(Known(name, spec.name, spec.description or "", rule))
    return found


def _rule(table: LakeTable | None, name: str) -> Rule | None:
    rules = table.contract.all_rules() if table else ()
    return next((rule for rule in rules if rule.name == name), None)


def _specs(defs: dg.Definitions) -> Iterator[dg.AssetSpec]:
    for one in defs.assets or ():
        if isinstance(one, dg.AssetSpec):
            yield one
        elif isinstance(one, dg.AssetsDefinition):
            yield from one.specs


def _name(key: dg.AssetKey) -> str:
    return ".".join(key.path)
