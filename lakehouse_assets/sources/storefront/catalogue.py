"""What the keepers of the catalogue do. False: there was nothing to do it with."""

from lakehouse_assets.sources.storefront.desk import Desk
from lakehouse_assets.sources.storefront.making import CENT

MOST_REPRICED = 3  # products at once
POSITIONS = 9
LAUNCHED_ACTIVE = 0.5


def price_changed(desk: Desk) -> bool:
    """Of a few products that were listed one after the other. What was ordered keeps its price."""
    if not (found := desk.any("products", "id")):
        return False
    few = desk.all(
        "select id, price from products where id >= %s order by id limit %s",
        found[0], desk.rng.randint(1, MOST_REPRICED),
    )  # fmt: skip
    for id, price in few:
        percent = desk.rng.choice((-20, -10, -5, 5, 10, 25))
        desk.run(
            "update products set price = %s, updated_at = %s where id = %s",
            max(CENT, (price * (100 + percent) / 100).quantize(CENT)), desk.now(), id,
        )  # fmt: skip
    return True


def description_edited(desk: Desk) -> bool:
    if not (found := desk.any("products", "id")):
        return False
    desk.run(
        "update products set description = %s, updated_at = %s where id = %s",
        desk.maker.words.description(desk.rng), desk.now(), found[0],
    )  # fmt: skip
    return True


def product_launched(desk: Desk) -> bool:
    """On a shelf that is there; some are not for sale yet."""
    shelf = desk.any("categories", "id, parent_id, name", "parent_id is not null")
    if not shelf:
        return False
    (department,) = desk.the("select name from categories where id = %s", shelf[1])
    is_active = desk.rng.random() < LAUNCHED_ACTIVE
    desk.add(desk.maker.product(None, (shelf[0], department, shelf[2]), desk.now(), is_active))
    return True


def product_withdrawn(desk: Desk) -> bool:
    """Only what was never sold."""
    id = desk.idle("products", "order_items where product_id")
    if id is None:
        return False
    desk.run("delete from products where id = %s", id)
    return True


def shelf_moved(desk: Desk) -> bool:
    if not (found := desk.any("categories", "id")):
        return False
    desk.run(
        f"update categories set position = position %% {POSITIONS} + 1, updated_at = %s"
        " where id = %s", desk.now(), found[0],
    )  # fmt: skip
    return True
