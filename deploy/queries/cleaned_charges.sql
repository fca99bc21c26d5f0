-- The newest charge events after cleaning: upper-case codes, no spelled nulls, countries or none.
select
    event_id, event_type, provider, charge_id, customer_id, provider_amount, currency,
    provider_status, failure_code, card_country, risk_score, risk_level, created_at, updated_at
from staging.stg_payment_charges
order by updated_at desc, event_id
limit 100
