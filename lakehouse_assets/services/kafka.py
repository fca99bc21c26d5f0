"""Apache Kafka, one KRaft node that is broker and controller.

An acknowledged record survives kill -9 of the broker: it is in the page cache, and the next start
recovers the log. It may not survive the machine's power, as one replica never does.
"""

import base64
import os
import socket
import struct
import subprocess
import uuid
from pathlib import Path

from lakehouse_assets import settings
from lakehouse_assets.services import jars, java
from lakehouse_assets.services.host import HOST, ServiceError, listening, write_atomically
from lakehouse_assets.services.service import Service

HEAP = "512m"

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{kafka},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{kafka}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={data}
auto.create.topics.enable=false
# Hours are cut by arrival: the broker's clock, not the producers'.
log.message.timestamp.type=LogAppendTime
log.retention.hours={retention_hours}
message.max.bytes=10485760
replica.fetch.max.bytes=10485760
# So that a killed broker is let in again after seconds: the controller waits for its old session.
broker.session.timeout.ms=4000
broker.heartbeat.interval.ms=1000
group.initial.rebalance.delay.ms=0
# Twice a second it would note for other brokers that nothing happened: half of an idle one's CPU.
metadata.max.idle.interval.ms=0
# One node: nothing can be replicated, and a few partitions are enough for the internal topics.
default.replication.factor=1
min.insync.replicas=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
log.cleaner.dedupe.buffer.size=16777216
"""

# Metadata v4 with an empty topic list: "which brokers serve?" A broker that listens but is still
# fenced by its controller is not in the answer, so it counts as not ready.
METADATA_REQUEST = struct.pack(">hhih5si?", 3, 4, 7, 5, b"probe", 0, False)


class Kafka(Service):
    name = "kafka"
    port_names = ("kafka", "kafka_controller")
    setting = "LAKEHOUSE_KAFKA"

    def external(self) -> str | None:
        return os.environ.get(self.setting) or None

    @property
    def properties(self) -> Path:
        return self.folder / "server.properties"

    def prepare(self) -> None:
        """The storage is formatted once; the cluster's id then stands in its meta.properties."""
        jars.resolve_jars(["kafka"])
        data = self.folder / "data"
        text = PROPERTIES.format(
            host=HOST,
            data=escaped(data),
            kafka=settings.port("kafka"),
            controller=settings.port("kafka_controller"),
            retention_hours=os.environ.get("LAKEHOUSE_KAFKA_RETENTION_HOURS") or 168,
        )
        write_atomically(self.properties, text)
        if (data / "meta.properties").exists():
            return
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # An id that begins with a dash would be read as an option.
        tool = self._java("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}")
        done = subprocess.run(
            [*tool, "-c", str(self.properties)],
            env=self.env(), capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        if done.returncode:
            raise ServiceError(
                f"kafka: could not format {data}:\n{(done.stdout + done.stderr)[-2000:]}"
            )

    def env(self) -> dict[str, str]:
        return super().env() | java.LOCALE

    def command(self) -> list[str]:
        return self._java("kafka.Kafka", str(self.properties))

    def probe(self) -> bool:
        """Of a foreign one only that it listens: its encryption and passwords are its clients'."""
        if self.external():
            servers = (s.rpartition(":") for s in settings.kafka_bootstrap().split(","))
            return any(listening(int(port), host.strip("[]")) for host, _, port in servers)
        try:
            with socket.create_connection((HOST, settings.port("kafka")), timeout=1) as broker:
                broker.settimeout(1)
                broker.sendall(struct.pack(">i", len(METADATA_REQUEST)) + METADATA_REQUEST)
                answer = broker.recv(16, socket.MSG_WAITALL)
        except OSError:
            return False
        if len(answer) < 16:
            return False
        _, correlation, _, brokers = struct.unpack(">iiii", answer)
        return bool(correlation == 7 and brokers > 0)

    def answers(self) -> bool:
        """Ours or the one that the environment names; not whatever else has taken the port."""
        return bool(self.external() or self._recorded()) and self.probe()

    def _java(self, main: str, *args: str) -> list[str]:
        options = [f"-Xmx{HEAP}", *java.FRUGAL, f"-Dkafka.logs.dir={self.folder}"]
        return java.command("kafka", main, *args, options=options, folder=self.folder)


def escaped(path: Path) -> str:
    """As Java reads it, which takes a properties file for Latin-1 and a backslash for an escape."""
    if "," in str(path):
        raise ServiceError(
            f"kafka: {path} has a comma, which Kafka takes for the end of a folder's name. Move the"
            " repository, or let LAKEHOUSE_HOME name a folder without one."
        )
    pairs = str(path).replace("\\", "\\\\").encode("utf-16-be").hex()
    units = [int(pairs[i : i + 4], 16) for i in range(0, len(pairs), 4)]
    return "".join(chr(unit) if unit < 128 else f"\\u{unit:04x}" for unit in units)
