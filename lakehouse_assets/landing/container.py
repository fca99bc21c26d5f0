"""An Avro container file, put together of records that Spark has encoded: a header, then blocks.

The body of a block is its records one after the other, and that is what an Arrow column of binaries
holds already. So nobody looks at single records here; and the blocks of an older file, of the same
schema, go on standing in a new one as they are.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

MAGIC, SYNC_BYTES = b"Obj\x01", 16
LEVEL = 1  # of deflate: the fastest; what a change repeats, names and before in after, is gone
MAX_META_BYTES = 4_000_000  # of one value of a header; a longer one is no header of ours


class NoContainer(Exception):
    """These bytes do not begin as a container file does."""


@dataclass(frozen=True)
class Header:
    """What a file says of itself; `sync` stands after each block."""

    meta: dict[str, bytes]
    sync: bytes

    def encoded(self) -> bytes:
        pairs = [_long(len(part)) + part for k, v in self.meta.items() for part in (k.encode(), v)]
        return b"".join([MAGIC, _long(len(self.meta)), *pairs, _long(0), self.sync])


def header_of(file: BinaryIO) -> Header:
    """Reads it, and leaves the file at its first block."""
    if file.read(len(MAGIC)) != MAGIC:
        raise NoContainer("no Avro container file: its first bytes are others")
    meta: dict[str, bytes] = {}
    while pairs := _number(file):
        if pairs < 0:
            pairs, _ = -pairs, _number(file)
        for _ in range(pairs):
            name = _piece(file).decode()
            meta[name] = _piece(file)
    return Header(meta, _exactly(file, SYNC_BYTES))


def blocks(records: "pa.ChunkedArray", sync: bytes) -> Iterator[bytes]:
    """Encoded records, none of them NULL, as blocks."""
    for chunk in records.chunks:
        if len(chunk):
            _, places, values = chunk.buffers()
            ends = memoryview(places).cast("B").cast("i")
            body = memoryview(values)[ends[chunk.offset] : ends[chunk.offset + len(chunk)]]
            deflate = zlib.compressobj(LEVEL, wbits=-zlib.MAX_WBITS)
            packed = deflate.compress(body) + deflate.flush()
            yield b"".join([_long(len(chunk)), _long(len(packed)), packed, sync])


def _long(number: int) -> bytes:
    """Avro's spelling: zigzag, seven bits a byte."""
    rest, spelled = number << 1 if number >= 0 else (-number << 1) - 1, bytearray()
    while rest > 0x7F:
        spelled.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*spelled, rest])


def _number(file: BinaryIO) -> int:
    rest = shift = 0
    while (byte := _exactly(file, 1)[0]) & 0x80:
        rest |= (byte & 0x7F) << shift
        shift += 7
    rest |= byte << shift
    return (rest >> 1) ^ -(rest & 1)


def _piece(file: BinaryIO) -> bytes:
    return _exactly(file, _number(file))


def _exactly(file: BinaryIO, count: int) -> bytes:
    if not 0 <= count <= MAX_META_BYTES:
        raise NoContainer(f"no header of an Avro container file: a part of {count:,} bytes")
    if len(found := file.read(count)) < count:
        raise NoContainer("the header of an Avro container file ends early")
    return bytes(found)
