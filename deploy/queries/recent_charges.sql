-- The ten newest charges, as their providers last described them.
select charge_id, customer_id, amount, currency, status, provider, created_at
from semantic.payments
order by created_at desc, charge_id
limit 10
