"""The board as people see it, in a real browser."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from lakehouse_assets_tests.pages import lakes
from lakehouse_assets_tests.pages.conftest import PATIENCE_MS
from lakehouse_assets_tests.pages.lakes import MART, RAW, RULE, STAGED, now
from lakehouse_assets_tests.pages.test_weather_page import PHONE

FIRST_MS = 90_000  # the server imports all tables for its first look
SOON_MS = 25_000  # Dagster is asked every 6 s, the rest every 3 s
HTML = "<b onclick=alert(1)>unclosed"
# Every text that is shown, as to how it stands out from what is behind it: the least ratios.
CONTRAST = """() => {
    const parts = (c) => c.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
    const behind = (e) => {
        for (; e; e = e.parentElement) {
            const c = parts(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] > 0.9) return c;
        }
        return [16, 21, 28];
    };
    const low = [];
    for (const e of document.querySelectorAll("main *, header *, footer *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        if (!own || !e.checkVisibility()) continue;
        const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) low.push(`${e.textContent.slice(0, 40)}: ${ratio.toFixed(1)}`);
    }
    return low;
}"""

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(autouse=True)
def all_well(served: str) -> Iterator[None]:
    """Each test begins with a lake in which nothing is red: what the last one broke is mended."""
    lakes.publish(MART)
    lakes.publish(STAGED)
    lakes.publish(RAW, rows=1_000)
    yield


def opened(page: Page) -> Page:
    page.goto("/quality")
    expect(page.locator("#tables .one").first).to_be_visible(timeout=FIRST_MS)
    return page


def red(page: Page, check: str) -> Locator:
    return page.locator(f'#red [data-key="{check}"]')


def test_when_all_is_well_it_says_so_and_shows_every_table(page: Page) -> None:
    opened(page)
    expect(page.locator("h1")).to_have_text("Nothing is red")
    expect(page.locator("#state.good")).to_contain_text("every strict check passes")
    assert page.locator("#tables .one").count() > 90
    expect(page.locator("#red-section")).to_be_hidden()
    expect(page.locator("#sources tr").first).to_contain_text("team:")
    expect(page.locator("#found")).to_contain_text("tables,")
    for place in ("/", "/weather"):
        assert page.locator(f'header a[href="{place}"]').count() == 1


def test_a_check_that_turns_red_appears_with_since_when_why_and_what_to_do(page: Page) -> None:
    opened(page)
    page.evaluate("window.loaded = true")
    lakes.remember(MART, RULE, "pff", now() - timedelta(hours=1), timedelta(hours=2), commit=10**6)
    lakes.publish(MART, {RULE: 3})
    alarm = red(page, f"{MART}:{RULE}")
    expect(alarm).to_be_visible(timeout=SOON_MS)
    expect(page.locator("h1")).to_have_text("1 check is red")
    expect(page).to_have_title("(1 red) Quality")
    for said in ("red since 3 h ago", "3 of 100 rows", "What to do", f"rebuild {MART}",
                 "team:payments", "value 3 of 100 rows (3.00 %), allowed 0"):  # fmt: skip
        expect(alarm).to_contain_text(said)
    expect(page.locator("#news")).to_contain_text(f"Turned red: {MART} {RULE}")
    link = alarm.get_by_role("link", name="in Dagster").get_attribute("href")
    assert link and link.endswith(f"/assets/marts/payments_daily?view=checks&checkDetail={RULE}")
    assert "not green on" in str(alarm.get_by_role("img").get_attribute("aria-label"))
    alarm.get_by_role("link", name=MART).press("Enter")
    expect(page.locator(f'#tables [data-key="{MART}"] table')).to_contain_text(RULE)
    lakes.publish(MART)
    expect(page.locator("h1")).to_have_text("Nothing is red", timeout=SOON_MS)
    assert page.evaluate("window.loaded"), "it was not loaded again"


def test_a_held_batch_tells_how_it_is_released(page: Page) -> None:
    lakes.hold(MART, HTML)
    alarm = red(opened(page), f"{MART}:publishes")
    expect(alarm).to_contain_text(HTML)
    assert alarm.locator("b[onclick]").count() == 0
    expect(alarm.locator("code")).to_have_text(f"lakehouse release {MART}")
    expect(page.locator("#state.bad")).to_contain_text("1 table holds a batch back")


def test_examples_are_folded_and_masked_and_quarantine_is_told_by_reason(page: Page) -> None:
    row = {"event_id": HTML, "card_last4": "4242"}
    lakes.publish(RAW, {"parses": 900}, rows=1_000)
    lakes.evaluated(RAW, "parses", False, {"failed": 900, "rows": 1_000, "threshold": 0.05,
                                           "examples": [row]}, is_warning=True)  # fmt: skip
    lakes.set_aside("malformed", HTML)
    opened(page)
    alarm = page.locator(f'#yellow [data-key="{RAW}:parses"]')
    alarm.locator("summary", has_text="Examples (1)").click(timeout=SOON_MS)
    expect(alarm.locator("pre")).to_contain_text(HTML)
    expect(alarm.locator("pre")).to_contain_text("•••")
    assert "4242" not in page.content()
    expect(page.locator("#quarantine")).to_contain_text("malformed", timeout=SOON_MS)
    expect(page.locator("#quarantine")).to_contain_text(HTML)


def test_what_is_open_and_has_the_focus_stays_so_when_news_come(page: Page) -> None:
    opened(page)
    page.locator("#filter").fill("payments_daily")
    expect(page.locator("#tables .one")).to_have_count(1)
    card = page.locator(f'#tables [data-key="{MART}"]')
    card.locator("summary").first.press("Enter")
    row = card.locator("tr", has_text=RULE)
    row.locator("summary").press("Enter")
    expect(row.locator("details")).to_contain_text("At most 0%")
    lakes.publish(MART, {RULE: 1})
    expect(card.locator(".v.failed").first).to_be_visible(timeout=SOON_MS)
    expect(row.locator("details")).to_have_attribute("open", "")
    assert page.evaluate("document.activeElement.dataset.k") == f"row:{MART}:{RULE}"
    page.locator("#filter").fill("")
    page.locator("#only").check()
    expect(page.locator("#tables .one")).to_have_count(1)


def test_on_a_phone_it_fits_and_it_can_be_read_and_used_by_keyboard(page: Page) -> None:
    lakes.publish(MART, {RULE: 1})
    lakes.set_aside("x" * 300)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    opened(page)
    page.locator("#filter").fill("payments_daily")
    page.locator("#tables summary").first.press("Enter")
    expect(page.locator("#tables table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.evaluate(CONTRAST) == []
    for role in ("banner", "navigation", "main", "contentinfo", "table", "searchbox"):
        assert page.get_by_role(role).count() >= 1, role  # type: ignore[arg-type]
    assert page.get_by_role("heading", level=1).count() == 1
    for place in page.get_by_role("table").all():
        assert place.get_by_role("columnheader").count() == len(
            place.get_by_role("row").last.locator("th, td").all()
        )
    page.locator("body").press("Home")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('#red').contains(document.activeElement)"), (
        "what is red comes first"
    )
