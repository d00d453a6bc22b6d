/*
description: A throughput or time got worse by at least 10 %, and nothing says what GPUs did meanwhile
playbook: slow_host
evidence: a benchmark and a run to compare with, without utilisation of GPUs
is_symptom: true
*/
with worst as (
    select
        metric,
        observed,
        expected,
        unit,
        usual_factor,
        if(better = 'lower', observed / expected, expected / observed) as worse_by
    from changed
    where
        better in ('lower', 'higher')
        -- Latencies of requests have a scenario of their own.
        and not regexp_matches(metric, 'p9[0-9]|max|ttft|tpot|itl|latency|e2e')
        and observed > 0
        and expected > 0
    order by
        worse_by / greatest(1.1, usual_factor) desc,
        metric
    limit 1
)

select
    worst.metric as subject,
    worst.worse_by >= greatest(1.1, worst.usual_factor) as is_found,
    1 - 1 / worst.worse_by as score,
    printf('it is %.4g %s, in the baseline %.4g %s; no GPU was sampled', worst.observed, coalesce(worst.unit, ''), worst.expected, coalesce(worst.unit, ''))
        as statement,
    worst.observed,
    worst.expected,
    worst.unit,
    run.artifact_manifest_digest,
    run.raw_folder as raw_path
from worst
cross join explained as run
where
    run.role = 'run'
    and not exists (
        select 1
        from run_telemetry as gpu
        where
            gpu.run_id = run.run_id
            and gpu.metric in ('gpu_util_pct', 'gpu_sm_active_pct')
    )
