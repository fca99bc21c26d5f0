"""Kafka Connect: one worker, with Debezium's plugin for PostgreSQL and Apicurio's for Avro.

A source's records and its place in the source are one Kafka transaction: killed at any moment, it
goes on where it was, and who reads what is committed sees each change once. Connectors are
configured through its REST (see connectors.py) and stay in Kafka. A configuration holds no
password, only the name of the variable in this process's environment that does.
"""

import os

from lakehouse_assets import settings
from lakehouse_assets.services import jars, java
from lakehouse_assets.services.host import HOST, answers, write_atomically
from lakehouse_assets.services.kafka import escaped
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.services.service import Service

HEAP = "256m"
PASSWORD = "STOREFRONT_CAPTURE_PASSWORD"  # of the database user that reads the shop's changes

PROPERTIES = """\
bootstrap.servers={bootstrap}
group.id=lakehouse-connect
listeners=http://{host}:{port}
rest.advertised.host.name={host}
plugin.path={plugins}
plugin.discovery=service_load
exactly.once.source.support=enabled
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
# Of all its environment connectors can name the passwords that are meant for them.
config.providers=env
config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
config.providers.env.param.allowlist.pattern={password}
# As often as the broker replicates by default: ours once.
config.storage.topic=connect-configs
config.storage.replication.factor=-1
offset.storage.topic=connect-offsets
offset.storage.replication.factor=-1
offset.storage.partitions=1
status.storage.topic=connect-status
status.storage.replication.factor=-1
status.storage.partitions=1
# A killed worker's tasks are taken up by the next one at once, not after five minutes, and the
# group forgets the dead one as soon as Kafka allows.
scheduled.rebalance.max.delay.ms=0
session.timeout.ms=6000
heartbeat.interval.ms=2000
offset.flush.interval.ms=2000
task.shutdown.graceful.timeout.ms=5000
# The largest record that the broker takes.
producer.max.request.size=10485760
producer.compression.type=lz4
"""


class Connect(Service):
    name = "connect"
    port_names = ("connect",)
    setting = "LAKEHOUSE_CONNECT"
    is_optional = True
    start_timeout_s = 90

    def external(self) -> str | None:
        return os.environ.get(self.setting) or None

    def prepare(self) -> None:
        jars.resolve_jars(["connect", "debezium", "avro"])
        plugins = self.folder / "plugins"
        plugins.mkdir(parents=True, exist_ok=True)
        places = {"debezium": jars.unpacked("debezium"), "avro": settings.jars_home() / "avro"}
        for name, place in places.items():
            (plugins / name).unlink(missing_ok=True)
            (plugins / name).symlink_to(place, target_is_directory=True)
        text = PROPERTIES.format(
            host=HOST,
            port=settings.port("connect"),
            bootstrap=settings.kafka_bootstrap(),
            plugins=escaped(plugins),
            password=PASSWORD,
        )
        write_atomically(self.folder / "worker.properties", text)

    def env(self) -> dict[str, str]:
        return super().env() | java.LOCALE | {PASSWORD: secret(PASSWORD)}

    def command(self) -> list[str]:
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        told, options = str(self.folder / "worker.properties"), [f"-Xmx{HEAP}", *java.FRUGAL]
        return java.command("connect", main, told, options=options, folder=self.folder)

    def probe(self) -> bool:
        """Ours when it has joined its group and takes connectors, which takes longer than REST."""
        if self.external():
            return answers(f"{connect_url()}/", "kafka_cluster_id")
        return answers(f"{connect_url()}/health", "status")


def connect_url() -> str:
    said = os.environ.get(Connect.setting) or f"http://{HOST}:{settings.port('connect')}"
    return said.rstrip("/")
