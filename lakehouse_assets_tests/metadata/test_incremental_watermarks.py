from lakehouse_assets.lake.head import Head, Stamp
from lakehouse_assets.metadata.incremental_watermarks import watermarks

TOPIC = {"topic": "t", "topic_id": "x", "generation": 0, "next": {"0": 7}}
TALLIES = [{"processed": 9}, {"processed": 5}]  # newest first


def test_a_raw_table_reads_its_topic_and_a_child_its_parents() -> None:
    heads = {
        "raw.t": Head("raw.t", 1, Stamp(3, 1, TOPIC), 7, 1_000),
        "marts.m": Head("marts.m", 2, Stamp(1, 1, {"raw.t": [3, 1]}), 2, 2_000, TALLIES),
    }
    told = {(r["source_table"], r["pipeline_name"]): r for r in watermarks(heads, {})}
    assert told.keys() == {("kafka.t", "raw.t"), ("raw.t", "marts.m")}
    assert told["kafka.t", "raw.t"]["position"] == '{"0": 7}'
    assert told["raw.t", "marts.m"]["records_processed"] == 9


def test_a_table_without_data_has_no_watermark() -> None:
    assert watermarks({"raw.t": Head("raw.t", 1, Stamp(0, 1, {}), 0, 0)}, {}) == []
