"""A row of each of the shop's tables, its fields in the order and by the names of the columns."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb


class Customer(NamedTuple):
    id: int | None  # None: the database gives one
    public_id: UUID
    email: str
    first_name: str
    last_name: str
    phone: str | None
    born_on: date | None
    country: str
    segment: str
    is_subscribed: bool
    preferences: Jsonb | None
    created_at: datetime
    updated_at: datetime


class Address(NamedTuple):
    id: int | None
    customer_id: int
    kind: str
    street: str
    city: str
    region: str | None
    postal_code: str
    country: str
    created_at: datetime
    updated_at: datetime


class Category(NamedTuple):
    id: int | None
    parent_id: int | None
    slug: str
    name: str
    position: int
    created_at: datetime
    updated_at: datetime


class Product(NamedTuple):
    id: int | None
    category_id: int
    sku: str
    name: str
    description: str
    price: Decimal
    currency: str
    tags: list[str]
    attributes: Jsonb
    weight_grams: int | None
    is_active: bool
    released_on: date | None
    created_at: datetime
    updated_at: datetime


class Order(NamedTuple):
    id: int | None
    public_id: UUID
    customer_id: int
    shipping_address_id: int
    status: str
    discount: Decimal
    total: Decimal
    currency: str
    note: str | None
    created_at: datetime
    updated_at: datetime


class OrderItem(NamedTuple):
    order_id: int
    line: int
    product_id: int
    quantity: int
    unit_price: Decimal
    created_at: datetime
    updated_at: datetime


class Payment(NamedTuple):
    id: int | None
    order_id: int
    reference: UUID
    method: str
    status: str
    amount: Decimal
    currency: str
    details: Jsonb | None
    captured_at: datetime | None
    created_at: datetime
    updated_at: datetime


class Shipment(NamedTuple):
    id: int | None
    order_id: int
    carrier: str
    tracking_number: str | None
    parcels: int
    expected_on: date | None
    shipped_at: datetime
    delivered_at: datetime | None
    created_at: datetime
    updated_at: datetime


Row = Customer | Address | Category | Product | Order | OrderItem | Payment | Shipment

TABLES: dict[type[Row], str] = {  # parents before children
    Customer: "customers", Address: "addresses", Category: "categories", Product: "products",
    Order: "orders", OrderItem: "order_items", Payment: "payments", Shipment: "shipments",
}  # fmt: skip
NAMES: Sequence[str] = tuple(TABLES.values())
