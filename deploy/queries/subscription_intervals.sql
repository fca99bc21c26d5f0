-- In how many ways are the intervals of subscriptions spelled?
select staged.plan_interval, sent.plan_interval as spelling, count(*) as records
from raw.payment_subscriptions as sent
inner join staging.stg_payment_subscriptions as staged on staged.event_id = trim(sent.event_id)
group by staged.plan_interval, sent.plan_interval
order by staged.plan_interval, records desc, spelling
