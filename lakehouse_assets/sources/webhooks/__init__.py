"""Shopify, Stripe and HubSpot: what they send over HTTP, and the door that lets it into Kafka.

The door (`app`, run as the service `webhooks`) verifies, recognises and forwards; it reads no table
and changes no event. A record of Kafka is the vendor's JSON object, byte by byte, behind three
fields of ours, see `records`.
"""
