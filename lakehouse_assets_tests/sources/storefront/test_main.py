"""`python -m lakehouse_assets.sources.storefront` and `lakehouse generate storefront`."""

import os
import subprocess
import sys

import psycopg
import pytest

from lakehouse_assets import settings
from lakehouse_assets.sources.storefront.database import connect, writer
from lakehouse_assets_tests.sources.storefront.shops import assert_sound, counted
from lakehouse_assets_tests.support import refused, said

MODULE = [sys.executable, "-m", "lakehouse_assets.sources.storefront"]


def run(*args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*MODULE, *args], env=dict(os.environ, PYTHONPATH=str(settings.ROOT)), cwd="/",
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_a_small_shop_is_made_once_and_so_many_things_happen(shop: psycopg.Connection) -> None:
    shop.close()
    first = run("--count", "40", "--rate", "0", "--seed", "3")
    assert first.returncode == 0, first.stderr
    assert "a small shop was made" in first.stderr and "40 transactions: " in first.stderr
    with connect() as looking:
        orders = counted(looking, "select from orders")
        assert orders >= 2_000
        said("generate", "storefront", "--count", "20", "--rate", "0", "--seed", "3")
        assert counted(looking, "select from orders") <= orders + 20
        assert_sound(looking)


def test_while_somebody_else_writes_it_says_so(shop: psycopg.Connection) -> None:
    told = refused("generate", "storefront", "--count", "1", "--rate", "0")
    assert "Somebody else writes to the shop" in told


@pytest.mark.parametrize("wrong", [("--rate", "0"), ("--rate", "-1"), ("--rate", "5000"),
                                   ("--count", "-1"), ("--rate", "nan")])  # fmt: skip
def test_a_rate_or_count_that_cannot_be_is_refused(wrong: tuple[str, str]) -> None:
    done = run(*wrong)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_the_lock_falls_free_with_its_holder(shop: psycopg.Connection) -> None:
    shop.close()
    with writer():
        pass
