"""semantic.order_lines: one row per line of a shop's order, as the order last was.

What was bought, how many and for how much. Lines that an edit took out of the order are gone; all
lines of an order are made anew when it changes. Orders that staging set aside have no lines here.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Across, Layout, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.raw.webhook import MONEY
from lakehouse_assets.staging.stg_shopify_orders import stg_shopify_orders
from lakehouse_assets.staging.vendors import money, text

LINE = "id:string,product_id:string,sku:string,title:string,quantity:bigint,price:string"


class OrderLines(Table):
    order_id = column("string", "Shopify's id of the order.", key=True)
    line_id = column("string", "Its id of the line.", key=True)
    product_id = column("string", "What was bought.", nullable=True)
    sku = column("string", "The shop's own name of it.", nullable=True)
    title = column("string", "The same for people.", nullable=True)
    quantity = column("bigint", "How many.", ge=0, nullable=True)
    price = column(MONEY, "Of one, in units of `currency`.", nullable=True)
    currency = column("string", "ISO 4217.")
    created_at = column("timestamp", "When the order was made, UTC.")

    layout = Layout(
        partitioned_by="days(created_at)",
        scope=recompute_keys(at="created_at", by=("order_id",)),
        unique_text=("order_id", "line_id"),
    )
    across = (
        Across(
            "lines_are_the_subtotal",
            """select order_id, goods, discount_amount, subtotal_amount
            from staging.stg_shopify_orders join (
                select order_id, sum(quantity * price) as goods, count(quantity * price) as priced
                from semantic.order_lines group by order_id
            ) using (order_id) where priced = line_item_count
            and abs(goods - coalesce(discount_amount, 0) - subtotal_amount) > 0.01""",
            "where each line has its price they are, less discounts, the subtotal, to the cent",
            threshold=0.02,
            of="staging.stg_shopify_orders",
        ),
    )


def transform(orders: DataFrame) -> DataFrame:
    read = orders.withColumn("lines", F.from_json("_line_items", f"array<struct<{LINE}>>"))
    each = read.selectExpr(
        "order_id", "currency", "created_at", "posexplode(lines) as (place, line)"
    )
    lines = each.select("order_id", "currency", "created_at", "place", "line.*")
    named = F.coalesce(text("id"), F.concat(F.lit("#"), F.col("place")))  # of a line without an id
    once = Window.partitionBy("order_id", "line_id").orderBy("place")
    known = lines.withColumn("line_id", named).withColumn("copy", F.row_number().over(once))
    return known.where("copy = 1").select(
        "order_id",
        "line_id",
        text("product_id").alias("product_id"),
        text("sku").alias("sku"),
        text("title").alias("title"),
        "quantity",
        money("price").alias("price"),
        "currency",
        "created_at",
    )


order_lines = table_asset(OrderLines, transform, orders=stg_shopify_orders)
