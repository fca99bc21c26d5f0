import re

from lakehouse_assets import settings


def test_env_example_lists_every_setting_that_the_code_reads() -> None:
    code = "".join(p.read_text() for p in (settings.ROOT / "lakehouse_assets").rglob("*.py"))
    read = set(re.findall(r"environ(?:\.get\(|\[)[\"'](LAKEHOUSE_\w+)", code))
    listed = set(re.findall(r"# (LAKEHOUSE_\w+)=", (settings.ROOT / ".env.example").read_text()))
    assert len(read) >= 8
    assert read <= listed
