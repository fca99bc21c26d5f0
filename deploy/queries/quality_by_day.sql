-- Does a provider's feed get better or worse? The rules of raw by day, the worst first.
select arrived_on, topic, rule, provider, rows, failures, round(share, 4) as share
from analytics.payment_quality_daily
where failures > 0
order by arrived_on desc, share desc, topic, rule, provider
