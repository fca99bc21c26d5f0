"""`lakehouse topics peek`: records, decoded, with what is private masked."""

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from threading import Timer

import pytest
from confluent_kafka import Producer

from lakehouse_assets.commands import topic_records
from lakehouse_assets_tests.commands.looking import (
    CHANGE,
    MONEY,
    avro,
    called,
    objects,
    register,
    said,
    texts,
    values,
)
from lakehouse_assets_tests.topics.records import producer, send

CHARGE = {"event_id": "evt_1", "amount": 7.5, "card_last4": "4242",
          "metadata": {"order_id": "o1", "user_email": "ann@example.com"}}  # fmt: skip

pytestmark = pytest.mark.usefixtures("registry")


def test_peek_shows_the_newest_and_what_is_meant(topic: str) -> None:
    send(topic, *texts(*range(20)))
    send(topic, *texts(20, 21), partition=1, key="k")
    assert values(topic) == [{"n": n} for n in range(12, 22)]
    assert values(topic, "--last", "2") == [{"n": 20}, {"n": 21}]
    assert values(topic, "--partition", "0", "--offset", "5", "-n", "2") == [{"n": 5}, {"n": 6}]
    assert values(topic, "--key", "k") == [{"n": 20}, {"n": 21}]
    assert values(topic, "--where", '"N": 1', "-n", "3") == [{"n": 1}, {"n": 10}, {"n": 11}]
    assert values(topic, "--where", '"n": 20', "--last", "3") == [{"n": 20}]
    soon = datetime.now(timezone.utc) + timedelta(minutes=9)
    assert values(topic, "--since", soon.isoformat()) == []
    assert len(values(topic, "--since", "2026-01-01T00:00Z", "-n", "100")) == 22
    beyond = called("topics", "peek", topic, "--partition", "0", "--offset", "99")
    assert "partition 0: 20" in beyond.stderr


def test_a_record_is_told_with_its_place_time_key_headers_and_as_a_tombstone(topic: str) -> None:
    sender = producer()
    sender.produce(topic, None, key=b"\xff\x00", headers={"trace": b"t-1"}, partition=1)
    assert sender.flush(20) == 0
    (found,) = objects("peek", topic)
    assert (found["partition"], found["offset"], found["key"]) == (1, 0, "ff00")
    assert found["headers"] == [["trace", "t-1"]] and found["clock"] == "Kafka"
    assert found["is_tombstone"] and found["value"] is None
    shown = said("topics", "peek", topic)
    assert shown.startswith("1:0  ") and "header trace: t-1" in shown and "tombstone" in shown


def test_avro_is_read_by_each_records_own_schema_and_what_was_aborted_is_not_shown(
    topic: str,
) -> None:
    older = {"type": "record", "name": "T", "fields": [{"name": "a", "type": "long"}]}
    newer = older | {"fields": [*older["fields"], {"name": "b", "type": MONEY}]}  # type: ignore
    newer["fields"][1]["default"] = ""  # type: ignore[index]
    first, second = register("grown", older), register("grown", newer)
    sender: Producer = producer(**{"transactional.id": "looked.at"})
    sender.init_transactions(20)
    for value, ends in [({"a": 1}, "commit"), ({"a": 2}, "abort"), ({"a": 3}, "commit")]:
        sender.begin_transaction()
        sender.produce(topic, avro(first, older, value), partition=0)
        getattr(sender, f"{ends}_transaction")(20)
    send(topic, avro(second, newer, {"a": 4, "b": Decimal("7.50")}))
    assert values(topic) == [{"a": 1}, {"a": 3}, {"a": 4, "b": "7.50"}]
    assert [one["schema"] for one in objects("peek", topic)] == [first, first, second]


def test_what_cannot_be_decoded_is_shown_as_its_bytes_with_the_reason(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = register("odd", CHANGE)
    head = b"\0" + number.to_bytes(4, "big")
    deep = b"[" * 100_000
    odd = b'{"a": "\\ud800\x1b"}'
    good = avro(number, CHANGE, {"op": "c", "before": None, "after": None})
    send(topic, b"\xff\xfe", b'{"a": NaN}', deep, odd, b"\0\0\0\x27\x0f!", head + b"\x02\xff",
         good + b"!", b"")  # fmt: skip
    found = objects("peek", topic, "--bytes", "100")
    assert [one["problem"].split(":")[0] for one in found] == [
        "not JSON", "not JSON", "not JSON that can be read", "not JSON", "unknown schema 9999",
        f"malformed, by schema {number}", f"malformed, by schema {number}", "not JSON",
    ]  # fmt: skip
    assert found[0]["value"] == "fffe" and found[1]["value"] == '{"a": NaN}'
    assert found[2]["is_cut"] and found[3]["value"] == odd.hex()
    assert found[4]["value"] == "000000270f21" and "1 bytes too many" in found[6]["problem"]
    topic_records._schema.cache_clear()
    monkeypatch.setenv("LAKEHOUSE_REGISTRY", "http://127.0.0.1:1")
    assert "registry does not answer" in said("topics", "peek", topic)
    topic_records._schema.cache_clear()


def test_what_is_private_or_unknown_to_the_contract_is_masked_until_revealed(
    charges: str, orders: str
) -> None:
    send(charges, json.dumps(CHARGE | {"nick": "annie"}).encode(), b"ann@")
    known, broken = values(charges)
    assert (known["event_id"], known["amount"]) == ("evt_1", 7.5)
    assert known["metadata"] == {"order_id": "•••", "user_email": "•••"}
    assert (known["card_last4"], known["nick"], broken) == ("•••", "•••", "••• (4 bytes)")
    assert values(charges, "--reveal") == [CHARGE | {"nick": "annie"}, "ann@"]
    assert values(charges, "--where", "ANN@EXAMPLE", "--reveal")[0]["event_id"] == "evt_1"
    number = register("masked", CHANGE)
    row = {"id": 1, "total": Decimal("7.50"), "note": None}
    send(orders, avro(number, CHANGE, {"op": "c", "before": None, "after": row}))
    assert values(orders) == [{"before": None, "op": "c", "after": {
        "id": "•••", "total": "•••", "note": None}}]  # fmt: skip
    assert values(orders, "--reveal")[0]["after"] == row | {"total": "7.50"}
    shown = called("topics", "peek", orders)
    assert "raw.storefront_orders says: after, before; --reveal" in shown.stderr


def test_following_shows_what_comes(topic: str) -> None:
    send(topic, *texts(1))
    later = Timer(0.5, send, (topic, *texts(2, 3)))
    later.start()
    assert values(topic, "--follow", "--seconds", "2.5") == [{"n": 1}, {"n": 2}, {"n": 3}]
    later.join()
    assert values(topic, "--follow", "--seconds", "0.5", "--where", "3") == []
    from_two = ("--partition", "0", "--offset", "1", "--follow", "--seconds", "1")
    assert values(topic, *from_two) == [{"n": 2}, {"n": 3}]
