"""Archives among the JVM parts: kept and pinned as jars are, and unpacked beside themselves.

An archive's folder carries its checksum in its name and appears in one step, so what is there is
whole and of that archive.
"""

import os
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

KINDS = (".tar.gz", ".zip")
PART = ".unpacking-"
DIGITS = 12  # of the checksum


def is_archive(name: str) -> bool:
    return name.endswith(KINDS)


def folder(archive: Path, sha256: str) -> Path:
    """Where the archive of that checksum is unpacked."""
    kind = next(kind for kind in KINDS if archive.name.endswith(kind))
    return archive.with_name(f"{archive.name.removesuffix(kind)}-{sha256[:DIGITS]}")


def unpack(archive: Path, sha256: str) -> None:
    """Unless it is; one caller at a time. A killed one's beginnings are removed here."""
    for old in archive.parent.glob(f"{PART}*"):
        shutil.rmtree(old, ignore_errors=True)
    if (place := folder(archive, sha256)).exists():
        return
    with tempfile.TemporaryDirectory(prefix=PART, dir=archive.parent) as scratch:
        part = Path(scratch) / "whole"
        if archive.name.endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(part)
        else:
            with tarfile.open(archive) as tarred:
                tarred.extractall(part, filter="data")
        os.replace(part, place)
