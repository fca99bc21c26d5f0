"""What one Kafka record of a webhooks topic must become in raw, by the json module alone.

Strict on purpose: a record is one JSON object in UTF-8, of the types below, or an error. A text
column takes whatever stands there: of what is no text its JSON, without spaces, of a name that
stands twice the last, fractions as the nearest double.
"""

import json
from typing import Any

from lakehouse_assets.sources.oracle import (
    INVALID_UTF8,
    MALFORMED,
    NULL_VALUE,
    WRONG_TYPE,
    Parsed,
    WrongTypeError,
    instant,
    no_constant,
)
from lakehouse_assets.sources.webhooks.truth.values import Row

OURS = "_webhook_topic _webhook_id _received_at:instant"
STRIPE = """id object type created:integer api_version account is_live:boolean=livemode
    pending_webhooks:integer request data"""
HUBSPOT = """event_id=eventId subscription_id=subscriptionId subscription_type=subscriptionType
    portal_id=portalId app_id=appId occurred_at_ms:integer=occurredAt
    attempt_number:integer=attemptNumber object_id=objectId object_type_id=objectTypeId
    change_source=changeSource change_flag=changeFlag source_id=sourceId
    property_name=propertyName property_value=propertyValue association_type=associationType
    from_object_id=fromObjectId to_object_id=toObjectId
    is_association_removed:boolean=associationRemoved
    is_primary_association:boolean=isPrimaryAssociation"""
COLUMNS = {  # column:type=field; without a type it is text, without a field it has the same name
    "shopify.orders": """id admin_graphql_api_id email order_number:integer total_price
        subtotal_price total_tax total_discounts total_shipping=total_shipping_price_set currency
        financial_status fulfillment_status customer line_items shipping_address billing_address
        created_at:instant updated_at:instant cancelled_at:instant
        is_tax_included:boolean=taxes_included""",
    "shopify.customers": """id admin_graphql_api_id email phone first_name last_name state
        currency default_address customer_kept_id=admin_graphql_api_customer_kept_id
        customer_deleted_id=admin_graphql_api_customer_deleted_id status
        created_at:instant updated_at:instant""",
    "stripe.charges": STRIPE,
    "stripe.customers": STRIPE,
    "hubspot.contacts": HUBSPOT,
    "hubspot.companies": HUBSPOT,
    "webhooks.other": "_vendor id type created data order_id transactions created_at",
}
LIMIT = 2**63

Named = dict[str, tuple[str, str]]  # column: its type, its field in the record

def _named(columns: str) -> Named:
    named = {}
    for said in columns.split():
        typed, _, field = said.partition("=")
        column, _, kind = typed.partition(":")
        named[column] = kind or "text", field or column
    return named


NAMED = {topic: _named(f"{OURS} {columns}") for topic, columns in COLUMNS.items()}


def parse(topic: str, value: bytes | None) -> Parsed:
    named = NAMED[topic]
    nothing: Row = dict.fromkeys(named)
    if value is None:
        return Parsed(NULL_VALUE, nothing, False)
    try:
        read = json.loads(value.decode(), parse_constant=no_constant)
    except UnicodeDecodeError:
        return Parsed(INVALID_UTF8, nothing, False)
    except (ValueError, RecursionError):
        return Parsed(MALFORMED, nothing, False)
    if not isinstance(read, dict):
        return Parsed(MALFORMED, nothing, False)
    try:
        row = {column: _typed(kind, read.get(field)) for column, (kind, field) in named.items()}
    except WrongTypeError:
        return Parsed(WRONG_TYPE, nothing, False)
    return Parsed(None, row, bool(read.keys() - {field for _, field in named.values()}))


def _typed(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "instant":
        return instant(value)
    if kind == "text":
        return value if isinstance(value, str) else written(value)
    is_flag = isinstance(value, bool)
    is_whole = isinstance(value, int) and not is_flag and -LIMIT <= value < LIMIT
    if not (is_flag if kind == "boolean" else is_whole):
        raise WrongTypeError(value)
    return value


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
