"""What customers do, orders apart. False: there was nothing to do it with."""

from lakehouse_assets.sources.storefront.desk import Desk

SEGMENTS = ("new", "regular", "loyal", "vip")


def joined(desk: Desk) -> bool:
    customer = desk.maker.customer(None, desk.now())
    id = desk.add(customer)
    for address in desk.maker.addresses(id, customer.country, customer.created_at):
        desk.add(address)
    return True


def left(desk: Desk) -> bool:
    """Only who never ordered."""
    id = desk.idle("customers", "orders where customer_id")
    if id is None:
        return False
    desk.run("delete from addresses where customer_id = %s", id)
    desk.run("delete from customers where id = %s", id)
    return True


def email_changed(desk: Desk) -> bool:
    if not (found := desk.any("customers", "id, first_name, last_name")):
        return False
    id, first, last = found
    desk.run(
        "update customers set email = %s, updated_at = %s where id = %s",
        desk.maker.email(first, last), desk.now(), id,
    )  # fmt: skip
    return True


def segment_changed(desk: Desk) -> bool:
    """Some say at the same time whether they want news: the row is touched twice."""
    if not (found := desk.any("customers", "id, segment")):
        return False
    id, segment = found
    others = [one for one in SEGMENTS if one != segment]
    desk.run(
        "update customers set segment = %s, updated_at = %s where id = %s",
        desk.rng.choice(others), desk.now(), id,
    )  # fmt: skip
    if desk.rng.random() < 0.3:
        desk.run(
            "update customers set is_subscribed = not is_subscribed, preferences = null,"
            " updated_at = %s where id = %s", desk.now(), id,
        )  # fmt: skip
    return True


def address_changed(desk: Desk) -> bool:
    if not (found := desk.any("addresses", "id, country")):
        return False
    id, country = found
    desk.run(
        "update addresses set street = %s, city = %s, region = %s, postal_code = %s,"
        " updated_at = %s where id = %s", *desk.maker.place(country), desk.now(), id,
    )  # fmt: skip
    return True
