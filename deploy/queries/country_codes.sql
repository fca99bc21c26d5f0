-- Which card countries are no code of two capital letters, rubbish or spelled nulls, how often?
select card_country, count(*) as records
from raw.payment_charges
where card_country not rlike '^[A-Z]{2}$'
group by card_country
order by records desc, card_country
