"""What the bench of webhooks' people times, and what it concludes from what it saw."""

from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.bench import people
from lakehouse_assets.commands.compare import catalog

START = datetime(2026, 3, 1, tzinfo=timezone.utc)


def test_it_times_the_first_webhook_of_each_record_and_none_that_is_deleted() -> None:
    feed = people.Posts(7, 3_000, 50)
    sent = list(feed._requests(START))
    assert feed.sent == len(sent) == 3_000
    assert len(set(feed.first.values())) == len(feed.first) > 500
    told = [(known, r.known[:2]) for r in sent if r.known for known in r.ids[:1]]
    firsts = dict(reversed([(who, known) for known, who in told]))
    assert {known: who for who, known in firsts.items()}.items() >= feed.first.items()
    assert feed.gone == {r.known[:2] for r in sent if r.known and "delet" in r.topic}


def test_somebody_is_seen_with_the_first_snapshot_that_has_the_id(empty_lake: Path) -> None:
    tables = catalog()
    tables.create_namespace("marts")
    ids = pa.list_(pa.string())
    schema = pa.schema([(column, ids) for column in people.IDS.values()])
    table = tables.create_table(people.MART, schema)
    sightings = []
    for at, (shopify, hubspot) in enumerate([(["1"], []), (["1", "2"], ["1"])], 100):
        row = {"shopify_ids": [shopify], "stripe_ids": [[]], "hubspot_ids": [hubspot]}
        table.overwrite(pa.table(row, schema=schema))
        sightings.append((float(at), table.metadata.current_snapshot_id or 0))
    wanted = {("shopify", "1"), ("shopify", "2"), ("hubspot", "1"), ("stripe", "9")}
    found = people._seen(sightings, wanted)
    assert found == {("shopify", "1"): 100, ("shopify", "2"): 101, ("hubspot", "1"): 101}
