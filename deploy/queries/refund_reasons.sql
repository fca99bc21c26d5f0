-- In how many ways do support desks spell each reason of a refund?
select staged.reason, sent.reason as spelling, count(*) as records
from raw.payment_refunds as sent
inner join staging.stg_payment_refunds as staged on staged.event_id = trim(sent.event_id)
group by staged.reason, sent.reason
order by staged.reason, records desc, spelling
