"""marts.customer_360: one row per entity, with all that is known of the person.

The page that support, sales and fraud look at: how they are called and reached, under which ids the
systems know them, what they ordered and paid, what they bought in the web shop (`storefront_…`),
and what the payments system knows of the same mailboxes, but for those of roles and those on too
many records to tell a person, which would count for all who have them. Of names the one in the
newest record stands; mailboxes and numbers are all there.

`lifecycle_stage` is what HubSpot says of them; of whom it says nothing it is `customer` if they
ordered, wherever, else `lead`. What the web shop and the payments system tell comes by itself when
these change, some minutes later. Nothing is summed over people, nor over shops.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.analytics.customer_metrics import BANDS, SUM, customer_metrics
from lakehouse_assets.analytics.payer_days import payer_days
from lakehouse_assets.analytics.storefront_customer_metrics import storefront_customer_metrics
from lakehouse_assets.lake.contract import Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.blocking_index import blocking_index
from lakehouse_assets.semantic.entity_index import SOURCES, entity_index
from lakehouse_assets.semantic.matching import too_many
from lakehouse_assets.staging.stg_hubspot_contacts import stg_hubspot_contacts

METRICS = (
    "currency", "orders", "first_order_at", "last_order_at", "gross_amount", "refunded_amount",
    "net_amount", "average_order_amount", "days_since_last_order", "payments_succeeded",
    "payments_failed", "churn_band",
)  # fmt: skip
PAID = ("provider_charges", "provider_succeeded", "provider_failed")
BOUGHT = ("segment", "currency", "orders", "first_order_at", "last_order_at", "net_amount")


class Customer360(Table):
    entity_id = column("string", "The person.", key=True)
    full_name = column("string", "As the newest record calls them.", nullable=True, pii=True)
    emails = column("array<string>", "Their mailboxes, sorted.", pii=True)
    phones = column("array<string>", "Their numbers in E.164, sorted.", pii=True)
    companies = column("array<string>", "Whom HubSpot says they work for, sorted.")
    shopify_ids = column("array<string>", "Shopify's ids of them, sorted.")
    stripe_ids = column("array<string>", "Stripe's.")
    hubspot_ids = column("array<string>", "HubSpot's.")
    storefront_ids = column("array<string>", "The web shop's.")
    lifecycle_stage = column("string", "lead, opportunity, customer, …")
    currency = column("string", "In which they ordered most; of the amounts.", nullable=True)
    orders = column("bigint", "Shopify's orders, in any currency.", ge=0)
    first_order_at = column("timestamp", "The first, UTC.", nullable=True)
    last_order_at = column("timestamp", "The last, UTC.", nullable=True)
    gross_amount = column(SUM, "What the orders came to, in `currency`.", ge=0)
    refunded_amount = column(SUM, "What was paid back of them.", ge=0)
    net_amount = column(SUM, "What is left.")
    average_order_amount = column(SUM, "Gross by orders, half up.", ge=0, nullable=True)
    days_since_last_order = column("int", "By the day `as_of`.", nullable=True)
    payments_succeeded = column("bigint", "Stripe's charges that went through.", ge=0)
    payments_failed = column("bigint", "Those that did not.", ge=0)
    churn_band = column("string", "low, medium or high.", isin=BANDS, nullable=True)
    storefront_segment = column("string", "What the web shop takes them for.", nullable=True)
    storefront_currency = column("string", "In which they ordered most there.", nullable=True)
    storefront_orders = column("bigint", "Orders there, in any currency.", ge=0)
    storefront_first_order_at = column("timestamp", "The first there, UTC.", nullable=True)
    storefront_last_order_at = column("timestamp", "The last there, UTC.", nullable=True)
    storefront_net_amount = column(SUM, "What they brought, in `storefront_currency`.", ge=0)
    provider_charges = column("bigint", "What the payments system has of their mailboxes.", ge=0)
    provider_succeeded = column("bigint", "Those of them that went through.", ge=0)
    provider_failed = column("bigint", "Those that did not.", ge=0)
    max_risk_score = column("int", "The greatest risk of them, 0 to 100.", nullable=True)
    last_charge_at = column("timestamp", "The last of them, UTC.", nullable=True)
    last_activity_at = column("timestamp", "When anything of theirs was last heard of, UTC.",
                              nullable=True)  # fmt: skip

    layout = Layout(scope=recompute_keys(by=("entity_id",), was=True))


def transform(
    entities: DataFrame, contacts: DataFrame, metrics: DataFrame, payers: DataFrame,
    shop: DataFrame, blocks: DataFrame,
) -> DataFrame:  # fmt: skip
    people = entities.groupBy("entity_id").agg(
        _newest("full_name", "source, source_id").alias("full_name"),
        _all("email_normalized").alias("emails"),
        _all("phone_normalized").alias("phones"),
        *[_all(f"if(source = '{source}', source_id, null)").alias(f"{source}_ids")
          for source in SOURCES],
        F.max("updated_at").alias("updated_at"),
    )  # fmt: skip
    told = people.join(_known_to_hubspot(entities, contacts), "entity_id", how="left")
    told = told.join(metrics.select("entity_id", *METRICS), "entity_id", how="left")
    told = told.join(_charged(blocks, payers), "entity_id", how="left")
    bought = [F.col(name).alias(f"storefront_{name}") for name in BOUGHT]
    told = told.join(shop.select("entity_id", *bought), "entity_id", how="left")
    zero = {c: F.coalesce(c, F.lit(0)) for c in (
        "orders", "payments_succeeded", "payments_failed", "storefront_orders", *PAID
    )}  # fmt: skip
    sums = {c: F.coalesce(c, F.lit(0)).cast(SUM) for c in (
        "gross_amount", "refunded_amount", "net_amount", "storefront_net_amount"
    )}  # fmt: skip
    others = {
        "companies": F.coalesce("companies", F.expr("cast(array() as array<string>)")),
        "lifecycle_stage": F.expr(
            "coalesce(stage, if(greatest(orders, storefront_orders) > 0, 'customer', 'lead'))"
        ),
        "last_activity_at": F.greatest(
            "updated_at", "last_order_at", "last_charge_at", "storefront_last_order_at"
        ),
    }
    return told.withColumns(others | zero | sums).select(*Customer360.columns)


def _all(what: str) -> Column:
    """Every value there is, once, sorted."""
    return F.array_sort(F.collect_set(F.expr(what)))


def _newest(what: str, tie: str) -> Column:
    """What the newest record says that says anything."""
    when = f"max_by({what}, struct(updated_at, {tie}))"
    return F.expr(f"{when} filter (where {what} is not null)")


def _known_to_hubspot(entities: DataFrame, contacts: DataFrame) -> DataFrame:
    theirs = entities.where("source = 'hubspot'").select(
        "entity_id", F.col("source_id").alias("contact_id")
    )
    known = contacts.join(theirs, "contact_id", how="inner")
    return known.groupBy("entity_id").agg(
        _all("company_name").alias("companies"),
        _newest("lifecycle_stage", "contact_id").alias("stage"),
    )


def _charged(blocks: DataFrame, payers: DataFrame) -> DataFrame:
    """By mailboxes of their own."""
    own_mail = blocks.where(f"key_type = 'email' and not {too_many('block_size')}")
    theirs = own_mail.groupBy("entity_id", F.col("blocking_key").alias("email_normalized")).agg(
        F.count(F.lit(1))
    )
    own = payers.join(theirs, "email_normalized", how="inner")
    sums = zip(("charges", "succeeded", "failed"), PAID, strict=True)
    return own.groupBy("entity_id").agg(
        *[F.sum(told).alias(name) for told, name in sums],
        F.max("max_risk_score").alias("max_risk_score"),
        F.max("last_charge_at").alias("last_charge_at"),
    )


def mentions(parent: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    """The entities in the news, or those whose contacts or mailboxes they are about."""
    if parent in ("entities", "metrics", "shop", "blocks"):
        return news.select("entity_id")
    if parent == "contacts":
        theirs = F.expr("source = 'hubspot' and source_id = contact_id")
        return parents["entities"].join(news.select("contact_id"), theirs, how="left_semi").select(
            "entity_id"
        )
    mails = news.select("email_normalized")
    return parents["entities"].join(mails, "email_normalized", how="left_semi").select("entity_id")


customer_360 = table_asset(
    Customer360,
    transform,
    mentions=mentions,
    entities=entity_index,
    contacts=stg_hubspot_contacts,
    metrics=customer_metrics,
    payers=payer_days,
    shop=storefront_customer_metrics,
    blocks=blocking_index,
)
