-- How do the charges spell "nothing", in which fields, and how often?
select field, concat('"', said, '"') as spelling, count(*) as records
from (
    select stack(
        8,
        'customer_id', customer_id,
        'currency', currency,
        'failure_code', failure_code,
        'failure_message', failure_message,
        'card_country', card_country,
        'billing_postal_code', billing_postal_code,
        'risk_level', risk_level,
        'metadata.subscription_id', metadata.subscription_id
    ) as (field, said)
    from raw.payment_charges
)
where lower(trim(said)) in ('', 'null', 'none', 'n/a', 'nil')
group by field, said
order by records desc, field, spelling
