-- What did the customer of each charge do in the hour up to it? Money counts in its currency only.
select
    customer_id,
    charge_id,
    created_at,
    count(*) over last_hour as transactions_1h,
    currency,
    sum(amount) over last_hour_in_currency as total_amount_1h,
    avg(risk_score) over last_hour as avg_risk_1h
from semantic.payments
where customer_id is not null
window
    last_hour as (
        partition by customer_id order by created_at
        range between interval 1 hour preceding and current row
    ),
    last_hour_in_currency as (
        partition by customer_id, currency order by created_at
        range between interval 1 hour preceding and current row
    )
order by created_at desc, charge_id
