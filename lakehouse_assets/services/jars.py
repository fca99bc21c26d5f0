"""The JVM parts: deploy/jars.xml says which, deploy/jars.sha256 says what each must contain.

The Ivy inside PySpark fetches them into a scratch folder; only a jar with the right checksum moves
on to where the services look, in one step. What a service loads is therefore whole and pinned. An
archive is a jar here too, and is unpacked beside itself.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies_environment
from xml.etree import ElementTree

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lakehouse_assets import settings
from lakehouse_assets.services import archives, java
from lakehouse_assets.services.host import ServiceError, locked, write_atomically

ATTEMPTS = 3
IVY_TIMEOUT_S = 900
TRUST_STORE = Path("/etc/ssl/certs/java/cacerts")  # Debian's; knows private authorities too
SCRATCH = ".fetch-"

Checksums = dict[str, str]  # "spark/iceberg-….jar" -> sha256


def declaration() -> Path:
    return settings.ROOT / "deploy" / "jars.xml"


def lock_file() -> Path:
    return settings.ROOT / "deploy" / "jars.sha256"


def unpacked(conf: str) -> Path:
    """The folder of a configuration that is an archive."""
    return next(iter(_unpacked(_wanted([conf])).values()))


def resolve_jars(confs: Collection[str] | None = None) -> int:
    """See to it that these configurations' jars (None: all) are there; how many were fetched."""
    wanted = _wanted(confs)
    if not _wrong(wanted) and all(place.exists() for place in _unpacked(wanted).values()):
        return 0
    with locked(_home() / ".lock", IVY_TIMEOUT_S):
        fetched = len(_wrong(wanted))
        for _ in range(ATTEMPTS):
            if not (wrong := _wrong(wanted)):
                break
            found, failure = _fetch(wrong, wanted)
        else:
            if wrong := _wrong(wanted):
                raise ServiceError(_complaint(wrong[0], len(wrong), wanted, found, failure))
        _remove_strays(wanted)
        for name in _unpacked(wanted):
            archives.unpack(_home() / name, wanted[name])
    return fetched


def _fetch(names: Collection[str], wanted: Checksums) -> tuple[dict[str, str | None], str]:
    """One attempt; the checksums that came and what Ivy complained about."""
    with _scratch() as scratch:
        failure = _run_ivy(scratch, {name.split("/")[0] for name in names})
        found = {name: _sha256(scratch / name) for name in names}
        for name in names:
            (_home() / name).unlink(missing_ok=True)
            if found[name] == wanted[name]:
                (_home() / name).parent.mkdir(parents=True, exist_ok=True)
                (scratch / name).replace(_home() / name)
            else:
                _forget_cached(name)
    return found, failure


def lock_jars() -> int:
    """Write the checksums anew from what deploy/jars.xml resolves to; how many there are."""
    with locked(_home() / ".lock", IVY_TIMEOUT_S), _scratch() as scratch:
        if failure := _run_ivy(scratch, ["*"]):
            raise ServiceError(f"Nothing locked: {failure}")
        files = (path for path in scratch.rglob("*") if path.is_file())
        jars = sorted(path.relative_to(scratch).as_posix() for path in files)
        lines = [f"{_sha256(scratch / name)}  {name}\n" for name in jars]
        write_atomically(lock_file(), "".join(lines))
    resolve_jars()
    return len(jars)


def _home() -> Path:
    return settings.jars_home()


def _wanted(confs: Collection[str] | None) -> Checksums:
    lines = (line.split(maxsplit=1) for line in lock_file().read_text().splitlines())
    wanted = {name: sha256 for sha256, name in lines}
    if confs is None:
        return wanted
    if missing := set(confs) - {name.split("/")[0] for name in wanted}:
        raise ServiceError(f"{lock_file()} pins no jars for {sorted(missing)}. Run `make lock`.")
    return {name: sha256 for name, sha256 in wanted.items() if name.split("/")[0] in confs}


def _unpacked(wanted: Checksums) -> dict[str, Path]:
    """Where each archive among them is unpacked."""
    named = (name for name in wanted if archives.is_archive(name))
    return {name: archives.folder(_home() / name, wanted[name]) for name in named}


def _wrong(wanted: Checksums) -> list[str]:
    """A jar whose size and time are as when its checksum was last seen right is not read again."""
    known = _stamped()
    seen = {name: _stamp(name, sha256) for name, sha256 in wanted.items()}
    unread = [name for name in wanted if known.get(name) != seen[name]]
    wrong = [name for name in unread if _sha256(_home() / name) != wanted[name]]
    right = {name: seen[name] for name in unread if name not in wrong}
    if right:
        with suppress(OSError):  # the jars may be another user's: then they are read every time
            write_atomically(_home() / ".verified.json", json.dumps(known | right))
    return wrong


def _sha256(path: Path) -> str | None:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    except FileNotFoundError:
        return None
    return digest.hexdigest()


def _stamp(name: str, sha256: str) -> list[str | int]:
    try:
        stat = (_home() / name).stat()
    except FileNotFoundError:
        return []
    return [sha256, stat.st_size, stat.st_mtime_ns]


def _stamped() -> dict[str, list[str | int]]:
    try:
        stamps: dict[str, list[str | int]] = json.loads((_home() / ".verified.json").read_text())
    except (OSError, ValueError):
        return {}
    return stamps


def _remove_strays(wanted: Checksums) -> None:
    """A jar of an old revision would stand on the class path beside the new one."""
    kept = {_home() / name for name in wanted} | {*_unpacked(wanted).values()}
    for conf in {name.split("/")[0] for name in wanted}:
        for path in {*(_home() / conf).iterdir()} - kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _forget_cached(name: str) -> None:
    """Else Ivy would hand out the same bad file again."""
    for dependency in ElementTree.parse(declaration()).getroot().iter("dependency"):
        org, module, revision = (dependency.get(key, "") for key in ("org", "name", "rev"))
        if Path(name).name.startswith(f"{module}-{revision}"):
            shutil.rmtree(_home() / ".ivy" / org / module, ignore_errors=True)


@contextmanager
def _scratch() -> Iterator[Path]:
    """On the jars' own disk, so that moving a jar is one step; a killed run's is swept here."""
    for old in _home().glob(f"{SCRATCH}*"):
        shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=_home()) as folder:
        yield Path(folder)


def _ivy_command(target: Path, confs: Collection[str]) -> list[str]:
    ivy = next(java.pyspark_jars().glob("ivy-*.jar"), None)
    if ivy is None:
        raise ServiceError(f"No ivy-*.jar in {java.pyspark_jars()}: has PySpark dropped its Ivy?")
    trust = [f"-Djavax.net.ssl.trustStore={TRUST_STORE}"] if TRUST_STORE.is_file() else []
    cache = _home() / ".ivy"
    return [
        java.java_binary(), *trust, *_proxies(), f"-Divy.default.ivy.user.dir={cache}",
        "-jar", str(ivy),
        "-settings", str(declaration().with_name("ivysettings.xml")),
        "-ivy", str(declaration()), "-cache", str(cache),
        "-confs", *sorted(confs), "-types", "jar", "bundle", "archive",
        "-retrieve", f"{target}/[conf]/[artifact]-[revision].[ext]",
    ]  # fmt: skip


def _proxies() -> list[str]:
    """Java looks at properties only, other programs at https_proxy and http_proxy."""
    options = []
    for scheme, said in getproxies_environment().items():
        proxy = urlsplit(said if "://" in said else f"http://{said}")
        if scheme in ("http", "https") and proxy.hostname:
            options.append(f"-D{scheme}.proxyHost={proxy.hostname}")
            options += [f"-D{scheme}.proxyPort={proxy.port}"] if proxy.port else []
    return options


def _run_ivy(target: Path, confs: Collection[str]) -> str:
    """Fetch the configurations into `target`; what went wrong, or an empty text."""
    total = len(ElementTree.parse(declaration()).getroot().findall(".//dependency"))
    with _progress("Fetching jars", total) as advance:
        ivy = subprocess.Popen(
            _ivy_command(target, confs), stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        timer = threading.Timer(IVY_TIMEOUT_S, ivy.kill)
        timer.start()
        lines = []
        try:
            for line in ivy.stdout or ():
                lines.append(line)
                if "[SUCCESSFUL" in line:
                    advance()
            code = ivy.wait()
        finally:
            timer.cancel()
            ivy.kill()
    return f"Ivy ended with {code}:\n{''.join(lines[-15:])}" if code else ""


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)


def _complaint(
    name: str, count: int, wanted: Checksums, found: dict[str, str | None], failure: str
) -> str:
    return (
        f"{count} of {len(wanted)} jars are still wrong after {ATTEMPTS} attempts, e.g. {name}:\n"
        f"  expected sha256 {wanted[name]}\n"
        f"  found           {found[name] or 'no such file'}\n"
        f"{failure}\nIf the network is well and {declaration().name} was changed on purpose, write"
        " the checksums anew: `make lock`. Otherwise run `make setup` again."
    )
