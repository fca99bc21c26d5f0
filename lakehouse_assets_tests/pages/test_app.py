import pytest
from fastapi.testclient import TestClient

from lakehouse_assets.pages.app import STATIC, create_app


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setenv("LAKEHOUSE_PORT_OFFSET", "100")
    return TestClient(create_app(), base_url="http://127.0.0.1:3101")


def test_the_first_page_links_to_all_others_and_to_dagster(api: TestClient) -> None:
    page = api.get("/").text
    for place in ("/weather", "/quality", "http://127.0.0.1:3100"):
        assert f'href="{place}"' in page
    for path in ("/", "/weather", "/quality", "/health", "/static/style.css"):
        assert api.get(path).status_code == 200


def test_nothing_is_loaded_from_elsewhere_and_no_page_is_framed(api: TestClient) -> None:
    for path in ("/", "/weather", "/quality", "/api/weather/latest", "/static/weather.js", "/no"):
        policy = api.get(path).headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'self';") and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
    for file in STATIC.rglob("*.[hjc]*s*"):
        assert "innerHTML" not in file.read_text() or "vendor" in file.parts, file
    for name in ("index", "weather", "quality"):
        text = (STATIC / f"{name}.html").read_text()
        assert "<script>" not in text and "style=" not in text and "https://" not in text


def test_what_others_wrote_lies_beside_its_license() -> None:
    vendored = {file.name for file in (STATIC / "vendor").iterdir()}
    assert vendored == {"uPlot.esm.js", "uPlot.min.css", "uPlot.LICENSE"}
    assert "MIT License" in (STATIC / "vendor" / "uPlot.LICENSE").read_text()
    assert "uPlot (v1.6.32)" in (STATIC / "vendor" / "uPlot.esm.js").read_text()[:400]


def test_by_another_name_nobody_gets_an_answer(api: TestClient) -> None:
    assert api.get("/weather", headers={"Host": "evil.example"}).status_code == 400
    assert api.get("/weather", headers={"Host": "localhost:3101"}).status_code == 200


def test_an_unknown_page_says_where_the_known_ones_are(api: TestClient) -> None:
    answer = api.get("/nope")
    assert answer.status_code == 404 and "See /" in answer.json()["error"]
    assert api.post("/api/weather").status_code == 405
