"""Shopify's webhooks: customers and orders as the REST admin API has them, money as text.

An order stands as a dict and each step changes it: paid, fulfilled, edited, refunded, cancelled.
"""

from random import Random
from typing import Any

from lakehouse_assets.sources.event import CLEAN, iso_ms
from lakehouse_assets.sources.webhooks.account import Account
from lakehouse_assets.sources.webhooks.request import JSON_HEADERS, Json, Known, Request, text

SHOP, API_VERSION = "lakehouse-demo.myshopify.com", "2024-10"
HOURS_FROM_UTC = -5  # the shop's clock, all year
PATHS = (  # what becomes of an order, and how often of ten
    ("paid", "fulfilled"), ("paid", "fulfilled"), ("paid", "fulfilled"),
    ("paid", "cancelled", "refunded"), ("paid",), ("edited", "paid", "fulfilled"), ("cancelled",),
    ("paid", "refunded"), ("paid", "fulfilled", "refunded"),
    ("paid", "edited", "fulfilled", "partially_refunded"),
)  # fmt: skip
GOODS = tuple(
    (f"{colour} {thing}", cents)
    for colour in ("Black", "Blue", "Green", "Sand", "Rust")
    for thing, cents in (
        ("T-Shirt", 1999), ("Backpack", 8950), ("Mug", 1250), ("Notebook", 725), ("Lamp", 4499),
        ("Blanket", 6900),
    )
)  # fmt: skip
LINES = 3  # of an order, at most, when it is made
TAXES_INCLUDED = ("AU", "DE", "FR", "GB")  # in the prices that people see there
TAX_RATES = {"US": 0.0825, "GB": 0.2, "DE": 0.19, "FR": 0.2, "CA": 0.13, "AU": 0.1}


def instant(at: int) -> str:
    """By the shop's clock, to the second."""
    sign, hours = ("-", -HOURS_FROM_UTC) if HOURS_FROM_UTC < 0 else ("+", HOURS_FROM_UTC)
    return f"{iso_ms(at + HOURS_FROM_UTC * 3_600_000)[:19]}{sign}{hours:02}:00"


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def money_set(cents: int, currency: str) -> Json:
    shop = {"amount": money(cents), "currency_code": currency}
    return {"shop_money": shop, "presentment_money": shop}


def request(
    topic: str, webhook_id: str, content: Json, at: int, about: str, known: Known | None = None,
    kind: str = CLEAN,
) -> Request:  # fmt: skip
    headers = (
        *JSON_HEADERS, ("X-Shopify-Topic", topic), ("X-Shopify-Webhook-Id", webhook_id),
        ("X-Shopify-Shop-Domain", SHOP), ("X-Shopify-API-Version", API_VERSION),
        ("X-Shopify-Triggered-At", iso_ms(at)),
    )  # fmt: skip
    return Request("shopify", headers, text(content), topic, (webhook_id,), about, known, kind)


def address(account: Account) -> Json:
    city, province, province_code, postal_code = account.place
    country = account.person.country
    return {
        "first_name": account.first_name, "address1": "1 High Street", "phone": None,
        "city": city, "zip": postal_code, "province": province, "country": country.name,
        "last_name": account.last_name, "address2": None, "company": None,
        "latitude": None, "longitude": None, "name": account.name,
        "country_code": country.code, "province_code": province_code,
    }  # fmt: skip


def customer(account: Account) -> Json:
    number = int(account.id)
    home = address(account) | {"id": number + 1, "customer_id": number, "default": True}
    return {
        "id": number, "email": account.email, "created_at": instant(account.created_ms),
        "updated_at": instant(account.updated_ms), "first_name": account.first_name,
        "last_name": account.last_name, "orders_count": account.orders, "state": "enabled",
        "total_spent": money(account.spent), "last_order_id": None, "note": None,
        "verified_email": True, "multipass_identifier": None, "tax_exempt": False, "tags": "",
        "last_order_name": None, "currency": account.person.country.currency,
        "phone": account.phone, "addresses": [home], "tax_exemptions": [],
        "admin_graphql_api_id": f"gid://shopify/Customer/{number}", "default_address": home,
    }  # fmt: skip


def deletion(account: Account) -> Json:
    number = int(account.id)
    return {
        "id": number, "phone": None, "addresses": [], "tax_exemptions": [],
        "email_marketing_consent": None, "sms_marketing_consent": None,
        "admin_graphql_api_id": f"gid://shopify/Customer/{number}",
    }  # fmt: skip


def merge(kept: Account, gone: Account) -> Json:
    return {
        "admin_graphql_api_customer_kept_id": f"gid://shopify/Customer/{kept.id}",
        "admin_graphql_api_customer_deleted_id": f"gid://shopify/Customer/{gone.id}",
        "admin_graphql_api_job_id": None, "status": "completed", "errors": [],
    }  # fmt: skip


def order(rng: Random, number: int, serial: int, account: Account, at: int) -> Json:
    """Its line items have the numbers after its own."""
    currency = account.person.country.currency
    home = address(account)
    lines = range(1, 2 + int(rng.random() * LINES))
    made: Json = {
        "id": number, "admin_graphql_api_id": f"gid://shopify/Order/{number}", "app_id": 580111,
        "browser_ip": None, "cancel_reason": None, "cancelled_at": None, "closed_at": None,
        "confirmed": True, "contact_email": account.email, "created_at": instant(at),
        "currency": currency, "customer_locale": "en", "email": account.email,
        "financial_status": "pending", "fulfillment_status": None,
        "name": f"#{1000 + serial}", "note": None, "number": serial,
        "order_number": 1000 + serial, "phone": account.phone,
        "presentment_currency": currency, "processed_at": instant(at), "source_name": "web",
        "subtotal_price": "", "tags": "", "taxes_included": False, "test": False,
        "total_discounts": "", "total_line_items_price": "", "total_outstanding": "",
        "total_price": "", "total_shipping_price_set": None, "total_tax": "",
        "updated_at": instant(at), "billing_address": home,
        "customer": {
            "id": int(account.id), "email": account.email, "first_name": account.first_name,
            "last_name": account.last_name, "phone": account.phone, "state": "enabled",
            "currency": currency,
            "admin_graphql_api_id": f"gid://shopify/Customer/{account.id}",
        },
        "discount_codes": [], "fulfillments": [],
        "line_items": [line(rng, number + n, currency) for n in lines],
        "payment_gateway_names": ["shopify_payments"], "refunds": [],
        "shipping_address": home, "shipping_lines": [], "tax_lines": [],
    }  # fmt: skip
    add_up(made, account, discount=rng.choice((0, 0, 0, 500)), shipping=rng.choice((0, 495, 995)))
    return made


def line(rng: Random, number: int, currency: str) -> Json:
    place = int(rng.random() ** 2 * len(GOODS))
    title, cents = GOODS[place]
    return {
        "id": number, "admin_graphql_api_id": f"gid://shopify/LineItem/{number}",
        "fulfillable_quantity": 1, "fulfillment_status": None, "grams": 200, "name": title,
        "price": money(cents), "price_set": money_set(cents, currency),
        "product_id": 7_000_000 + place, "quantity": 1 + int(rng.random() ** 3 * 4),
        "requires_shipping": True, "sku": f"SKU-{place:03}", "taxable": True, "title": title,
        "total_discount": "0.00", "variant_id": 8_000_000 + place, "vendor": "lakehouse",
    }  # fmt: skip


def add_up(made: Json, account: Account, discount: int, shipping: int) -> None:
    """Line items less discounts is the subtotal; with shipping, and the tax if that is not in the
    prices, it is the total.
    """
    goods = sum(minor(item["price"]) * item["quantity"] for item in made["line_items"])
    discount = min(discount, goods)
    country = account.person.country
    rate, is_included = TAX_RATES[country.code], country.code in TAXES_INCLUDED
    tax = round((goods - discount) * (rate / (1 + rate) if is_included else rate))
    total = goods - discount + (0 if is_included else tax) + shipping
    made["taxes_included"] = is_included
    made["total_line_items_price"] = money(goods)
    made["subtotal_price"] = made["current_subtotal_price"] = money(goods - discount)
    made["total_discounts"], made["total_tax"] = money(discount), money(tax)
    made["total_price"] = made["current_total_price"] = money(total)
    made["total_outstanding"] = money(total)
    made["total_shipping_price_set"] = money_set(shipping, country.currency)


def minor(said: str) -> int:
    return int(said.replace(".", ""))


def shipping_of(made: Json) -> int:
    return minor(made["total_shipping_price_set"]["shop_money"]["amount"])


def refund(made: Json, number: int, at: int, cents: int) -> Json:
    """A refund by itself, as refunds/create has it and the order repeats it."""
    sale: dict[str, Any] = {
        "id": number + 1, "order_id": made["id"], "kind": "refund", "gateway": "shopify_payments",
        "status": "success", "amount": money(cents), "currency": made["currency"],
        "created_at": instant(at),
    }  # fmt: skip
    return {
        "id": number, "admin_graphql_api_id": f"gid://shopify/Refund/{number}",
        "order_id": made["id"], "created_at": instant(at), "processed_at": instant(at),
        "note": None, "restock": False, "user_id": None, "duties": [], "order_adjustments": [],
        "refund_line_items": [], "transactions": [sale],
    }  # fmt: skip
