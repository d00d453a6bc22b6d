/*
description: >
  One row per run and bundle: the time it spent evaluating, in total and while the run's clock was running, and the
  quality of its last evaluation (an accuracy or, for cosmoflow and oc20, an error). The time is NULL if the log
  starts more or fewer evaluations than it ends, or if one ends before it begins. The quality is NULL if a benchmark
  has several metrics.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  eval_count: {type: bigint, description: "Evaluations closed", tests: [not_null]}
  eval_ms: {type: bigint, unit: ms, description: "Sum of eval_start to eval_stop"}
  clocked_eval_ms: {type: bigint, unit: ms, description: "The same between run_start and run_stop"}
  quality: {type: double, description: "Last eval_accuracy or eval_error, of a benchmark with one metric"}
*/
with evaluation as (
    select
        event.run_id,
        event.artifact_manifest_digest,
        event.line_number,
        event.key,
        event.time_ms,
        event.value_number,
        event.metric,
        event.time_ms between clock.run_start_ms and clock.run_stop_ms as is_clocked
    from mlperf_training_event as event
    left join mlperf_training_clock as clock
        on
            clock.run_id = event.run_id
            and clock.artifact_manifest_digest = event.artifact_manifest_digest
    where event.key in ('eval_start', 'eval_stop', 'eval_accuracy', 'eval_error')
),

numbered as (
    select
        run_id,
        artifact_manifest_digest,
        key,
        time_ms,
        row_number() over (partition by run_id, artifact_manifest_digest, key order by time_ms, line_number) as number
    from evaluation
    where key in ('eval_start', 'eval_stop')
),

backward as (
    select distinct
        started.run_id,
        started.artifact_manifest_digest
    from numbered as started
    inner join numbered as stopped
        on
            stopped.run_id = started.run_id
            and stopped.artifact_manifest_digest = started.artifact_manifest_digest
            and stopped.number = started.number
    where
        started.key = 'eval_start'
        and stopped.key = 'eval_stop'
        and stopped.time_ms < started.time_ms
),

total as (
    select
        run_id,
        artifact_manifest_digest,
        count(*) filter (where key = 'eval_start') as start_count,
        count(*) filter (where key = 'eval_stop') as stop_count,
        sum(case when key = 'eval_stop' then time_ms else -time_ms end) filter (where key in ('eval_start', 'eval_stop')) as ms,
        count(*) filter (where key = 'eval_start' and is_clocked) as clocked_start_count,
        count(*) filter (where key = 'eval_stop' and is_clocked) as clocked_stop_count,
        sum(case when key = 'eval_stop' then time_ms else -time_ms end)
            filter (where key in ('eval_start', 'eval_stop') and is_clocked) as clocked_ms,
        max(line_number) filter (where key in ('eval_accuracy', 'eval_error')) as last_quality_line,
        count(metric) as metric_count
    from evaluation
    group by
        run_id,
        artifact_manifest_digest
)

select
    total.run_id,
    total.artifact_manifest_digest,
    total.stop_count as eval_count,
    case when total.start_count = total.stop_count and backward.run_id is null then try_cast(total.ms as bigint) end as eval_ms,
    case
        when total.clocked_start_count = total.clocked_stop_count and backward.run_id is null then try_cast(coalesce(total.clocked_ms, 0) as bigint)
    end as clocked_eval_ms,
    case when total.metric_count = 0 then last_one.value_number end as quality
from total
left join backward
    on
        backward.run_id = total.run_id
        and backward.artifact_manifest_digest = total.artifact_manifest_digest
left join evaluation as last_one
    on
        last_one.run_id = total.run_id
        and last_one.artifact_manifest_digest = total.artifact_manifest_digest
        and last_one.key in ('eval_accuracy', 'eval_error')
        and last_one.line_number = total.last_quality_line
