-- Which currencies come in another case than the ISO code's, and from whom?
select upper(trim(provider)) as provider, currency, count(*) as records
from raw.payment_charges
where
    currency != upper(currency)
    and lower(trim(currency)) not in ('', 'null', 'none', 'n/a', 'nil')
group by upper(trim(provider)), currency
order by records desc, provider, currency
