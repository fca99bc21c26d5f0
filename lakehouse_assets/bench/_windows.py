"""The rival of `bench features`: the same features as DuckDB says them, in windows that slide.

It reads the parent's Parquet files and writes one Parquet file; it judges nothing, publishes
nothing and has no increment. Its answer is also the second opinion on ours, row by row.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAME = "DuckDB: range windows with count(distinct), Parquet to Parquet"
QUERY = """
copy (
    select charge_id, customer_id, created_at, currency,
        count(*) over hour as transactions_1h,
        if(currency is null, null, sum(amount) over in_currency)::decimal(20,2) as total_amount_1h,
        avg(risk_score) over hour as avg_risk_1h,
        count(distinct card) over hour as cards_1h,
        count(distinct card_country) over hour as countries_1h,
        count(*) filter (status = 'failed') over before as failures_1h,
        (epoch_us(created_at) - epoch_us(max(created_at) over month)) // 1000000
            as since_last_charge_s,
        max(arrived_at) over hour as known_at
    from (
        select *, coalesce(payment_method_id, card_brand || card_last4) as card,
            if(customer_id is null, charge_id, null) as alone
        from read_parquet({files}))
    window
        hour as (partition by customer_id, alone order by created_at
            range between interval 1 hour preceding and current row),
        in_currency as (partition by customer_id, alone, currency order by created_at
            range between interval 1 hour preceding and current row),
        before as (partition by customer_id, alone order by created_at
            range between interval 1 hour preceding and interval 1 microsecond preceding),
        month as (partition by customer_id, alone order by created_at
            range between interval 720 hours preceding and interval 1 microsecond preceding)
) to '{to}' (format parquet, compression zstd, compression_level 1)
"""


def answer(files: Sequence[str], to: Path) -> None:
    import duckdb

    duckdb.sql(QUERY.format(files=list(files), to=to))


def differing(ours: Any, theirs: Path) -> int:
    """Rows of an Arrow table that are not in the rival's file, and the other way round.

    DuckDB divides in more digits than a double has, and so rounds an average twice.
    """
    import duckdb

    columns = ", ".join(ours.column_names).replace("avg_risk_1h", "round(avg_risk_1h, 12)")
    rival = f"select {columns} from read_parquet('{theirs}')"
    with duckdb.connect() as db:
        db.register("ours", ours)
        sides = ((f"select {columns} from ours", rival), (rival, f"select {columns} from ours"))
        odd = [db.sql(f"select count(*) from ({one} except all {other})") for one, other in sides]
        return sum(int(count.fetchall()[0][0]) for count in odd)
