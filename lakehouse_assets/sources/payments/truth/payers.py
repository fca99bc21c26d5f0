"""What each mailbox paid on a day.

The mailbox that is meant: trimmed, lower case, without what follows the first `+` of the local
part. Not one `@` between something and a name with a dot: none.
"""

import re
from collections import defaultdict
from datetime import date

from lakehouse_assets.sources.payments.truth.meaning import Tables
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets.sources.payments.truth.raw import Row

PAYERS = "analytics.payer_days"
KEYS: dict[str, tuple[str, ...]] = {PAYERS: ("charged_on", "email_normalized")}
EMAIL = re.compile(r"([^ \t\r\n@]+)@([^ \t\r\n@.]+(?:\.[^ \t\r\n@.]+)+)")


def tables(staged: Tables) -> Tables:
    days: dict[tuple[date, str], list[Row]] = defaultdict(list)
    for charge in staged[PAYMENTS]:
        if payer := mailbox(charge["user_email"]):
            days[charge["created_at"].date(), payer].append(charge)
    return {PAYERS: [_day(*key, days[key]) for key in sorted(days)]}


def mailbox(email: str | None) -> str | None:
    found = EMAIL.fullmatch((email or "").strip(" ").lower())
    local = found[1].partition("+")[0] if found else ""
    return f"{local}@{found[2]}" if found and local else None


def _day(day: date, payer: str, charges: list[Row]) -> Row:
    risks = [charge["risk_score"] for charge in charges if charge["risk_score"] is not None]
    return {
        "charged_on": day,
        "email_normalized": payer,
        "charges": len(charges),
        "succeeded": sum(charge["status"] == "succeeded" for charge in charges),
        "failed": sum(charge["status"] == "failed" for charge in charges),
        "max_risk_score": max(risks, default=None),
        "last_charge_at": max(charge["created_at"] for charge in charges),
    }
