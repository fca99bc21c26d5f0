-- Of how many charges is the postal code missing, by provider?
select
    upper(trim(provider)) as provider,
    count(*) as records,
    count_if(
        coalesce(lower(trim(billing_postal_code)), '') in ('', 'null', 'none', 'n/a', 'nil')
    ) as without_postal_code
from raw.payment_charges
where _error is null
group by upper(trim(provider))
order by provider
