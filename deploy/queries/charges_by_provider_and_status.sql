-- How many charges of which status does each provider report, and how much money, by currency?
select
    provider,
    status,
    currency,
    count(*) as transaction_count,
    cast(avg(amount) as decimal(12, 2)) as avg_amount,
    sum(amount) as total_amount
from semantic.payments
group by provider, status, currency
order by currency, total_amount desc, provider, status
