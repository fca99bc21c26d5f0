"""What is known to go wrong, in one line: Kafka or Spark gone, a full disk, a locked catalog.

Whoever meets it, we ourselves, pyiceberg or Spark, the reason is found in the error or in what
caused it. Commands and Dagster's runs both tell it from here.
"""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator

from lakehouse_assets import settings

ROOM = "Make room there, then try again"
RIGHTS = (
    "Let this user write there, or name another place: LAKEHOUSE_HOME, LAKEHOUSE_WAREHOUSE (see"
    " .env.example)"
)
REASONS = {
    errno.ENOSPC: ROOM, errno.EDQUOT: ROOM, errno.EACCES: RIGHTS, errno.EPERM: RIGHTS,
    errno.EROFS: RIGHTS, errno.ENOTDIR: RIGHTS,
}  # fmt: skip
OF_SQLITE = re.compile("locked|readonly|unable to open|full|disk I/O")
# By name, so that nothing heavy is imported to recognise them. Their message says what to do next.
KNOWN = {
    "lakehouse_assets.services.host.ServiceError",
    "lakehouse_assets.sources.produce.ProduceError",
    "lakehouse_assets.topics.kafka.KafkaDown",
    "lakehouse_assets.topics.kafka.NoTopic",
    "lakehouse_assets.lake.catalog.NoTable",
    "lakehouse_assets.lake.catalog.MainMoved",
    "lakehouse_assets.lake.publish.Held",
    "lakehouse_assets.topics.position.RecordsLost",
    "lakehouse_assets.lake.ingest.NotInOrder",
    "lakehouse_assets.lake.schema.SchemaRefused",
    "lakehouse_assets.lineage.log.Busy",
    "lakehouse_assets.staging.entries.BadTables",
}
OF_KAFKA = re.compile(
    r"(?:org\.apache\.kafka\.common\.errors\.TimeoutException: "
    r"|Failed to (?:create new|construct) [Kk]afka)[^\n]*"
)
SPARK_GONE = re.compile(r"StatusCode\.UNAVAILABLE|INVALID_HANDLE\.(?:SESSION|OPERATION)_\w+")
OF_JDBC = re.compile(r"\[SQLITE_(?:BUSY|READONLY|CANTOPEN|FULL|IOERR)\w*\][^\n]*")


def told(error: BaseException) -> str | None:
    """None: it is none of these, and a traceback serves better."""
    if f"{type(error).__module__}.{type(error).__qualname__}" in KNOWN:
        return str(error)
    for one in _causes(error):
        if isinstance(one, sqlite3.OperationalError) and OF_SQLITE.search(str(one)):
            return _of_catalog(str(one))
        if isinstance(one, OSError) and one.errno in REASONS:
            quoted = re.search("'([^']+)'", str(one))
            place = one.filename or (quoted[1] if quoted else f"this lake ({settings.home()})")
            return f"{place}: {os.strerror(one.errno)}. {REASONS[one.errno]}."
        if type(one).__module__.startswith("pyspark.errors") and (said := _of_spark(str(one))):
            return said
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _of_catalog(reason: str) -> str:
    place = settings.without_password(settings.catalog_uri())
    if "locked" in reason.lower() or "BUSY" in reason:
        return f"The catalog {place} is locked by another program: wait for it, then try again."
    return f"The catalog {place}: {reason}. {ROOM if 'full' in reason.lower() else RIGHTS}."


def _of_spark(text: str) -> str | None:
    """Its server's own words, which name the file, out of pages of Java; or that it is gone."""
    if SPARK_GONE.search(text):
        return _spark_gone()
    if found := OF_KAFKA.search(text):
        return (
            f"Kafka does not answer Spark at {settings.kafka_bootstrap()} ({_bare(found[0])}); "
            "start it with `lakehouse up kafka`, or name yours in LAKEHOUSE_KAFKA."
        )
    if jdbc := OF_JDBC.search(text):
        return _of_catalog(jdbc[0])
    for number, advice in REASONS.items():
        if found := re.search(f"(?i)[^\n]*{re.escape(os.strerror(number))}[^\n]*", text):
            return f"Spark cannot write to {settings.warehouse()}: {_bare(found[0])}. {advice}."
    if found := re.search(r"Mkdirs failed to create[^\n]*", text):
        return f"Spark cannot write to {settings.warehouse()}: {_bare(found[0])}. {RIGHTS}."
    return None


def _spark_gone() -> str:
    remote = (settings.spark_remote() or "").split(";")[0]  # what follows may be a token
    place = remote or f"127.0.0.1:{settings.port('spark')}"
    advice = "Start LAKEHOUSE_SPARK_REMOTE again" if remote else (
        "`lakehouse logs spark` may say why, `lakehouse up spark` starts it"
    )  # fmt: skip
    return f"Spark at {place} was stopped or killed in the midst of this. {advice}; then try again."


def _bare(line: str) -> str:
    return re.sub(r"^.*?(?:Caused by: )?(?:[\w$]+\.)+\w+(?:Exception|Error): ", "", line).strip(
        " ."
    )
