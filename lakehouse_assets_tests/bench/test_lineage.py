"""The figures of the bench, with so few rows that they mean nothing."""

from lakehouse_assets.bench import lineage


def test_it_tells_rates_and_traces_rows_of_every_mart_to_kafka() -> None:
    told = lineage.run(rows=3_000, warmup=0, repeats=1, traced=5, payment_events=1_500)
    assert told["rows"] == 3_000
    assert told["rows_per_s"] > 0 and told["rows_per_cpu_s"] > 0 and told["trace_s"] > 0
    marts = {name: one for name, one in told["marts"].items() if one["rows"]}
    wanted = {"marts.payments_daily", "marts.customer_360", "marts.storefront_sales_daily"}
    assert wanted <= {*marts}
    assert told["traced_pct"] == 100, marts
