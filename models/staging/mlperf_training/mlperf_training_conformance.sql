/*
description: >
  One row per run and bundle: what the checkers of MLPerf Training ask of it, as far as the evidence tells. NULL: the
  evidence does not tell, or what is asked of the benchmark in that round and division is not known.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  reaches_quality: {type: boolean, description: "Whether one of its evaluations is within the target; NULL, too, for a run that does not say success"}
  has_system_description: {type: boolean, description: "Whether the system is described", tests: [not_null]}
  is_power_submission: {type: boolean, description: "Whether a run of its set has power logs", tests: [not_null]}
  has_power: {type: boolean, description: "Whether its power logs give its mean power", tests: [not_null]}
*/
with evaluated as (
    select
        event.run_id,
        event.artifact_manifest_digest,
        max(event.value_number between target.least and target.most) as reaches_quality
    from mlperf_training_event as event
    inner join mlperf_training_run as run
        on
            run.run_id = event.run_id
            and run.artifact_manifest_digest = event.artifact_manifest_digest
    inner join mlperf_training_quality_target as target
        on
            target.benchmark = lower(run.benchmark)
            and try_cast(ltrim(run.round, 'v') as double) >= target.since
    where
        event.key = 'eval_accuracy'
        and event.metric is null
        and event.value_number is not null
    group by
        event.run_id,
        event.artifact_manifest_digest
),

powered as (
    select artifact_manifest_digest
    from mlperf_training_power
    group by artifact_manifest_digest
)

select
    run.run_id,
    run.artifact_manifest_digest,
    case
        when clock.run_status = 'success' and lower(coalesce(division.value, system.division)) = 'closed' then evaluated.reaches_quality
    end as reaches_quality,
    system.system_name is not null as has_system_description,
    powered.artifact_manifest_digest is not null as is_power_submission,
    power.power_w is not null as has_power
from mlperf_training_run as run
left join mlperf_training_clock as clock
    on
        clock.run_id = run.run_id
        and clock.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_system as system
    on system.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_statement as division
    on
        division.run_id = run.run_id
        and division.artifact_manifest_digest = run.artifact_manifest_digest
        and division.key = 'submission_division'
left join evaluated
    on
        evaluated.run_id = run.run_id
        and evaluated.artifact_manifest_digest = run.artifact_manifest_digest
left join powered
    on powered.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_power_mean as power
    on
        power.run_id = run.run_id
        and power.artifact_manifest_digest = run.artifact_manifest_digest
