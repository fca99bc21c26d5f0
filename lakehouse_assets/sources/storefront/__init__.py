"""A web shop whose PostgreSQL is captured: its schema, how it is filled, and what happens in it.

`migrations/` is the schema, and who may read its changes. `seeding` fills an empty shop with years
of orders; `traffic` goes on from whatever stands in the database, one transaction after the other.
Both are functions of their seed, the clock and the database alone. `app`, run as the service
`shop`, does both on request; `python -m lakehouse_assets.sources.storefront` sends traffic until it
is stopped.

Some customers of a new shop are people of whom the vendors tell, too, see `shared`.

An order's total is always what its lines cost, less its discount.
"""

FEEDS: dict[str, str] = {}  # one shop: there is nothing to send for itself
