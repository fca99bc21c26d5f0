-- How many disputes come without currency or with a part of a case number, by provider?
select
    upper(trim(provider)) as provider,
    count(*) as records,
    count_if(
        coalesce(lower(trim(currency)), '') in ('', 'null', 'none', 'n/a', 'nil')
    ) as without_currency,
    count_if(
        coalesce(case_number, '') not rlike '^CB-[0-9]{4}-[0-9]{6}$'
    ) as without_whole_case_number
from raw.payment_disputes
where _error is null
group by upper(trim(provider))
order by provider
