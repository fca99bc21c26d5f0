"""The dashboard as people see it, in a real browser."""

from datetime import timedelta

import psycopg
from playwright.sync_api import Page, expect

from lakehouse_assets_tests.pages.conftest import PATIENCE_MS
from lakehouse_assets_tests.pages.minutes import MINUTE, now, this_minute, write, write_hour
from lakehouse_assets_tests.pages.test_weather import ODD

SOON_MS = 15_000  # a look every 2 s, on a busy machine
# Pixels of the line, whose color is a lively one; axes and grid are grey.
LINE = """canvas => {
    const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let drawn = 0;
    for (let i = 0; i < all.length; i += 4) {
        const [r, g, b, solid] = all.slice(i, i + 4);
        drawn += solid > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 60;
    }
    return drawn;
}"""
PHONE = {"width": 360, "height": 740}

expect.set_options(timeout=PATIENCE_MS)


def opened(page: Page) -> None:
    """Once the server's answer of the test before is old: it is shared for a second."""
    page.wait_for_timeout(1_100)
    page.goto("/weather")


def shown(page: Page, city: str) -> str:
    """The card's newest minutes, unfolded."""
    card = page.locator(f'[data-city="{city}"]')
    if not card.locator("details").evaluate("d => d.open"):
        card.locator("summary").click()
    return card.locator("tbody").inner_text()


def test_a_chart_for_each_city_is_drawn_and_the_stats_are_told(
    page: Page, table: psycopg.Connection
) -> None:
    cities = ["San Francisco", "New York", "Phoenix"]
    for n, city in enumerate(cities):
        write_hour(table, city, 40 + 20 * n)
    opened(page)
    expect(page.locator("canvas")).to_have_count(3)
    assert all(c.evaluate(LINE) > 300 for c in page.locator("canvas").all())
    expect(page.locator("#cities-count")).to_have_text("3")
    expect(page.locator("#points")).to_have_text("90")
    expect(page.locator("#average")).to_have_text("62.8 °F")
    expect(page.locator("#updated")).to_contain_text("ago")
    expect(page.locator("#state")).to_contain_text("Live")
    label = page.locator('[data-city="New York"] .plot').get_attribute("aria-label")
    assert label and label.startswith("New York: 30 minutes") and "highest 66.0 °F" in label


def test_new_minutes_cities_and_corrections_appear_by_themselves(
    page: Page, table: psycopg.Connection
) -> None:
    first = write_hour(table, "Denver", 50, minutes=10)
    opened(page)
    expect(page.locator("#points")).to_have_text("10")
    page.evaluate("window.loaded = true")
    before = page.locator("canvas").first.evaluate("c => c.toDataURL()")
    write(table, "Denver", first, 95, readings=13)  # a late reading
    expect(page.locator('[data-city="Denver"] .note')).to_contain_text(
        f"corrected: {first:%H:%M}", timeout=SOON_MS
    )
    rows = shown(page, "Denver").splitlines()
    assert [row for row in rows if row.startswith(f"{first:%H:%M}")] == [
        f"{first:%H:%M}\t95.0 °F\t13"
    ]
    assert page.locator("canvas").first.evaluate("c => c.toDataURL()") != before
    write(table, "Denver", this_minute() + MINUTE, 51)
    expect(page.locator("#points")).to_have_text("11", timeout=SOON_MS)
    write(table, "Boston", this_minute(), 30)
    expect(page.locator("canvas")).to_have_count(2, timeout=SOON_MS)
    expect(page.locator('[data-city="Boston"] .now')).to_have_text("30.0 °F")
    assert page.evaluate("window.loaded"), "it was not loaded again"


def test_data_that_has_stopped_is_said_to_and_a_city_that_fell_silent_too(
    page: Page, table: psycopg.Connection
) -> None:
    old = now() - timedelta(minutes=7)
    write(table, "Miami", this_minute() - 30 * MINUTE, 80, written_at=old - timedelta(minutes=20))
    write(table, "Houston", this_minute() - 7 * MINUTE, 81, written_at=old)
    opened(page)
    expect(page.locator("#state.late")).to_contain_text(f"Data has stopped: nothing new since "
                                                        f"{old:%Y-%m-%d %H:%M:%S} UTC")  # fmt: skip
    expect(page.locator('[data-city="Miami"] .note')).to_contain_text("silent since")
    expect(page.locator('[data-city="Houston"] .note')).to_be_empty()
    write(table, "Miami", this_minute(), 82)
    expect(page.locator("#state.good")).to_contain_text("Live", timeout=SOON_MS)


def test_without_a_table_it_waits_in_friendly_words_and_begins_by_itself(
    page: Page, database: psycopg.Connection
) -> None:
    from lakehouse_assets_tests.pages.minutes import TABLE

    database.execute("drop table if exists weather")
    opened(page)
    expect(page.locator("#state")).to_contain_text("No weather yet")
    database.execute(TABLE)
    page.wait_for_timeout(2_500)
    expect(page.locator("#state")).to_contain_text("No weather yet")
    write(database, "Seattle", this_minute(), 55)
    expect(page.locator("canvas")).to_have_count(1, timeout=SOON_MS)
    expect(page.locator("#state")).to_contain_text("Live")


def test_names_are_shown_as_they_are_and_do_nothing(page: Page, table: psycopg.Connection) -> None:
    for city in ODD:
        write(table, city, this_minute(), 1)
    write(table, "Nowhere", this_minute(), float("nan"))
    opened(page)
    expect(page.locator("canvas")).to_have_count(len(ODD) + 1)
    assert sorted(page.locator("#cities h2").all_text_contents()) == sorted([*ODD, "Nowhere"])
    assert page.locator("#cities img, #cities script").count() == 0
    expect(page.locator('[data-city="Nowhere"] .now')).to_have_text("–")


def test_on_a_phone_it_fits_and_it_can_be_used_by_keyboard(
    page: Page, table: psycopg.Connection
) -> None:
    for city in ("Chicago", "x" * 255):
        write_hour(table, city, 60, minutes=5)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    opened(page)
    expect(page.locator("canvas")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    reached = []
    for _ in range(7):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent"))
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid", reached
    assert reached == ["Skip to the charts", "lakehouse", "Weather", "Quality", "Dagster",
                       "Minutes", "Minutes"]  # fmt: skip
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(5)
