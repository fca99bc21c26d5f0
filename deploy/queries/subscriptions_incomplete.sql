-- How many trials come without their dates, how many discounts without a promo code, by provider?
select
    provider,
    count_if(status = 'trialing') as trials,
    count_if(status = 'trialing' and (trial_start_at is null or trial_end_at is null))
        as trials_without_dates,
    count_if(discount_percent is not null) as discounts,
    count_if(discount_percent is not null and promo_code is null) as discounts_without_code
from staging.stg_payment_subscriptions
group by provider
order by provider
