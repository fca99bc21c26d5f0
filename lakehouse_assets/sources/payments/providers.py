"""How each provider says things, and what is meant by it: the one place where that is written down.

The generator speaks these words, `semantic.*` and the truth read them. Words are compared in lower
case. Sources, one for each provider:

Stripe: docs.stripe.com/api/charges/object, /api/refunds/object, /api/disputes/object,
/declines/codes, and /currencies for amounts in the smallest unit.
Braintree: developer.paypal.com/braintree/docs/reference/general/statuses (transactions, disputes),
/processor-responses/authorization-responses; amounts are decimal, in units of the currency.
Adyen: docs.adyen.com/online-payments/payment-result-codes, /development-resources/refusal-reasons,
/risk-management/disputes-api, /development-resources/currency-codes for amounts in minor units.
Braintree's retrievals and Adyen's requests for information are kinds of dispute there, and told
here as statuses, so that every provider has a warning.
"""

STRIPE, BRAINTREE, ADYEN = PROVIDERS = ("STRIPE", "BRAINTREE", "ADYEN")
SPELLED = {STRIPE: "Stripe", BRAINTREE: "Braintree", ADYEN: "Adyen"}

Meanings = dict[str, dict[str, tuple[str, ...]]]  # provider: what is meant: its words for it

CHARGE_STATUSES: Meanings = {
    STRIPE: {"pending": ("pending",), "succeeded": ("succeeded",), "failed": ("failed",)},
    BRAINTREE: {
        "pending": ("authorized", "submitted_for_settlement", "settling"),
        "succeeded": ("settled",),
        "failed": ("processor_declined", "gateway_rejected", "settlement_declined", "failed",
                   "authorization_expired", "voided"),
    },
    ADYEN: {
        "pending": ("Received", "Pending"),
        "succeeded": ("Authorised",),
        "failed": ("Refused", "Error", "Cancelled"),
    },
}
REFUND_STATUSES: Meanings = {
    STRIPE: {
        "pending": ("pending", "requires_action"),
        "succeeded": ("succeeded",),
        "failed": ("failed", "canceled"),
    },
    BRAINTREE: {
        "pending": ("submitted_for_settlement", "settling"),
        "succeeded": ("settled",),
        "failed": ("settlement_declined", "processor_declined"),
    },
    ADYEN: {
        "pending": ("Received", "SentForRefund"),
        "succeeded": ("Refunded",),
        "failed": ("RefundFailed",),
    },
}
DISPUTE_STATUSES: Meanings = {
    STRIPE: {
        "warning": ("warning_needs_response", "warning_under_review"),
        "warning_closed": ("warning_closed",),
        "needs_response": ("needs_response",),
        "under_review": ("under_review",),
        "won": ("won",),
        "lost": ("lost",),
    },
    BRAINTREE: {
        "warning": ("retrieval",),
        "warning_closed": ("retrieval_closed",),
        "needs_response": ("open",),
        "under_review": ("disputed", "under_review"),
        "won": ("won",),
        "lost": ("lost", "accepted", "auto_accepted", "expired"),
    },
    ADYEN: {
        "warning": ("RequestForInformation",),
        "warning_closed": ("InformationSupplied",),
        "needs_response": ("Undefended",),
        "under_review": ("Pending",),
        "won": ("Won",),
        "lost": ("Lost", "Accepted", "Expired", "Unresponded"),
    },
}
# From where a dispute may go on to where; anything else is an illegal transition. `` is its begin.
DISPUTE_STEPS = {
    "": ("warning", "needs_response"),
    "warning": ("warning_closed", "needs_response"),
    "warning_closed": (),
    "needs_response": ("under_review", "won", "lost"),
    "under_review": ("won", "lost"),
    "won": (),
    "lost": (),
}
FAILURES: Meanings = {  # of charges: what a payments team groups declines by
    STRIPE: {
        "declined": ("card_declined", "do_not_honor", "generic_decline"),
        "insufficient_funds": ("insufficient_funds",),
        "expired_card": ("expired_card",),
        "wrong_details": ("incorrect_cvc", "incorrect_number"),
        "suspected_fraud": ("fraudulent", "stolen_card"),
        "processing_error": ("processing_error",),
    },
    BRAINTREE: {
        "declined": ("2000", "2046"),
        "insufficient_funds": ("2001",),
        "expired_card": ("2004",),
        "wrong_details": ("2010", "2005"),
        "suspected_fraud": ("2014", "2013"),
        "processing_error": ("3000",),
    },
    ADYEN: {
        "declined": ("2", "5"),  # Refused, Blocked Card
        "insufficient_funds": ("12",),
        "expired_card": ("6",),
        "wrong_details": ("24", "8"),
        "suspected_fraud": ("20", "31"),
        "processing_error": ("4", "9"),
    },
}
REFUND_REASONS = {  # in every spelling that support desks use; compared as letters and digits alone
    "requested_by_customer": ("requested_by_customer", "Requested by customer", "customer request",
                              "REQUESTED-BY-CUSTOMER", "cust_request"),
    "duplicate": ("duplicate", "Duplicate Charge", "dup", "DUPLICATE"),
    "fraudulent": ("fraudulent", "fraud", "Fraudulent", "suspected fraud"),
    "product_not_received": ("product_not_received", "not received", "Item not received"),
    "product_unacceptable": ("product_unacceptable", "defective", "Not as described"),
    "other": ("other", "misc", "OTHER"),
}  # fmt: skip
INTERVALS = {  # of a plan
    "day": ("day", "Daily", "1 day", "d"),
    "week": ("week", "Weekly", "1 week", "wk"),
    "month": ("month", "Monthly", "1 month", "mo"),
    "year": ("year", "Yearly", "1 year", "yr", "annual"),
}
NETWORK_REASONS = {  # of disputes: Visa's and Mastercard's codes; the card networks' own lists
    "fraudulent": ("10.4", "4837"),
    "product_not_received": ("13.1", "4855"),
    "product_unacceptable": ("13.3", "4853"),
    "duplicate": ("12.6", "4834"),
    "subscription_canceled": ("13.2", "4841"),
    "general": ("12.5", "4831"),
}
CURRENCIES = {  # digits behind the point, ISO 4217
    "USD": 2, "EUR": 2, "GBP": 2, "CAD": 2, "AUD": 2, "JPY": 0, "CHF": 2, "SEK": 2, "NOK": 2,
    "DKK": 2, "PLN": 2, "BRL": 2, "MXN": 2, "INR": 2, "SGD": 2, "NZD": 2,
}  # fmt: skip
IN_MINOR_UNITS = (STRIPE, ADYEN)  # 1250 is 12.50 USD and 1250 JPY; Braintree says 12.50 and 1250


def letters(word: str) -> str:
    """A word as its lower-case letters and digits: how free spellings are compared."""
    return "".join(c for c in word.lower() if c.isascii() and c.isalnum())
