"""What the raw tables of webhooks share: the receiver's own fields, and how a vendor's event looks.

What is nested in an event stays the JSON text that it is; staging reads from it what it needs.
"""

from typing import ClassVar

from lakehouse_assets.lake.bases import RawTable
from lakehouse_assets.lake.contract import Rule, column
from lakehouse_assets.sources.webhooks.countries import CURRENCIES

MONEY = "decimal(18,2)"


def good(sql: str) -> str:
    """A record that parses fulfils it."""
    return f"_error is not null or coalesce({sql}, false)"


def well_formed(column: str) -> str:
    return f"{column} is null or try_cast({column} as {MONEY}) is not null"


def known(column: str) -> str:
    known = ", ".join(f"'{code}'" for code in CURRENCIES)
    return f"upper(trim({column})) in ({known})"


class WebhookTable(RawTable):
    """Base of raw contracts of webhooks."""

    _webhook_topic = column("string", "The vendor's name of what happened.")
    _webhook_id = column("string", "The vendor's id of it; a re-delivery repeats it.")
    _received_at = column("timestamp", "When the request came to the door, UTC.")

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "came_through_the_door",
            good("_webhook_topic is not null and _webhook_id is not null "
                 "and _received_at is not null"),
            "the receiver wrote what, which and when",
            threshold=0.01,
        ),
    )  # fmt: skip


class StripeTable(WebhookTable):
    """Base of raw contracts of Stripe's events: an envelope around an object."""

    id = column("string", "Stripe's id of the event; a re-delivery repeats it.")
    object = column("string", "What the envelope is: `event`.")
    type = column("string", "What happened, `charge.…`, `customer.…`.")
    created = column("bigint", "When it happened, Unix seconds.")
    api_version = column("string", "The version whose rules `data` was written by.")
    account = column("string", "The connected account, if it is another's event.")
    is_live = column("boolean", "Real money, no test.", field="livemode")
    pending_webhooks = column("bigint", "How many receivers have not answered yet.")
    request = column("string", "JSON: which API request was the cause.")
    data = column("string", "JSON: the object as it now is, and what it was before.", pii=True)

    also = ("context",)
    rules: ClassVar[tuple[Rule, ...]] = (
        *WebhookTable.rules,
        Rule(
            "holds_an_object",
            good("get_json_object(data, '$.object.id') is not null"),
            "the envelope holds something with an id",
            threshold=0.01,
        ),
    )


class HubspotTable(WebhookTable):
    """Base of raw contracts of HubSpot's events, each a creation, a deletion or one new value."""

    event_id = column("string", "HubSpot's id of the event; not promised to be one's own.",
                      field="eventId")  # fmt: skip
    subscription_id = column("string", "What asked for it.", field="subscriptionId")
    subscription_type = column("string", "What happened, `contact.…`, `company.…` or `object.…`.",
                               field="subscriptionType")  # fmt: skip
    portal_id = column("string", "The HubSpot account.", field="portalId")
    app_id = column("string", "The app that subscribed.", field="appId")
    occurred_at_ms = column("bigint", "When it happened, Unix milliseconds.", field="occurredAt")
    attempt_number = column("bigint", "Which attempt at delivery, from 0.", field="attemptNumber")
    object_id = column("string", "Whom or what it is about.", field="objectId")
    object_type_id = column("string", "What kind that is, if the type says `object`.",
                            field="objectTypeId")  # fmt: skip
    change_source = column("string", "Who changed it: a person, an import, …", field="changeSource")
    change_flag = column("string", "CREATED, DELETED, …", field="changeFlag")
    source_id = column("string", "Which person or import.", field="sourceId", pii=True)
    property_name = column("string", "Which property is another now.", field="propertyName")
    property_value = column("string", "What it is now; empty: nothing.", field="propertyValue",
                            pii=True)  # fmt: skip
    association_type = column("string", "What is tied to what.", field="associationType")
    from_object_id = column("string", "What is tied.", field="fromObjectId")
    to_object_id = column("string", "What it is tied to.", field="toObjectId")
    is_association_removed = column("boolean", "The tie is cut.", field="associationRemoved")
    is_primary_association = column("boolean", "The tie is the first one of its kind.",
                                    field="isPrimaryAssociation")  # fmt: skip

    also = (
        "isSensitive", "fromObjectTypeId", "toObjectTypeId", "associationCategory",
        "associationTypeId", "primaryObjectId", "mergedObjectIds", "newObjectId",
        "numberOfPropertiesMoved",
    )  # fmt: skip
    rules: ClassVar[tuple[Rule, ...]] = (
        *WebhookTable.rules,
        Rule(
            "has_a_subject",
            good("coalesce(object_id, from_object_id) is not null"),
            "the event says whom it is about",
            threshold=0.01,
        ),
    )
