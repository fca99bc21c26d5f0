-- Which charge events were delivered more than once, how often, over which time?
select
    event_id,
    count(*) as deliveries,
    min(arrived_at) as first_arrived_at,
    max(arrived_at) as last_arrived_at
from raw.payment_charges
where event_id is not null
group by event_id
having count(*) > 1
order by deliveries desc, event_id
