"""semantic.dispute_lifecycle: one row per dispute; its way through the states, illegal steps too.

Staging holds every event of a dispute in its provider's words. Here they are one path, by
`updated_at`, then `event_id`, so that every order of arrival ends in the same row. An event of the
state it already stands in is no step, nor is one whose word nobody knows: that is counted, and the
dispute stands where it stood. A step that a dispute may not take, a begin in the middle among
them, is kept and counted. Attributes are those of the last event, whatever earlier ones said. No
clock is asked: a stay counts when it has ended. An event's dispute and `created_at` never change.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Layout, Rule, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.vocabulary import meant, minor_units, units
from lakehouse_assets.sources.payments.providers import (
    CURRENCIES,
    DISPUTE_STATUSES,
    DISPUTE_STEPS,
    PROVIDERS,
)
from lakehouse_assets.staging.stg_payment_disputes import stg_payment_disputes

STATES = tuple(state for state in DISPUTE_STEPS if state)
FINAL = tuple(state for state in STATES if not DISPUTE_STEPS[state])
LAST_WORD = (
    "event_id", "provider", "charge_id", "customer_id", "merchant_id", "currency",
    "provider_amount", "reason", "network_reason_code", "case_number", "provider_status",
    "evidence_due_at", "created_at", "updated_at",
)  # fmt: skip
# Of the events, in order: those that say a state we know, those that enter another, its stay there.
KNOWN = "filter(told, e -> e.state is not null)"
ENTRIES = "filter(known, (e, i) -> not (e.state <=> get(known, i - 1).state))"
STAYS = """
    transform(entries, (e, i) -> struct(
        e.state,
        coalesce(get(entries, i - 1).state, '') as came_from,
        e.updated_at as entered_at,
        get(entries, i + 1).updated_at as left_at
    ))"""


class DisputeLifecycle(Table):
    dispute_id = column("string", "The provider's id of the dispute.", key=True)
    event_id = column("string", "The event that had the last word.")
    provider = column("string", "Who sends it, upper case.", isin=PROVIDERS)
    charge_id = column("string", "The charge that is disputed; it may be unknown.")
    customer_id = column("string", "Who disputes it.", nullable=True)
    merchant_id = column("string", "Who answers.", nullable=True)
    currency = column("string", "ISO 4217, upper case.", isin=tuple(CURRENCIES))
    amount = column("decimal(12,2)", "At stake, in units of `currency`.", ge=0)
    amount_minor = column("bigint", "The same in the currency's smallest unit.", ge=0)
    reason = column("string", "Why, one of a few words.", nullable=True)
    network_reason_code = column("string", "The card network's code.", nullable=True)
    case_number = column("string", "Whole, or NULL.", nullable=True)
    status = column("string", "The last state that anyone knows.", isin=STATES, nullable=True)
    provider_status = column("string", "The last event's own word, lower case.")
    steps = column("string", "The states it entered, as in `warning>lost`.", nullable=True)
    transitions = column("int", "Its steps, the first into a state among them.")
    illegal_transitions = column("int", "Those that it may not take.")
    is_illegal = column("boolean", "Whether there is one.")
    unknown_statuses = column("int", "Events whose word nobody knows.")
    events = column("int", "Events that tell of it.")
    opened_at = column("timestamp", "Its first event that we have, UTC.")
    closed_at = column("timestamp", "When it came to its end; NULL: open, UTC.", nullable=True)
    warning_s = column(
        "bigint", "Whole seconds in warning, stays that ended; NULL: none did.", nullable=True
    )
    needs_response_s = column("bigint", "The same in needs_response.", nullable=True)
    under_review_s = column("bigint", "The same in under_review.", nullable=True)
    evidence_due_at = column("timestamp", "Until when it may be handed in, UTC.", nullable=True)
    is_evidence_late = column(
        "boolean", "Whether its review began after that; NULL: nobody can tell.", nullable=True
    )
    created_at = column("timestamp", "When it was opened, UTC.")
    updated_at = column("timestamp", "When the provider last changed it, UTC.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=recompute_keys(at="created_at"),
        unique_text=("dispute_id", "event_id"),
    )
    rules = (
        Rule("transitions_legal", "not is_illegal", "it went only where it may", 0.2),
        Rule("statuses_known", "unknown_statuses = 0", "the provider's words are ours", 0.01),
    )


def transform(events: DataFrame) -> DataFrame:
    state = F.expr(meant(DISPUTE_STATUSES, "provider", "provider_status"))
    last_word = f"max_by(struct({', '.join(LAST_WORD)}), struct(updated_at, event_id))"
    in_order = "sort_array(collect_list(struct(updated_at, event_id, state)))"
    disputes = (
        events.withColumn("state", state)
        .groupBy("dispute_id")
        .agg(F.expr(last_word).alias("last"), F.expr(in_order).alias("told"))
        .withColumn("known", F.expr(KNOWN))
        .withColumn("entries", F.expr(ENTRIES))
        .withColumn("stays", F.expr(STAYS))
        .withColumn("stands", F.expr("try_element_at(stays, -1)"))
        .withColumn("illegal_transitions", F.expr(f"size(filter(stays, s -> not {legal('s')}))"))
    )
    amount = ("last.provider_amount", "last.provider", "last.currency")
    return disputes.selectExpr(
        "dispute_id",
        *[f"last.{c}" for c in LAST_WORD if c != "provider_amount"],
        f"{units(*amount)} as amount",
        f"{minor_units(*amount)} as amount_minor",
        "stands.state as status",
        "nullif(array_join(stays.state, '>'), '') as steps",
        "size(stays) as transitions",
        "illegal_transitions",
        "illegal_transitions > 0 as is_illegal",
        "size(told) - size(known) as unknown_statuses",
        "size(told) as events",
        "told[0].updated_at as opened_at",
        f"if(stands.state in {FINAL}, stands.entered_at, null) as closed_at",
        *[f"{seconds_in(s)} as {s}_s" for s in ("warning", "needs_response", "under_review")],
        "get(filter(stays, s -> s.state = 'under_review'), 0).entered_at > last.evidence_due_at"
        " as is_evidence_late",
    )


def legal(stay: str) -> str:
    """SQL: the state may be entered from the one before."""
    steps = [f"when '{a}' then {stay}.state in {b}" for a, b in DISPUTE_STEPS.items() if b]
    return f"case {stay}.came_from {' '.join(steps)} else false end"


def seconds_in(state: str) -> str:
    """SQL: all stays there that ended, added and then cut to whole seconds; NULL if none did."""
    return f"""aggregate(
        filter(stays, s -> s.state = '{state}' and s.left_at is not null),
        cast(null as bigint),
        (sum, s) -> coalesce(sum, 0L) + unix_micros(s.left_at) - unix_micros(s.entered_at),
        sum -> sum div 1000000
    )"""


dispute_lifecycle = table_asset(DisputeLifecycle, transform, events=stg_payment_disputes)
