"""What is shown of rows that break a rule."""

from lakehouse_assets.lake import quality
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.looks.examples import breaking
from lakehouse_assets_tests.lake.test_quality import Judged
from lakehouse_assets_tests.support import rows


def test_examples_are_at_most_five_a_rule_and_what_is_private_is_masked(lake: Lake) -> None:
    bad = [{"id": str(n), "email": "secret@x", "kind": "c"} for n in range(8)]
    private = [r for r in Judged.all_rules() if r.name in ("email_known", "kind_known")]
    shown = breaking(rows(lake.spark, Judged, {}, *bad), Judged, private)
    assert {name: len(found) for name, found in shown.items()} == {
        "kind_known": 5, "email_known": 5,
    }  # fmt: skip
    assert "secret" not in repr(shown)
    assert all(r["email"] == quality.MASK and r["kind"] == "c" for r in shown["email_known"])
    assert breaking(rows(lake.spark, Judged, {}), Judged, []) == {}
