"""The group of tables that benches bring up, and the topics that feed it."""

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from lakehouse_assets import settings
from lakehouse_assets.definitions import tables
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.orchestration.sensors import sources


def the_tables() -> list[LakeTable]:
    """Every table that the payments' runs bring up, parents first."""
    return next(s for s in sources(tables()) if s.group == "payments").tables


def forget(topic: str) -> None:
    """Delete what the topic holds, so that the next lake begins after it."""
    admin = AdminClient({"bootstrap.servers": settings.kafka_bootstrap()})
    partitions = admin.list_topics(topic, timeout=10).topics[topic].partitions
    everything = [TopicPartition(topic, p, -1) for p in partitions]  # -1: up to the end
    for done in admin.delete_records(everything).values():
        done.result(30)
