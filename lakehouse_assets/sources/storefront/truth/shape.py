"""The shop's tables as the lake should know them: each column, what the capture sends for it, and
which column of the shop it is.
"""

from typing import NamedTuple

# A column is `name:kind`, or `name:kind=origin` where the shop calls it otherwise.
DECLARED: dict[str, str] = {
    "customers": """customer_id:long=id public_id:text email:text first_name:text last_name:text
        phone:text born_on:day country:text segment:text is_subscribed:flag preferences:text""",
    "addresses": """address_id:long=id customer_id:long kind:text street:text city:text region:text
        postal_code:text country:text""",
    "categories": "category_id:long=id parent_id:long slug:text name:text position:int",
    "products": """product_id:long=id category_id:long sku:text name:text description:text
        price:money currency:text tags:words attributes:text weight_grams:int is_active:flag
        released_on:day""",
    "orders": """order_id:long=id public_id:text customer_id:long shipping_address_id:long
        status:text discount:money total:money currency:text note:text""",
    "order_items": "order_id:long line:int product_id:long quantity:int unit_price:money",
    "payments": """payment_id:long=id order_id:long reference:text method:text status:text
        amount:money currency:text details:text captured_at:instant""",
    "shipments": """shipment_id:long=id order_id:long carrier:text tracking_number:text parcels:int
        expected_on:day shipped_at:instant delivered_at:instant""",
}
TIMES = "created_at:instant updated_at:instant"  # every table ends with them
DAY = "created_at"  # by its day every change is filed
SENT = {  # by kind, as what the capture sends it
    "long": "bigint", "int": "int", "text": "string", "money": "decimal(12,2)", "flag": "boolean",
    "day": "int", "instant": "string", "words": "array<string>",
}  # fmt: skip


class Column(NamedTuple):
    name: str
    kind: str
    origin: str


class Table(NamedTuple):
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]


def _table(name: str, declared: str) -> Table:
    columns = []
    for said in f"{declared} {TIMES}".split():
        called, _, rest = said.partition(":")
        kind, _, origin = rest.partition("=")
        columns.append(Column(called, kind, origin or called))
    key = ("order_id", "line") if name == "order_items" else (columns[0].name,)
    return Table(name, tuple(columns), key)


TABLES = {name: _table(name, declared) for name, declared in DECLARED.items()}
