"""raw.shopify_orders: one row per record of the Kafka topic `shopify.orders`.

An order as Shopify has it after each thing that happened to it, every delivery, re-deliveries too.
Money is text, and what is nested stays JSON text. Nothing is cleaned and nothing is refused; the
rules here measure how far the feed can be trusted.
"""

from lakehouse_assets.lake.contract import Layout, Rule, column
from lakehouse_assets.lake.table import raw_table
from lakehouse_assets.raw.webhook import WebhookTable, good, known, well_formed


class ShopifyOrders(WebhookTable):
    id = column("string", "Shopify's id of the order.")
    admin_graphql_api_id = column("string", "The same for its GraphQL API.")
    email = column("string", "The buyer's, as typed at checkout.", pii=True)
    order_number = column("bigint", "The shop's own number of it.")
    total_price = column("string", "What is to be paid, in units.")
    subtotal_price = column("string", "Line items less discounts, in units.")
    total_tax = column("string", "Taxes, in units.")
    total_discounts = column("string", "What was taken off the line items, in units.")
    total_shipping = column("string", "JSON: shipping in the shop's and the buyer's currency.",
                            field="total_shipping_price_set")  # fmt: skip
    is_tax_included = column("boolean", "The prices contain the taxes.", field="taxes_included")
    currency = column("string", "The shop's currency, ISO 4217.")
    financial_status = column("string", "pending, paid, refunded, voided, …")
    fulfillment_status = column("string", "fulfilled, partial, … or nothing yet.")
    customer = column("string", "JSON: who ordered.", pii=True)
    line_items = column("string", "JSON: what was ordered, an array.")
    shipping_address = column("string", "JSON: where it goes.", pii=True)
    billing_address = column("string", "JSON: who pays.", pii=True)
    created_at = column("timestamp", "When the order was made, UTC.")
    updated_at = column("timestamp", "When it last changed, UTC.")
    cancelled_at = column("timestamp", "When it was cancelled, if it was, UTC.")

    layout = Layout(partitioned_by="ingest_hour")
    also = (
        "app_id", "browser_ip", "buyer_accepts_marketing", "cancel_reason", "cart_token",
        "checkout_id", "checkout_token", "client_details", "closed_at", "company",
        "confirmation_number", "confirmed", "contact_email", "current_shipping_price_set",
        "current_subtotal_price", "current_subtotal_price_set",
        "current_total_additional_fees_set", "current_total_discounts",
        "current_total_discounts_set", "current_total_duties_set", "current_total_price",
        "current_total_price_set", "current_total_tax", "current_total_tax_set",
        "customer_locale", "device_id", "discount_applications", "discount_codes",
        "duties_included", "estimated_taxes", "fulfillments", "landing_site", "landing_site_ref",
        "location_id", "merchant_business_entity_id", "merchant_of_record_app_id", "name", "note",
        "note_attributes", "number", "order_status_url", "original_total_additional_fees_set",
        "original_total_duties_set", "payment_gateway_names", "payment_terms", "phone",
        "po_number", "presentment_currency", "processed_at", "reference", "referring_site",
        "refunds", "returns", "shipping_lines", "source_identifier", "source_name", "source_url",
        "subtotal_price_set", "tags", "tax_exempt", "tax_lines", "test", "token",
        "total_cash_rounding_payment_adjustment_set", "total_cash_rounding_refund_adjustment_set",
        "total_discounts_set", "total_line_items_price", "total_line_items_price_set",
        "total_outstanding", "total_price_set", "total_tax_set", "total_tip_received",
        "total_weight", "user_id",
    )  # fmt: skip
    rules = (
        *WebhookTable.rules,
        Rule(
            "line_items_are_a_list",
            good("json_array_length(line_items) is not null"),
            "one can say how many there are",
            threshold=0.02,
        ),
        Rule("currency_known", known("currency"), "a currency we know", threshold=0.02),
        Rule(
            "totals_well_formed",
            " and ".join(
                f"({well_formed(name)})"
                for name in ("total_price", "subtotal_price", "total_tax", "total_discounts")
            ),
            "money is a number",
            threshold=0.02,
        ),
    )


shopify_orders = raw_table(ShopifyOrders, topic="shopify.orders", group="webhooks")
