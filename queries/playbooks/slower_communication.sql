/*
description: Communication takes longer on all ranks than in the baseline
playbook: [slow_gpus, low_gpu_utilization]
evidence: profiler traces of all ranks (Kineto), of a run to compare with, too
order: 6
part: network
*/
-- Communication that no computation hides. A rank that waits for a slower one communicates as long as it waits, so the rank that does so least
-- shows how long the communication itself takes.
with step as (
    select
        explained.role,
        traced.run_id,
        traced.step,
        traced.rank,
        (traced.communication_s - coalesce(traced.overlap_s, 0)) / nullif(traced.step_time_s, 0) as share,
        traced.communication_s - coalesce(traced.overlap_s, 0) as exposed_s,
        traced.step_time_s,
        traced.artifact_manifest_digest,
        traced.raw_path
    from rank_step_fact as traced
    inner join explained using (run_id)
    where
        traced.step is not null
        and traced.communication_s is not null
),

of_step as (
    select
        role,
        run_id,
        step,
        min(exposed_s) as exposed_s,
        max(step_time_s) as step_time_s,
        count(*) as ranks,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(raw_path) as raw_path
    from step
    group by
        role,
        run_id,
        step
),

of_run as (
    select
        role,
        run_id,
        median(exposed_s) as exposed_s,
        quantile_cont(exposed_s, 0.25) as exposed_least_s,
        quantile_cont(exposed_s, 0.75) as exposed_most_s,
        median(step_time_s) as step_time_s,
        max(ranks) as ranks,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(raw_path) as raw_path
    from of_step
    group by
        role,
        run_id
    having max(ranks) > 1
),

usual as (
    select
        median(exposed_s) as exposed_s,
        max(exposed_most_s) as exposed_most_s
    from of_run
    where role = 'baseline'
)

select
    printf('%d ranks', own.ranks) as subject,
    if(
        usual.exposed_s is not null,
        own.exposed_least_s > usual.exposed_most_s and own.exposed_s - usual.exposed_s >= 0.05 * own.step_time_s, null
    ) as is_found,
    own.step_time_s / nullif(own.step_time_s - (own.exposed_most_s - usual.exposed_s), 0) as slowdown,
    own.step_time_s / nullif(own.step_time_s - (own.exposed_least_s - usual.exposed_s), 0) as slowdown_least,
    printf('each rank communicated for %.4g s of a step or longer, and computed nothing meanwhile', own.exposed_s)
    || coalesce(printf('; in the baseline for %.4g s', usual.exposed_s), '; the baseline has no such figure') as statement,
    own.exposed_s as observed,
    usual.exposed_s as expected,
    's' as unit,
    own.artifact_manifest_digest,
    own.raw_path
from of_run as own
cross join usual
where own.role = 'run'
