"""The sources side by side: how fresh each is, what waits, what was set aside, who owns it."""

from collections import Counter
from datetime import datetime, timezone
from typing import Any

from lakehouse_assets.lake.head import Head
from lakehouse_assets.pages.feeds import Lag, SetAside
from lakehouse_assets.pages.known import Asset, Known
from lakehouse_assets.pages.verdict import FAILED, WARNED, Verdict


def told_of_sources(
    assets: dict[str, Asset], heads: dict[str, Head], lags: dict[str, Lag],
    found: dict[Known, Verdict], set_aside: list[SetAside],
) -> list[dict[str, Any]]:  # fmt: skip
    """Those that have raw tables, in the tables' order."""
    names = dict.fromkeys(a.source for a in assets.values() if a.table and a.table.topic)
    return [_told(name, assets, heads, lags, found, set_aside) for name in names]


def _told(
    name: str, assets: dict[str, Asset], heads: dict[str, Head], lags: dict[str, Lag],
    found: dict[Known, Verdict], set_aside: list[SetAside],
) -> dict[str, Any]:  # fmt: skip
    mine = [asset for asset in assets.values() if asset.source == name]
    raw = [asset.name for asset in mine if asset.table and asset.table.topic]
    begun = [heads[one] for one in raw if one in heads and heads[one].stamp.commit]
    newest = max((head.published_ms for head in begun), default=None)
    known = [lags[one] for one in raw if one in lags]
    unread = [lag.unread for lag in known if lag.unread is not None]
    states = Counter(found[one].state for asset in mine for one in asset.checks)
    is_told = bool(known) and len(unread) == len(known)
    return {
        "source": name,
        "owner": ", ".join(dict.fromkeys(asset.owner for asset in mine)),
        "tables": len([a for a in mine if a.table]),
        "made": len([a for a in mine if a.name in heads]),
        "newest_at": datetime.fromtimestamp(newest / 1000, timezone.utc).isoformat(
            timespec="seconds") if newest else None,
        "unread": sum(unread) if is_told else None,
        "late": [one for one in raw if one in lags and lags[one].is_late],
        "notes": list(dict.fromkeys(lag.note for lag in known if lag.note)),
        "set_aside": sum(one.records for one in set_aside if one.table in raw),
        FAILED: states[FAILED],
        WARNED: states[WARNED],
    }  # fmt: skip
