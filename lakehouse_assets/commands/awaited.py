"""What the demo waits for: which tables there will be, and which have parents they never read."""

from collections.abc import Container
from contextlib import suppress

from lakehouse_assets.commands import common
from lakehouse_assets.commands.glance import Glance


def to_be_made(made: Container[str]) -> set[str]:
    """The tables worth waiting for: not a raw table whose topic holds nothing or does not exist,
    nor what is made only of such tables, or of another source's.
    """
    expected, groups = set[str](), set[str]()
    for name, table in common.tables().items():  # parents before children
        ours = {p.name for p in table.parents.values() if table.group in (p.group, "metadata")}
        if (
            name in made
            or table.source
            or expected & ours
            or (table.daily and table.group in groups)
            or (table.topic and _has_records(table.topic))
        ):
            expected.add(name)
            groups.add(table.group)
    return expected


def unheard(found: dict[str, Glance]) -> str:
    """A table with a parent that came after it and that it has not read, which its own progress
    cannot tell; empty if there is none.
    """
    for name, table in common.tables().items():
        made = [p.name for p in table.parents.values() if p.name in found and found[p.name].commit]
        if name in found and any(parent not in found[name].progress for parent in made):
            return name
    return ""


def _has_records(topic: str) -> bool:
    from lakehouse_assets.topics.kafka import Kafka, NoTopic

    with suppress(NoTopic):
        found = Kafka().topic(topic)
        return found.latest != found.earliest
    return False
