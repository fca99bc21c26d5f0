-- For which disputes has nobody handed in evidence, and until when is there time?
select
    provider,
    dispute_id,
    charge_id,
    max(case_number) as case_number,
    max(evidence_due_at) as evidence_due_at
from staging.stg_payment_disputes
group by provider, dispute_id, charge_id
having count(evidence_submitted_by) = 0
order by evidence_due_at, dispute_id
