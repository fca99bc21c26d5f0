-- How many refunds come without a status or without a support ticket, by provider?
select
    upper(trim(provider)) as provider,
    count(*) as records,
    count_if(
        coalesce(lower(trim(status)), '') in ('', 'null', 'none', 'n/a', 'nil')
    ) as without_status,
    count_if(
        coalesce(lower(trim(metadata.support_ticket_id)), '')
        in ('', 'null', 'none', 'n/a', 'nil')
    ) as without_ticket
from raw.payment_refunds
where _error is null
group by upper(trim(provider))
order by provider
