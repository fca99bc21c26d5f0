"""staging.stg_shopify_orders: one row per order of the shop, as it last was.

Every change of an order comes whole, in any order and more than once. Here an order stands once,
its newest version, then by content; money is typed, and of the addresses the places are kept. An
order of which nobody could tell what it cost, in what currency, for how many items or when is set
aside, and the version before it stands; so is the deletion of an order, which tells nothing but its
id. Nothing is joined or summed.
"""

from typing import ClassVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakehouse_assets.lake.bases import RECORD, StagingTable
from lakehouse_assets.lake.contract import Across, Layout, Rule, column, newest
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.shopify_orders import shopify_orders
from lakehouse_assets.raw.webhook import MONEY
from lakehouse_assets.sources.webhooks.countries import CURRENCIES
from lakehouse_assets.staging.clean import on_time
from lakehouse_assets.staging.vendors import country, is_word, lower, money, nested, text, upper

ADDRESS = "struct<city:string,province:string,country_code:string>"
GRACE = "interval 1 hour"  # by which a customer may come after their order


class StgShopifyOrders(StagingTable):
    order_id = column("string", "Shopify's id of the order.", key=True)
    order_number = column("bigint", "The shop's own number of it.", nullable=True)
    customer_id = column("string", "Who ordered; nobody if not said.", nullable=True)
    email = column("string", "As typed at checkout, lower case.", nullable=True, pii=True)
    total_amount = column(MONEY, "What is to be paid, in units of `currency`.", ge=0)
    subtotal_amount = column(MONEY, "Line items less discounts, likewise.", nullable=True)
    tax_amount = column(MONEY, "Taxes, likewise.", nullable=True)
    discount_amount = column(MONEY, "What was taken off, likewise.", nullable=True)
    shipping_amount = column(MONEY, "Shipping, likewise.", nullable=True)
    currency = column("string", "ISO 4217, upper case.", isin=tuple(CURRENCIES))
    line_item_count = column("int", "How many line items it has.")
    financial_status = column("string", "paid, refunded, …, lower case.", nullable=True)
    fulfillment_status = column("string", "fulfilled, partial, …, lower case.", nullable=True)
    is_paid = column("boolean", "The financial status is `paid`.")
    is_fulfilled = column("boolean", "The fulfillment status is `fulfilled`.")
    shipping_city = column("string", "Where it goes.", nullable=True)
    shipping_state = column("string", "The province by its name.", nullable=True)
    shipping_country = column("string", "ISO 3166 alpha-2.", nullable=True)
    billing_city = column("string", "Where the bill goes.", nullable=True)
    billing_state = column("string", "The province by its name.", nullable=True)
    billing_country = column("string", "ISO 3166 alpha-2.", nullable=True)
    order_date = column("date", "The day of `created_at`, UTC.", nullable=True)
    created_at = column("timestamp", "When the order was made, UTC.")
    updated_at = column("timestamp", "When it last changed, UTC.")
    _raw_id = column("string", "The raw row: generation, partition and offset.", nullable=True)
    _staged_at = column("timestamp", "When this version was staged, UTC.", nullable=True)
    cancelled_at = column("timestamp", "When it was cancelled, UTC; mostly not.", nullable=True)
    is_tax_included = column(
        "boolean", "The subtotal contains the taxes; NULL, not said: no.", nullable=True
    )
    _line_items = column("string", "The line items, JSON as it came.", nullable=True)

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=newest(by="updated_at", at="created_at"),
        unique_text=("order_id",),
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        *on_time("created_at", "updated_at"),
        Rule(
            "totals_add_up",
            "abs(subtotal_amount + if(is_tax_included <=> true, 0, tax_amount) + shipping_amount"
            " - total_amount) <= 0.01",
            "line items less discounts, tax that they do not contain and shipping are the total, "
            "to the cent",
            threshold=0.02,
            refuses=False,
        ),
    )
    across = (
        Across(
            "an_orders_customer_exists",
            f"""select o.order_id, o.customer_id, o.updated_at from staging.stg_shopify_orders o
            left anti join staging.stg_shopify_customers c on c.customer_id = o.customer_id
            where o.customer_id is not null and o.arrived_at <
            (select max(arrived_at) - {GRACE} from staging.stg_shopify_orders)""",
            "whoever ordered more than an hour ago is among the customers",
            threshold=0.01,
            of="staging.stg_shopify_orders where customer_id is not null",
        ),
    )


def transform(orders: DataFrame) -> DataFrame:
    read = orders.where("_error is null").withColumns({
        "buyer": nested("customer", "struct<id:string>"),
        "shipped": nested("total_shipping", "struct<shop_money:struct<amount:string>>"),
        "shipping": nested("shipping_address", ADDRESS),
        "billing": nested("billing_address", ADDRESS),
    })  # fmt: skip
    return read.select(
        text("id").alias("order_id"),
        "order_number",
        text("buyer.id").alias("customer_id"),
        lower("email").alias("email"),
        money("total_price").alias("total_amount"),
        money("subtotal_price").alias("subtotal_amount"),
        money("total_tax").alias("tax_amount"),
        money("total_discounts").alias("discount_amount"),
        money("shipped.shop_money.amount").alias("shipping_amount"),
        upper("currency").alias("currency"),
        F.json_array_length("line_items").alias("line_item_count"),
        lower("financial_status").alias("financial_status"),
        lower("fulfillment_status").alias("fulfillment_status"),
        is_word("financial_status", "paid").alias("is_paid"),
        is_word("fulfillment_status", "fulfilled").alias("is_fulfilled"),
        *_place("shipping"),
        *_place("billing"),
        F.to_date("created_at").alias("order_date"),
        "created_at",
        "updated_at",
        F.concat_ws("-", "topic_generation", "kafka_partition", "kafka_offset").alias("_raw_id"),
        F.col("line_items").alias("_line_items"),
        F.current_timestamp().alias("_staged_at"),
        "cancelled_at",
        "is_tax_included",
        "arrived_at",
        F.expr(RECORD),
    )


def _place(kind: str) -> list[Column]:
    return [
        text(f"{kind}.city").alias(f"{kind}_city"),
        text(f"{kind}.province").alias(f"{kind}_state"),
        country(f"{kind}.country_code").alias(f"{kind}_country"),
    ]


stg_shopify_orders = table_asset(StgShopifyOrders, transform, orders=shopify_orders)
