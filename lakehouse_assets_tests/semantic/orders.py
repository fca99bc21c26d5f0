"""What the tests of the shop's tables share: orders, refunds and charges of a moment."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lakehouse_assets_tests.lake.tables import Row

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
DAY = timedelta(days=1)


def order(number: str, day: int = 0, total: int = 20, **more: object) -> Row:
    """An order of a customer, made on a day of March 2024."""
    at = AT + day * DAY
    return {
        "order_id": number, "customer_id": "1", "currency": "USD", "line_item_count": 1,
        "total_amount": Decimal(total), "subtotal_amount": Decimal(total - 6),
        "discount_amount": Decimal(2), "tax_amount": Decimal(1), "shipping_amount": Decimal(5),
        "financial_status": "paid", "order_date": at.date(), "created_at": at, "updated_at": at,
        "is_paid": True, "is_fulfilled": False, "arrived_at": at, **more,
    }  # fmt: skip


def refund(number: str, order_id: str, amount: int, day: int = 0, **more: object) -> Row:
    return {
        "refund_id": number, "order_id": order_id, "amount": Decimal(amount), "currency": "USD",
        "created_at": AT + day * DAY, "arrived_at": AT, **more,
    }  # fmt: skip


def charge(number: str, day: int = 0, **more: object) -> Row:
    return {
        "charge_id": number, "customer_id": "cus_1", "currency": "USD", "amount": Decimal(20),
        "refunded_amount": Decimal(0), "fee_amount": Decimal(1), "status": "succeeded",
        "is_paid": True, "is_refunded": False, "is_disputed": False,
        "created_at": AT + day * DAY, "updated_at": AT, "arrived_at": AT, **more,
    }  # fmt: skip
