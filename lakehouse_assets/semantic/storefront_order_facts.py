"""semantic.storefront_order_facts: one row per line of an order, with who bought what as both were.

What the marts add up. Customer, product and list price are told as they were when it was ordered,
by the histories; the category as the catalogue names it now. The order's discount is spread over
its lines by what they cost, and its last line takes what rounding leaves, so that the lines of an
order come to its total. Of cancelled and refunded orders `net_amount` is 0. Nothing is summed
over orders.

The scope cannot prune: an order changes long after it was made, and so do those who made it. Each
batch looks for its orders among the keys of all lines, and reads the histories whole.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lakehouse_assets.lake.contract import Across, Layout, Rule, Table, column, recompute_keys
from lakehouse_assets.lake.table import table_asset
from lakehouse_assets.semantic.spans import told_at, was_so
from lakehouse_assets.semantic.storefront_categories import storefront_categories
from lakehouse_assets.semantic.storefront_customer_history import storefront_customer_history
from lakehouse_assets.semantic.storefront_order_items import storefront_order_items
from lakehouse_assets.semantic.storefront_orders import storefront_orders
from lakehouse_assets.semantic.storefront_product_history import storefront_product_history

MONEY = "decimal(12,2)"
UNDONE = ("cancelled", "refunded")


class StorefrontOrderFacts(Table):
    order_id = column("bigint", "The shop's number of the order.", key=True)
    line = column("int", "The line of the order.", key=True)
    ordered_at = column("timestamp", "When it was ordered, UTC.")
    status = column("string", "The order's: pending, paid, shipped, delivered, …")
    customer_id = column("bigint", "Who ordered.")
    customer_country = column("string", "Where they lived then.", nullable=True)
    customer_segment = column("string", "new, regular, loyal or vip, then.", nullable=True)
    product_id = column("bigint", "What was ordered.")
    sku = column("string", "The stock's name of it then.", nullable=True)
    product_name = column("string", "What people read then.", nullable=True)
    category_id = column("bigint", "What it was one of then.", nullable=True)
    category = column("string", "That category's name now.", nullable=True)
    currency = column("string", "ISO 4217.")
    list_amount = column(MONEY, "What one cost in the catalogue then.", ge=0, nullable=True)
    unit_amount = column(MONEY, "What one cost in this order.", ge=0)
    quantity = column("int", "How many.", ge=1)
    gross_amount = column("decimal(20,2)", "All of them, before the discount.", ge=0)
    discount_amount = column("decimal(20,2)", "Its part of the order's discount.", ge=0)
    net_amount = column("decimal(20,2)", "What is left; 0 if it was cancelled or refunded.", ge=0)

    layout = Layout(
        partitioned_by="months(ordered_at)", scope=recompute_keys(by=("order_id",), was=True)
    )
    rules = (
        Rule("product_known", "product_name is not null", "the catalogue tells of it", 0.01),
        Rule("customer_known", "customer_segment is not null", "the shop tells of them", 0.01),
    )
    across = (
        Across(
            "no_orphan_items",
            """select i.order_id, i.line from semantic.storefront_order_items i
               left anti join semantic.storefront_orders o on o.order_id = i.order_id""",
            "every line is of an order that is there",
            of="semantic.storefront_order_items",
        ),
        Across(
            "lines_come_to_the_total",
            """select o.order_id, o.total, sum(f.gross_amount - f.discount_amount) as lines
               from semantic.storefront_orders o
               join semantic.storefront_order_facts f on f.order_id = o.order_id
               group by o.order_id, o.total having lines != o.total""",
            "an order's lines less its discount are its total",
            of="semantic.storefront_orders",
        ),
    )


def transform(
    items: DataFrame, orders: DataFrame, customers: DataFrame, products: DataFrame,
    categories: DataFrame,
) -> DataFrame:  # fmt: skip
    made = orders.select(
        "order_id", F.col("created_at").alias("ordered_at"), "status", "customer_id", "currency",
        "discount",
    )  # fmt: skip
    lines = items.select("order_id", "line", "product_id", "quantity", "unit_price")
    told = _discounted(lines.join(made, "order_id", how="inner"))
    told = told_at(told, customers, "customer_id", "ordered_at", country="customer_country",
                   segment="customer_segment")  # fmt: skip
    told = told_at(told, products, "product_id", "ordered_at", sku="sku", name="product_name",
                   category_id="category_id", price="list_amount")  # fmt: skip
    names = categories.select("category_id", F.col("name").alias("category"))
    net = f"if(status in {UNDONE}, 0, gross_amount - discount_amount)"
    return told.join(names, "category_id", how="left").withColumns({
        "unit_amount": F.col("unit_price"),
        "net_amount": F.expr(f"cast({net} as decimal(20,2))"),
    }).select(*StorefrontOrderFacts.columns)  # fmt: skip


def _discounted(lines: DataFrame) -> DataFrame:
    """With what each line costs, and its share of the order's discount: what the lines up to it owe
    of it together, in whole cents, half up, less what those before it do.
    """
    order = Window.partitionBy("order_id")
    so_far = order.orderBy("line").rowsBetween(Window.unboundedPreceding, 0)
    each = lines.withColumn("_cents", F.expr("cast(quantity * unit_price * 100 as decimal(18,0))"))
    summed = each.withColumns({
        "_all": F.sum("_cents").over(order).cast("decimal(18,0)"),
        "_until": F.sum("_cents").over(so_far).cast("decimal(18,0)"),
        "_off": F.expr("cast(discount * 100 as decimal(14,0))"),
    })  # fmt: skip
    owed = "coalesce((2 * _off * {} + _all) div nullif(2 * _all, 0), 0)"
    share = f"{owed.format('_until')} - {owed.format('(_until - _cents)')}"
    return summed.withColumns({
        "gross_amount": F.expr("cast(_cents / 100 as decimal(20,2))"),
        "discount_amount": F.expr(f"cast(({share}) / 100 as decimal(20,2))"),
    })  # fmt: skip


def mentions(name: str, news: DataFrame, parents: dict[str, DataFrame]) -> DataFrame:
    """The orders in the news; those of the customers, products and categories in them, from when
    on what is told of these is new.
    """
    if name in ("items", "orders"):
        return news.select("order_id")
    orders, items = parents["orders"], parents["items"]
    when = orders.select("order_id", "customer_id", F.col("created_at").alias("ordered_at"))
    if name == "categories":
        news, of = parents["products"].join(
            news.select("category_id"), "category_id", how="left_semi"
        ), "product_id"  # fmt: skip
    else:
        of = "customer_id" if name == "customers" else "product_id"
    lines = items.select("order_id", "product_id").join(when, "order_id", how="inner")
    theirs = when if of == "customer_id" else lines
    changed = news.select(F.col(of).alias("_key"), "valid_from_at", "valid_to_at")
    then = F.expr(f"`{of}` = _key and {was_so('ordered_at')}")
    return theirs.join(changed, then, how="left_semi").select("order_id")


storefront_order_facts = table_asset(
    StorefrontOrderFacts,
    transform,
    mentions=mentions,
    items=storefront_order_items,
    orders=storefront_orders,
    customers=storefront_customer_history,
    products=storefront_product_history,
    categories=storefront_categories,
)
