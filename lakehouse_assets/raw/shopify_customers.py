"""raw.shopify_customers: one row per record of the Kafka topic `shopify.customers`.

A customer as Shopify has them after each change, that they were deleted, or that two were merged
into one; every delivery, re-deliveries too. What is nested stays JSON text. Nothing is cleaned and
nothing is refused.
"""

from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.webhook import WebhookTable, good


class ShopifyCustomers(WebhookTable):
    id = column("string", "Shopify's id of the customer; a merge has none.")
    admin_graphql_api_id = column("string", "The same for its GraphQL API.")
    email = column("string", "As they typed it.", pii=True)
    phone = column("string", "As they typed it.", pii=True)
    first_name = column("string", "As they typed it.", pii=True)
    last_name = column("string", "As they typed it.", pii=True)
    state = column("string", "enabled, disabled, invited or declined.")
    currency = column("string", "Of their last order, ISO 4217.")
    default_address = column("string", "JSON: where they live.", pii=True)
    customer_kept_id = column("string", "Of a merge: GraphQL's id of the one that stays.",
                              field="admin_graphql_api_customer_kept_id")  # fmt: skip
    customer_deleted_id = column("string", "Of a merge: GraphQL's id of the one that goes.",
                                 field="admin_graphql_api_customer_deleted_id")  # fmt: skip
    status = column("string", "Of a merge: whether it is completed.")
    created_at = column("timestamp", "Since when they are a customer, UTC.")
    updated_at = column("timestamp", "When something about them last changed, UTC.")

    layout = Layout(partitioned_by="ingest_hour")
    also = (
        "accepts_marketing", "accepts_marketing_updated_at", "addresses",
        "admin_graphql_api_job_id", "email_marketing_consent", "errors", "last_order_id",
        "last_order_name", "marketing_opt_in_level", "metafield", "multipass_identifier", "note",
        "orders_count", "sms_marketing_consent", "tags", "tax_exempt", "tax_exemptions",
        "total_spent", "verified_email",
    )  # fmt: skip
    rules = (
        *WebhookTable.rules,
        Rule(
            "somebody_is_named",
            good("coalesce(id, customer_deleted_id) is not null"),
            "the record says who it is about",
            threshold=0.01,
        ),
    )


shopify_customers = raw_table(ShopifyCustomers, topic="shopify.customers", group="webhooks")
