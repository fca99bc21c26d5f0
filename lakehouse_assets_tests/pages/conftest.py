"""A real Chromium, and pages served to it by the real service in lakes of their own."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from lakehouse_assets.services.pages import Pages
from lakehouse_assets.services.postgres import dsn
from lakehouse_assets.serving.database import DATABASE, PAGES_PASSWORD, migrate_analytics
from lakehouse_assets_tests.pages.minutes import TABLE
from lakehouse_assets_tests.support import emptied, lake_in

PATIENCE_MS = 30_000  # on a busy machine; what is waited for takes two or three seconds
WIDE = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def database(postgres: str) -> Iterator[psycopg.Connection]:
    """`analytics` as its writer sees it; whoever shows it gets in with the same password."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_POSTGRES", postgres)
        patch.setenv(PAGES_PASSWORD, "of the tests")
        emptied(postgres, DATABASE)
        migrate_analytics()
        with psycopg.connect(dsn(DATABASE), autocommit=True) as connection:
            yield connection


@pytest.fixture
def table(database: psycopg.Connection) -> psycopg.Connection:
    """The writer's side of an empty table."""
    database.execute("drop table if exists weather")
    database.execute(TABLE)
    return database


@pytest.fixture(scope="module")
def served(
    postgres: str, database: psycopg.Connection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The pages of a lake in which nothing else runs but Postgres."""
    folder = tmp_path_factory.mktemp("pages") / "a lake"
    with lake_in(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_POSTGRES", postgres)
        pages = Pages()
        try:
            pages.start()
            yield pages.url
        finally:
            pages.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = os.environ.get("LAKEHOUSE_CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("no browser: install Debian's chromium, or name one in LAKEHOUSE_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, served: str, tmp_path: Path) -> Iterator[Page]:
    """Whatever a page writes to the console, or asks of another place, fails its test."""
    context = chromium.new_context(viewport=WIDE, base_url=served)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(f"{served}/")] == []
