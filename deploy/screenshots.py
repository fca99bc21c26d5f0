"""Takes the pictures of README.md from a running lake.

    make demo ARGS=--keep
    .venv/bin/python deploy/screenshots.py      # LAKEHOUSE_CHROMIUM names another browser

The pictures go to deploy/pictures/, replaced as a whole, so that they always show one lake.
"""

import os
import shutil
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from lakehouse_assets import settings

PICTURES = Path(__file__).parent / "pictures"
RAW, STAGING = "raw/payment_charges", "staging/stg_payment_charges"
CHECK = f"/assets/{STAGING}?view=checks&checkDetail=provider_amount_not_negative"
PATIENCE_MS = 30_000
ZOOMED_OUT, ZOOM_OUT = 4, {"x": 1372, "y": 711}  # how often that button; it has no name
SHOWN = {"x": 0, "y": 0, "width": 1400, "height": 812}  # below stands where the lake's files are


def lineage(page: Page) -> None:
    page.wait_for_timeout(3_000)
    for _ in range(ZOOMED_OUT):
        page.mouse.click(**ZOOM_OUT)
        page.wait_for_timeout(300)
    page.get_by_text("payments_daily").first.wait_for()


def shop(page: Page) -> None:
    page.get_by_text("storefront_orders").first.wait_for()
    page.wait_for_timeout(3_000)


def capture(page: Page) -> None:
    page.get_by_text("seconds since anything came").first.wait_for()


def materialization(page: Page) -> None:
    page.get_by_text("records waiting").first.wait_for()


def checks(page: Page) -> None:
    page.get_by_text("threshold").first.wait_for()


def examples(page: Page) -> None:
    page.get_by_text("Show JSON", exact=False).first.click()
    page.get_by_text("_rule", exact=False).or_(page.get_by_text("event_id")).first.wait_for()


def quality(page: Page) -> None:
    page.locator("#tables .one").first.wait_for()


def weather(page: Page) -> None:
    page.locator("canvas").first.wait_for()


PAGES = "pages:"  # served at a port of their own
PICTURED = {
    "lineage": ("/locations/lakehouse_assets/asset-groups/payments/lineage", lineage),
    "storefront": ("/locations/lakehouse_assets/asset-groups/storefront/lineage", shop),
    "capture": ("/assets/postgres/storefront?view=checks", capture),
    "materialization": (f"/assets/{RAW}?view=events", materialization),
    "checks": (CHECK, checks),
    "examples": (CHECK, examples),
    "quality": (f"{PAGES}/quality", quality),
    "weather": (f"{PAGES}/weather", weather),
}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    browser_path = os.environ.get("LAKEHOUSE_CHROMIUM") or shutil.which("chromium")
    bases = {name: f"http://127.0.0.1:{settings.port(name)}" for name in ("dagster", "pages")}
    with sync_playwright() as playwright:
        options = {"executable_path": browser_path, "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)  # type: ignore[arg-type]
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        page.set_default_timeout(PATIENCE_MS)
        for name, (address, ready) in PICTURED.items():
            name_of, _, path = address.rpartition(":")
            page.goto(bases[name_of or "dagster"] + path)
            page.wait_for_load_state("networkidle")
            ready(page)
            page.wait_for_timeout(1_500)  # animations
            page.screenshot(path=PICTURES / f"{name}.png", clip=SHOWN)  # type: ignore[arg-type]
            print(PICTURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
