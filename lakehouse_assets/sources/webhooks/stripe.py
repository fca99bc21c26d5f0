"""Stripe's webhooks: an event around a customer, a charge or a dispute; amounts in smallest units.

`application_fee_amount` is what the platform keeps of a charge: the only fee that a charge tells.
"""

from random import Random
from typing import Any

from lakehouse_assets.sources.event import CLEAN
from lakehouse_assets.sources.webhooks.account import Account
from lakehouse_assets.sources.webhooks.request import JSON_HEADERS, Json, Known, Request, text

API_VERSION = "2024-06-20"
BRANDS = ("visa", "visa", "mastercard", "amex")
FAILURES = (
    ("card_declined", "Your card was declined."),
    ("card_declined", "Your card has insufficient funds."),
    ("expired_card", "Your card has expired."),
)
DISPUTED_FOR = ("fraudulent", "product_not_received", "duplicate")


def request(
    kind_of_event: str, event_id: str, thing: Json, at: int, about: str,
    known: Known | None = None, previous: Json | None = None, kind: str = CLEAN,
) -> Request:  # fmt: skip
    data: dict[str, Any] = {"object": thing}
    if previous is not None:
        data["previous_attributes"] = previous
    content = {
        "id": event_id, "object": "event", "api_version": API_VERSION, "created": at // 1000,
        "data": data, "livemode": False, "pending_webhooks": 1,
        "request": {"id": None, "idempotency_key": None}, "type": kind_of_event,
    }  # fmt: skip
    return Request(
        "stripe", JSON_HEADERS, text(content), kind_of_event, (event_id,), about, known, kind
    )


def customer(account: Account) -> Json:
    return {
        "id": account.id, "object": "customer", "address": address(account), "balance": 0,
        "created": account.created_ms // 1000, "currency": None, "default_source": None,
        "delinquent": False, "description": None, "discount": None, "email": account.email,
        "invoice_prefix": account.id[-8:].upper(),
        "invoice_settings": {"default_payment_method": None, "footer": None},
        "livemode": False, "metadata": {}, "name": account.name, "phone": account.phone,
        "preferred_locales": [], "shipping": None, "tax_exempt": "none", "test_clock": None,
    }  # fmt: skip


def address(account: Account) -> Json:
    city, _, province_code, postal_code = account.place
    return {
        "city": city, "country": account.person.country.code, "line1": "1 High Street",
        "line2": None, "postal_code": postal_code, "state": province_code,
    }  # fmt: skip


def charge(rng: Random, number: str, account: Account, at: int) -> Json:
    """One that succeeded; one in eight failed, and one in fifty is in yen, which have no cents."""
    amount = 500 + int(rng.random() ** 3 * 90_000)
    currency = account.person.country.currency.lower() if rng.random() < 0.98 else "jpy"
    failure = FAILURES[int(rng.random() * 3)] if rng.random() < 0.125 else None
    code, message = failure or (None, None)
    took = 0 if failure else amount
    return {
        "id": f"ch_{number}", "object": "charge", "amount": amount, "amount_captured": took,
        "amount_refunded": 0, "application": None, "application_fee": None,
        "application_fee_amount": took * 29 // 1000 + 30 if took else None,
        "balance_transaction": f"txn_{number}" if took else None,
        "billing_details": {"address": address(account), "email": account.email,
                            "name": account.name, "phone": account.phone},
        "calculated_statement_descriptor": "LAKEHOUSE", "captured": not failure,
        "created": at // 1000, "currency": currency, "customer": account.id, "description": None,
        "disputed": False, "failure_code": code, "failure_message": message,
        "fraud_details": {}, "livemode": False, "metadata": {}, "on_behalf_of": None,
        "outcome": {
            "network_status": "declined_by_network" if failure else "approved_by_network",
            "reason": code, "risk_level": "normal", "risk_score": int(rng.random() * 65),
            "seller_message": message or "Payment complete.",
            "type": "issuer_declined" if failure else "authorized",
        },
        "paid": not failure, "payment_intent": f"pi_{number}", "payment_method": f"pm_{number}",
        "payment_method_details": {
            "card": {
                "brand": BRANDS[int(rng.random() * 4)], "country": account.person.country.code,
                "exp_month": 1 + int(rng.random() * 12), "exp_year": 2029, "funding": "credit",
                "last4": f"{int(rng.random() * 10_000):04}", "network": "visa",
            },
            "type": "card",
        },
        "receipt_email": account.email, "receipt_number": None, "refunded": False,
        "shipping": None, "source": None, "statement_descriptor": None,
        "status": "failed" if failure else "succeeded", "transfer_data": None,
    }  # fmt: skip


def dispute(rng: Random, number: str, made: Json, at: int) -> Json:
    return {
        "id": f"dp_{number}", "object": "dispute", "amount": made["amount"], "charge": made["id"],
        "balance_transactions": [], "created": at // 1000, "currency": made["currency"],
        "evidence": {}, "evidence_details": {"due_by": at // 1000 + 14 * 86_400,
                                             "has_evidence": False, "past_due": False,
                                             "submission_count": 0},
        "is_charge_refundable": True, "livemode": False, "metadata": {},
        "payment_intent": made["payment_intent"], "reason": rng.choice(DISPUTED_FOR),
        "status": "needs_response",
    }  # fmt: skip
