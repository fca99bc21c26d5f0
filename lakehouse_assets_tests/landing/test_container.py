"""A container file put together of encoded records is one that others read, whole or added to."""

import io
from typing import Any

import fastavro
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from lakehouse_assets.landing.container import Header, NoContainer, blocks, header_of

SCHEMA = {"type": "record", "name": "Note", "fields": [{"name": "text", "type": "string"}]}
META = {
    "avro.schema": b'{"type": "record", "name": "Note", "fields": '
    b'[{"name": "text", "type": "string"}]}',
    "avro.codec": b"deflate",
    "rows": "für".encode(),
}
SYNC = bytes(range(16))


def encoded(*texts: str) -> "pa.ChunkedArray":
    found = []
    for text in texts:
        body = io.BytesIO()
        fastavro.schemaless_writer(body, fastavro.parse_schema(SCHEMA), {"text": text})
        found.append(body.getvalue())
    return pa.chunked_array([pa.array(found, pa.binary())], pa.binary())


def read(data: bytes) -> list[str]:
    records: Any = fastavro.reader(io.BytesIO(data))
    return [record["text"] for record in records]


def test_others_read_records_of_every_length_in_their_order() -> None:
    texts = ["", "a", "ü" * 40, "long" * 60_000, *map(str, range(3_000))]
    held = b"".join(blocks(encoded(*texts), SYNC))
    assert read(Header(META, SYNC).encoded() + held) == texts


def test_a_part_of_a_column_is_just_that_part() -> None:
    records = encoded(*map(str, range(100)))
    parts = pa.chunked_array([records.chunk(0)[10:20], records.chunk(0)[50:50]], pa.binary())
    assert read(Header(META, SYNC).encoded() + b"".join(blocks(parts, SYNC))) == [
        str(n) for n in range(10, 20)
    ]


def test_blocks_go_on_standing_behind_another_header() -> None:
    older = Header(META, SYNC).encoded() + b"".join(blocks(encoded("a", "b"), SYNC))
    file = io.BytesIO(older)
    header = header_of(file)
    assert header == Header(META, SYNC)
    newer = Header(META | {"rows": b"3"}, header.sync).encoded() + file.read()
    assert read(newer + b"".join(blocks(encoded("c"), SYNC))) == ["a", "b", "c"]
    assert read(Header(META, SYNC).encoded()) == [], "a file of no records is one, too"


def test_a_header_that_others_wrote_is_read() -> None:
    file = io.BytesIO()
    fastavro.writer(file, SCHEMA, [{"text": "a"}], codec="deflate", metadata={"who": "other"})
    file.seek(0)
    assert header_of(file).meta["who"] == b"other"


@pytest.mark.parametrize(
    "bytes_", [b"", b"Obj", b"PAR1", b"Obj\x01\x02", b"Obj\x01\x02\x01", b"Obj\x01" + b"\xff" * 40]
)
def test_what_is_no_container_is_refused(bytes_: bytes) -> None:
    with pytest.raises(NoContainer):
        header_of(io.BytesIO(bytes_))
