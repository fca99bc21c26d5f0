"""`python -m lakehouse_assets.services.setup`: fetch the jars; `--lock`: pin them anew."""

import sys
import time

import click

from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.jars import lock_file, lock_jars, resolve_jars


@click.command()
@click.option("--lock", is_flag=True, help="Rewrite deploy/jars.sha256 after jars.xml changed.")
def main(lock: bool) -> None:
    """Fetch the JVM parts that deploy/jars.xml pins, and verify them."""
    started = time.monotonic()
    try:
        if lock:
            click.echo(f"{lock_jars()} jars pinned in {lock_file()}")
        elif fetched := resolve_jars():
            click.echo(f"{fetched} jars fetched in {time.monotonic() - started:.0f} s")
    except ServiceError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
