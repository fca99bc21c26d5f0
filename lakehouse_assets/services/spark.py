"""The Spark Connect server: one warm JVM that runs, the command line and tests share.

It is started directly, not by spark-submit, which would insist on a JDK module that the packaged
Java lacks. Whoever reaches its port needs the token. Catalogs belong to sessions, not to it.
"""

import os
import socket
import sys
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from lakehouse_assets import settings
from lakehouse_assets.services import jars, java
from lakehouse_assets.services.host import HOST, listening
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.services.service import Service

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"

# What is the same for every lake; ports, cores and folders are added at start.
CONF = {
    "spark.app.name": "lakehouse",
    "spark.connect.grpc.binding.address": HOST,
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.authenticate": "true",  # its inner ports too, with a secret that never leaves the JVM
    "spark.port.maxRetries": "0",  # a taken port is an error, never silently the next one
    "spark.ui.killEnabled": "false",  # the UI asks for no token
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    # Files as Hadoop's own local file system makes them, in this process: that starts a program for
    # each, `chmod`, and a small batch makes ten.
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    # Sorts and joins spill to disk beyond it. Of the default, 0.6, and what a run's plans and files
    # need beside, the old generation of a small heap overflows, and the server dies of it.
    "spark.memory.fraction": "0.4",
    # The server runs for weeks: what it remembers for its UI and for idle clients is bounded.
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "50",
    "spark.connect.ui.retainedSessions": "50",
    "spark.connect.ui.retainedStatements": "50",
    "spark.connect.session.manager.defaultSessionTimeout": "1h",
    "spark.connect.execute.manager.detachedTimeout": "5m",
    "spark.cleaner.periodicGC.interval": "10min",
    # Of a hundred, the default, the tables of one run would drive out each other's compiled code.
    "spark.sql.codegen.cache.maxEntries": "2000",
}

OPENED = (  # PySpark's own list of what Spark needs opened in java.base
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio",
    "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref",
    "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar",
)  # fmt: skip

# Planning runs much code a few times each. The JIT's optimizing compiler, by default, takes that
# for hot and spends almost half of a small run's CPU on it: here it takes ten times the calls. What
# goes over rows by the million gets there all the same.
LATER = {"InvocationThreshold": 50_000, "MinInvocationThreshold": 6_000,
         "CompileThreshold": 150_000, "BackEdgeThreshold": 400_000}  # fmt: skip

# A broken record of Avro may say that billions of letters follow, and room be made for them.
AVRO_LENGTHS = ("bytes.maxLength", "string.maxLength", "collectionItems.maxLength")
AVRO_LIMIT = 16_777_216  # more than a record of Kafka's holds

# HTTP/2's preface and an empty SETTINGS frame; a gRPC server answers with its own SETTINGS.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


class Spark(Service):
    name = "spark"
    port_names = ("spark", "spark_ui")
    start_timeout_s = 90
    setting = "LAKEHOUSE_SPARK_REMOTE"

    def external(self) -> str | None:
        remote = settings.spark_remote()
        return remote.split(";")[0] if remote else None  # what follows may be a token

    def prepare(self) -> None:
        jars.resolve_jars(["spark"])

    def conf(self) -> dict[str, str]:
        return CONF | {
            "spark.master": f"local[{os.environ.get('LAKEHOUSE_SPARK_CORES') or '*'}]",
            "spark.connect.grpc.binding.port": str(settings.port("spark")),
            "spark.ui.port": str(settings.port("spark_ui")),
            "spark.local.dir": str(self.folder / "scratch"),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
        }

    def command(self) -> list[str]:
        options = [
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
            "-Dio.netty.tryReflectionSetAccessible=true",
            "-XX:+UseParallelGC",
            *(f"-XX:Tier4{name}={calls}" for name, calls in LATER.items()),
            f"-Xmx{os.environ.get('LAKEHOUSE_SPARK_MEMORY') or '2g'}",
            "-Djava.net.preferIPv6Addresses=false",
            *(f"-Dorg.apache.avro.limits.{what}={AVRO_LIMIT}" for what in AVRO_LENGTHS),
            *(f"-D{key}={value}" for key, value in self.conf().items()),
        ]
        main = "org.apache.spark.sql.connect.service.SparkConnectServer"
        return java.command("spark", main, options=options, folder=self.folder)

    def env(self) -> dict[str, str]:
        """The starter's own Spark settings are a client's and would mislead a server."""
        inherited = {k: v for k, v in super().env().items() if not k.startswith("SPARK_")}
        ours = {TOKEN: spark_token(), "SPARK_LOCAL_IP": HOST, "PYSPARK_PYTHON": sys.executable}
        return inherited | java.LOCALE | ours

    def probe(self) -> bool:
        if remote := self.external():
            url = urlsplit(remote)
            return listening(url.port or 15002, url.hostname or HOST)
        try:
            with socket.create_connection((HOST, settings.port("spark")), timeout=1) as server:
                server.settimeout(1)
                server.sendall(PREFACE)
                answer = server.recv(9, socket.MSG_WAITALL)
        except OSError:
            return False
        return len(answer) == 9 and answer[3] == 4


def spark_token() -> str:
    return secret(TOKEN)


def connect_url() -> str:
    """For `SparkSession.builder.remote`. `localhost`, since a bare 127.0.0.1 would demand TLS."""
    port = settings.port("spark")
    return settings.spark_remote() or f"sc://localhost:{port}/;token={spark_token()}"


def connect() -> "SparkSession":
    """A session of its own on the server, which is started if it is ours and not running."""
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    Spark().start()  # one of somebody else's must at least answer
    settings.home().mkdir(parents=True, exist_ok=True)
    os.environ.update(settings.reaching_ourselves(os.environ))  # gRPC would ask a proxy
    session: Any = SparkSession.builder.remote(connect_url()).create()
    # PySpark's own policy waits ten minutes for a server that is gone; a run should fail instead.
    session.client.set_retry_policies([DefaultPolicy(max_retries=8, max_backoff=2_000)])
    session.client.close = partial(_close, session.client)
    if "IPython" not in sys.modules and find_spec("IPython") is None:
        # PySpark looks for it all along sys.path with every column that is named.
        sys.modules["IPython"] = None  # type: ignore[assignment]
    return cast("SparkSession", session)


def _close(client: Any) -> None:
    """Its connection alone. PySpark's own `close` also ends the threads that all sessions share,
    under a lock, in whatever thread collects a session as garbage. If that is one of those threads
    as it starts, who starts it holds the lock, and both wait for ever.
    """
    client._channel.close()
    client._closed = True
