/*
description: >
  One row per log line that tracks training or evaluation: a step, a block of steps or a phase, and losses. A statistic whose
  unit is not known (mlperf_training_stat_unit) is NULL here.
grain: [run_id, artifact_manifest_digest, position]
feeds: step
*/
with known as (
    select
        event.run_id,
        event.artifact_manifest_digest,
        event.line_number,
        max(unit.phase) as phase,
        max(unit.covers) as covers,
        max(stat.value_number) filter (where unit.measure = 'step_time_s' and stat.value_number > 0) as step_time_s,
        max(stat.value_number) filter (where unit.measure = 'samples_per_s' and stat.value_number > 0) as samples_per_s,
        max(stat.value_number) filter (where unit.measure = 'duration_s' and stat.value_number >= 0) as duration_s,
        max(stat.value_number) filter (where stat.stat in ('train_loss', 'reduced_train_loss')) as loss
    from mlperf_training_event as event
    inner join mlperf_training_stat as stat
        on
            stat.run_id = event.run_id
            and stat.artifact_manifest_digest = event.artifact_manifest_digest
            and stat.line_number = event.line_number
    left join mlperf_training_stat_unit as unit
        on
            unit.stat = stat.stat
            and ends_with(event.producer, '/' || unit.producer)
    where
        unit.stat is not null
        or stat.stat in ('train_loss', 'reduced_train_loss')
    group by
        event.run_id,
        event.artifact_manifest_digest,
        event.line_number
)

select
    event.run_id,
    event.artifact_manifest_digest,
    event.line_number as position,
    coalesce(known.phase, 'train') as phase,
    known.covers,
    epoch_ms(event.time_ms) at time zone 'UTC' as logged_at,
    event.step as logged_step,
    event.samples_count,
    event.epoch_num,
    known.duration_s,
    known.step_time_s,
    known.samples_per_s,
    case when known.run_id is not null then known.loss else event.value_number end as loss,
    event.learning_rate
from mlperf_training_event as event
left join known
    on
        known.run_id = event.run_id
        and known.artifact_manifest_digest = event.artifact_manifest_digest
        and known.line_number = event.line_number
where
    known.run_id is not null
    or trim(event.key) = 'train_loss'
