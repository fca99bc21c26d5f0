"""What the machine refuses, in one line: full and read-only disks, wrong folders, a locked catalog.

Whoever writes, we ourselves, pyiceberg or Spark, the system's reason is found in the error or in
what caused it.
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
OF_JDBC = re.compile(r"\[SQLITE_(?:BUSY|READONLY|CANTOPEN|FULL|IOERR)\w*\][^\n]*")


def told(error: BaseException) -> str | None:
    """None: it is not the machine's doing, and a traceback serves better."""
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
    """Its server's own words, which name the file, out of pages of Java."""
    if jdbc := OF_JDBC.search(text):
        return _of_catalog(jdbc[0])
    for number, advice in REASONS.items():
        if found := re.search(f"(?i)[^\n]*{re.escape(os.strerror(number))}[^\n]*", text):
            return f"Spark cannot write to {settings.warehouse()}: {_bare(found[0])}. {advice}."
    if found := re.search(r"Mkdirs failed to create[^\n]*", text):
        return f"Spark cannot write to {settings.warehouse()}: {_bare(found[0])}. {RIGHTS}."
    return None


def _bare(line: str) -> str:
    return re.sub(r"^.*?(?:Caused by: )?(?:[\w$]+\.)+\w+(?:Exception|Error): ", "", line).strip(
        " ."
    )
