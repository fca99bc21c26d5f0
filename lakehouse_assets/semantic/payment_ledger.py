"""semantic.payment_ledger: one row per movement of money: charge, refund, dispute or reversal.

Signed as the merchant sees it: a charge and a reversal bring money in, a refund and a dispute take
it out, so the sum over a charge is what is left of it. The last word of each thing decides: the
greatest `updated_at`, then `event_id`, even after an illegal step. A charge or a refund moves money
when it succeeded; a dispute when it is a chargeback, open or decided, while a warning withdraws
nothing; winning it gives the money back. A later word may take a movement away again, and a word
that nobody knows moves nothing.

Each row is as its own last word tells, and nothing is looked up in the charge: a refund before its
charge, above it or in another currency and a dispute of an unknown charge are rows like any other.
So is one without a currency: what only a currency tells, `amount` or `amount_minor`, is NULL then,
and a rule counts it. Amounts below zero never get here: staging sets them aside. Nothing is summed.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.contract import Across, Layout, Rule, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.payments import payments as semantic_payments
from lakehouse_assets.semantic.vocabulary import meant, minor_units, units
from lakehouse_assets.sources.payments.providers import (
    DISPUTE_STATUSES,
    PROVIDERS,
    REFUND_STATUSES,
    Meanings,
)
from lakehouse_assets.staging.stg_payment_disputes import stg_payment_disputes
from lakehouse_assets.staging.stg_payment_refunds import stg_payment_refunds

IN, OUT = ("charge", "reversal"), ("refund", "dispute")
WITHDRAWN = ("needs_response", "under_review", "won", "lost")  # what a chargeback goes through
MOVES = {  # by parent: the thing it tells of, and the movements that one can make
    "payments": ("charge_id", ("charge",)),
    "refunds": ("refund_id", ("refund",)),
    "disputes": ("dispute_id", ("dispute", "reversal")),
}
SAID = ("charge_id", "provider", "merchant_id", "customer_id", "currency", "created_at")


LEDGER = "semantic.payment_ledger"
GRACE = "interval 3 days"  # so late may a charge be heard of


def _of_known_charges(kind: str) -> Across:
    return Across(
        f"{kind}s_of_known_charges",
        f"""select movement_id, charge_id, moved_at from {LEDGER}
            left anti join semantic.payments using (charge_id) where kind = '{kind}'
            and moved_at < (select max(moved_at) - {GRACE} from {LEDGER})""",
        f"the charge is heard of within {GRACE.removeprefix('interval ')}",
        threshold=0.01,
        of=f"{LEDGER} where kind = '{kind}'",
    )


def _words_known(topic: str, statuses: Meanings) -> Across:
    """A word that nobody knows moves nothing, so that no row of the ledger could tell of it."""
    return Across(
        f"words_of_{topic}_known",
        f"""select event_id, provider, provider_status from staging.stg_payment_{topic}
            where {meant(statuses, "provider", "provider_status")} is null""",
        "the provider's word is one we know",
        threshold=0.01,
        of=f"staging.stg_payment_{topic}",
    )


class PaymentLedger(Table):
    movement_id = column("string", "Its kind, a colon, and the id of the thing.", key=True)
    kind = column("string", "charge, refund, dispute or reversal.", isin=(*IN, *OUT))
    charge_id = column("string", "The charge it is about; it may be unknown.")
    provider = column("string", "Who moved it.", isin=PROVIDERS)
    merchant_id = column("string", "Whose money it is, if the thing says so.", nullable=True)
    customer_id = column("string", "Who paid, or gets it back.", nullable=True)
    currency = column("string", "ISO 4217; it may differ from the charge's.", nullable=True)
    amount = column("decimal(12,2)", "In units of `currency`, signed.", nullable=True)
    amount_minor = column("bigint", "In its smallest unit, signed.", nullable=True)
    created_at = column("timestamp", "When the charge, refund or dispute was made, UTC.")
    moved_at = column("timestamp", "When its last word was said, UTC.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=recompute_keys(at="created_at"),
        unique_text=("movement_id", "charge_id"),
    )
    rules = (
        Rule("amount_known", "amount_minor is not null and amount is not null",
             "a currency tells how much it is", 0.05),
        Rule("sign_of_its_kind", f"amount_minor * if(kind in {IN}, 1, -1) >= 0",
             "charges and reversals come in, refunds and disputes go out"),
    )  # fmt: skip
    across = (
        *[_of_known_charges(kind) for kind in OUT],
        Across(
            "refunds_within_their_charge",
            f"""select charge_id, m.currency, sum(m.amount_minor) as left_minor from {LEDGER} m
                join semantic.payments c using (charge_id) where m.kind in ('charge', 'refund')
                and (m.currency <=> c.currency or not c.status <=> 'succeeded')
                group by charge_id, m.currency, c.status
                having left_minor < 0 and (c.status in ('succeeded', 'failed') or
                max(m.moved_at) < (select max(moved_at) - {GRACE} from {LEDGER}))""",
            "no more is refunded than was charged, and nothing of a charge that did not succeed, "
            f"where that is heard of within {GRACE.removeprefix('interval ')}",
            threshold=0.01,
            of=f"{LEDGER} where kind = 'refund'",
        ),
        Across(
            "in_the_charges_currency",
            f"""select m.movement_id, m.currency, c.currency as charged_in from {LEDGER} m
                join {LEDGER} c on c.movement_id = concat('charge:', m.charge_id)
                where m.currency != c.currency""",
            "money goes out in the currency in which it came in",
            threshold=0.01,
            of=f"{LEDGER} where kind != 'charge'",
        ),
        _words_known("refunds", REFUND_STATUSES),
        _words_known("disputes", DISPUTE_STATUSES),
    )


def transform(payments: DataFrame, refunds: DataFrame, disputes: DataFrame) -> DataFrame:
    refund = _last_words(refunds, "refund_id", REFUND_STATUSES)
    dispute = _last_words(disputes, "dispute_id", DISPUTE_STATUSES)
    moved = (
        _movements("charge", "charge_id", payments.where("status = 'succeeded'"))
        .unionAll(_movements("refund", "refund_id", refund.where("status = 'succeeded'")))
        .unionAll(_movements("dispute", "dispute_id", dispute.where(f"status in {WITHDRAWN}")))
        .unionAll(_movements("reversal", "dispute_id", dispute.where("status = 'won'")))
    )
    return moved.select(*PaymentLedger.columns)


def _last_words(events: DataFrame, thing: str, statuses: Meanings) -> DataFrame:
    said = F.struct("updated_at", "event_id", "provider_amount", "provider_status", *SAID)
    last = events.groupBy(thing).agg(F.max(said).alias("last")).select(thing, "last.*")
    return last.withColumns({
        "status": F.expr(meant(statuses, "provider", "provider_status")),
        "amount": F.expr(units("provider_amount", "provider", "currency")),
        "amount_minor": F.expr(minor_units("provider_amount", "provider", "currency")),
    })  # fmt: skip


def _movements(kind: str, thing: str, things: DataFrame) -> DataFrame:
    sign = "-" if kind in OUT else ""
    return things.select(
        F.expr(f"concat('{kind}:', {thing})").alias("movement_id"),
        F.lit(kind).alias("kind"),
        *SAID,
        F.expr(f"{sign}amount").alias("amount"),
        F.expr(f"{sign}amount_minor").alias("amount_minor"),
        F.col("updated_at").alias("moved_at"),
    )


def mentions(name: str, news: DataFrame, _: dict[str, DataFrame]) -> DataFrame:
    """Whatever is said of a thing now, a movement of it may stand from before."""
    thing, kinds = MOVES[name]
    touched = F.array(*[F.expr(f"concat('{kind}:', {thing})") for kind in kinds])
    return news.select(F.explode(touched).alias("movement_id"), "created_at")


payment_ledger = table_asset(
    PaymentLedger,
    transform,
    mentions=mentions,
    payments=semantic_payments,
    refunds=stg_payment_refunds,
    disputes=stg_payment_disputes,
)
