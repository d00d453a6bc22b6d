/*
description: >
  One row per training step benchmark: step times and tokens per second of all ranks.
grain: [run_id, artifact_manifest_digest]
feeds: training_outcome
*/
with stated as (
    select
        run_id,
        artifact_manifest_digest,
        max(value_number) filter (where key = 'results/avg_step_s') as step_time_mean_s,
        max(value_number) filter (where key = 'results/p50_step_s') as step_time_p50_s,
        max(value_number) filter (where key = 'results/p99_step_s') as step_time_p99_s,
        max(value_number) filter (where key = 'results/tokens_per_s') as tokens_per_s
    from aisp_entry
    group by
        run_id,
        artifact_manifest_digest
),

counted as (
    select
        run_id,
        artifact_manifest_digest,
        count(step_time_s) as step_count
    from aisp_train_step
    group by
        run_id,
        artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    'train' as phase,
    run.node_count,
    run.rank_count as accelerator_count,
    counted.step_count,
    stated.step_time_mean_s,
    stated.step_time_p50_s,
    stated.step_time_p99_s,
    stated.tokens_per_s
from aisp_run as run
inner join stated
    on
        stated.run_id = run.run_id
        and stated.artifact_manifest_digest = run.artifact_manifest_digest
left join counted
    on
        counted.run_id = run.run_id
        and counted.artifact_manifest_digest = run.artifact_manifest_digest
where run.kind = 'training'
