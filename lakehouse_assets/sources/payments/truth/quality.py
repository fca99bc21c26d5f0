"""How dirty the feeds are: how many raw records break each rule, by topic, provider and hour.

Nothing is refused here. A rule cannot judge what a record does not say, unless it asks for just
that; of a record that did not parse nothing is known but that.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from lakehouse_assets.sources.payments.providers import INTERVALS, REFUND_REASONS
from lakehouse_assets.sources.payments.record import (
    CHARGES,
    CUSTOMERS,
    DISPUTES,
    MERCHANTS,
    REFUNDS,
    SUBSCRIPTIONS,
)
from lakehouse_assets.sources.payments.truth.meaning import Tables
from lakehouse_assets.sources.payments.truth.raw import Row
from lakehouse_assets.sources.payments.truth.staging import NULL_SPELLINGS, upper

HOURLY, DAILY = "analytics.payment_quality_hourly", "analytics.payment_quality_daily"
KEYS: dict[str, tuple[str, ...]] = {
    HOURLY: ("topic", "rule", "provider", "ingest_hour"),
    DAILY: ("topic", "rule", "provider", "arrived_on"),
}
LONGEST = 6  # bytes of a spelling of nothing, the spaces around it counted

Holds = Callable[[Row], bool]


def said(row: Row, path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = None if value is None else value[name]
    return value


def says_nothing(value: str | None) -> bool:
    """There is text, but it only spells that there is nothing."""
    if value is None or len(value.encode("utf-8", "surrogatepass")) > LONGEST:
        return False
    return value.strip(" ").lower() in NULL_SPELLINGS


def none_spelled(*paths: str) -> Holds:
    return lambda row: not any(says_nothing(said(row, path)) for path in paths)


def there(path: str) -> Holds:
    def holds(row: Row) -> bool:
        value = said(row, path)
        return bool(row["error"]) or (value is not None and not says_nothing(value))

    return holds


def as_agreed(column: str, words: Iterable[str]) -> Holds:
    known = (None, *words)
    return lambda row: row[column] in known or says_nothing(row[column])


def countries(*columns: str) -> Holds:
    def is_country(value: str | None) -> bool:
        return value is None or says_nothing(value) or bool(re.fullmatch("[A-Z]{2}", value))

    return lambda row: all(is_country(row[column]) for column in columns)


def upper_case(row: Row) -> bool:
    return row["currency"] is None or row["currency"] == row["currency"].upper()


def whole_case_number(row: Row) -> bool:
    number = row["case_number"] or ""
    return bool(row["error"]) or bool(re.fullmatch("CB-[0-9]{4}-[0-9]{6}", number))


def dated_trial(row: Row) -> bool:
    in_trial = (row["status"] or "").strip(" ").lower() == "trialing"
    return not in_trial or None not in (row["trial_start_at"], row["trial_end_at"])


def discounted_by_code(row: Row) -> bool:
    return row["discount_percent"] is None or there("promo_code")(row)


PARSES: dict[str, Holds] = {"parses": lambda row: not row["error"]}
RULES: dict[str, dict[str, Holds]] = {
    CHARGES.topic: PARSES | {
        "null_spellings": none_spelled(
            "customer_id", "currency", "failure_code", "failure_message", "card_brand",
            "card_country", "billing_country", "billing_postal_code", "description", "risk_level",
            "metadata.subscription_id",
        ),
        "country_codes": countries("card_country", "billing_country"),
        "postal_codes_present": there("billing_postal_code"),
        "currency_case": upper_case,
    },
    REFUNDS.topic: PARSES | {
        "status_present": there("status"),
        "reason_vocabulary": as_agreed("reason", REFUND_REASONS),
        "support_ticket_present": there("metadata.support_ticket_id"),
    },
    DISPUTES.topic: PARSES | {
        "evidence_metadata_present": there("evidence.metadata.submitted_by"),
        "currency_present": there("currency"),
        "case_numbers_whole": whole_case_number,
    },
    SUBSCRIPTIONS.topic: PARSES | {
        "trial_dates_present": dated_trial,
        "promo_codes_present": discounted_by_code,
        "interval_vocabulary": as_agreed("plan_interval", INTERVALS),
    },
    CUSTOMERS.topic: PARSES | {
        "null_spellings": none_spelled("name", "email", "country", "segment"),
    },
    MERCHANTS.topic: PARSES | {"null_spellings": none_spelled("name", "category", "country")},
}  # fmt: skip


def tables(staged: Tables) -> Tables:
    hourly = [row for topic in RULES for row in _hourly(topic, staged[f"raw.{topic}"])]
    return {HOURLY: hourly, DAILY: _daily(hourly)}


def _hourly(topic: str, records: Iterable[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for record in records:
        groups[upper(record.get("provider")), record["ingest_hour"]].append(record)
    return [
        {
            "topic": topic,
            "rule": rule,
            "provider": provider,
            "ingest_hour": hour,
            "rows": len(group),
            "failures": sum(not holds(record) for record in group),
        }
        for (provider, hour), group in groups.items()
        for rule, holds in RULES[topic].items()
    ]


def _daily(hourly: Iterable[Row]) -> list[Row]:
    sums: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0])
    for row in hourly:
        counted = sums[row["topic"], row["rule"], row["provider"], row["ingest_hour"].date()]
        counted[0] += row["rows"]
        counted[1] += row["failures"]
    return [
        dict(zip(KEYS[DAILY], key, strict=True))
        | {"rows": rows, "failures": failures, "share": failures / rows}
        for key, (rows, failures) in sums.items()
    ]
