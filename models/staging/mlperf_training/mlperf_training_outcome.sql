/*
description: >
  One row per run and phase, at the run's scale point. Step times are those of single steps if the log has them, else
  the means over its blocks, without percentiles. Samples per second are the mean of the log's own values, else global
  batch size / mean step time. Reliability is that of the run's repeat set. Scaling efficiency is relative to the
  smallest scale point of the same round, submitter, benchmark, accelerator and framework. Both belong to the train
  phase, as do the rates.
grain: [run_id, phase]
feeds: training_outcome
*/
with step as (
    select
        run_id,
        artifact_manifest_digest,
        count(step_time_s) filter (where covers = 'step') as step_count,
        avg(step_time_s) filter (where covers = 'step') as step_mean_s,
        avg(step_time_s) filter (where covers = 'block') as block_mean_s,
        quantile_cont(step_time_s, 0.5) filter (where covers = 'step') as step_p50_s,
        quantile_cont(step_time_s, 0.95) filter (where covers = 'step') as step_p95_s,
        quantile_cont(step_time_s, 0.99) filter (where covers = 'step') as step_p99_s,
        avg(samples_per_s) as samples_per_s
    from mlperf_training_step
    where phase = 'train'
    group by
        run_id,
        artifact_manifest_digest
),

repeat_set as (
    select
        submission.repeat_set,
        100.0 * count(submission.time_to_train_ms) / count(*) as reliability_pct
    from mlperf_training_submission as submission
    where submission.copy_of is null
    group by submission.repeat_set
),

run as (
    select
        submission.* exclude (node_count, accelerator_count),
        coalesce(submission.instance_node_count, submission.node_count) as node_count,
        coalesce(submission.instance_accelerator_count, submission.accelerator_count) as accelerator_count,
        nullif(step.step_count, 0) as step_count,
        coalesce(step.step_mean_s, step.block_mean_s) as step_time_mean_s,
        step.step_p50_s,
        step.step_p95_s,
        step.step_p99_s,
        coalesce(
            step.samples_per_s, submission.global_batch_size / coalesce(step.step_mean_s, step.block_mean_s)
        ) as samples_per_s,
        coalesce(sequence.value_number, model.sequence_length) as sequence_length,
        model.parameter_count,
        model.flop_per_parameter_token,
        peak.fp8_dense_tflops
    from mlperf_training_submission as submission
    left join step
        on
            step.run_id = submission.run_id
            and step.artifact_manifest_digest = submission.artifact_manifest_digest
    left join mlperf_training_statement as sequence
        on
            sequence.run_id = submission.run_id
            and sequence.artifact_manifest_digest = submission.artifact_manifest_digest
            and sequence.key = 'max_sequence_length'
    left join training_model as model
        on model.benchmark = submission.benchmark
    left join named_accelerator as named
        on
            named.artifact_manifest_digest = submission.artifact_manifest_digest
            and named.stated_by = submission.run_id
    left join accelerator_peak as peak
        on
            peak.accelerator_family = named.accelerator_family
            and peak.accelerator_form_factor = named.accelerator_form_factor
            and named.accelerator_reason is distinct from 'partition'
),

scale_point as (
    select
        round,
        submitter,
        benchmark,
        accelerator,
        framework,
        accelerator_count,
        avg(samples_per_s / accelerator_count) filter (where time_to_train_ms is not null) as samples_per_s_each
    from run
    where
        accelerator_count > 0
        and accelerator is not null
        and samples_per_s > 0
    group by
        round,
        submitter,
        benchmark,
        accelerator,
        framework,
        accelerator_count
),

smallest as (
    select
        round,
        submitter,
        benchmark,
        accelerator,
        framework,
        min(accelerator_count) as accelerator_count,
        count(*) as scale_point_count
    from scale_point
    where samples_per_s_each is not null
    group by
        round,
        submitter,
        benchmark,
        accelerator,
        framework
),

base as (
    select
        smallest.*,
        scale_point.samples_per_s_each
    from smallest
    inner join scale_point
        on
            scale_point.round is not distinct from smallest.round
            and scale_point.submitter is not distinct from smallest.submitter
            and scale_point.benchmark is not distinct from smallest.benchmark
            and scale_point.accelerator = smallest.accelerator
            and scale_point.framework is not distinct from smallest.framework
            and scale_point.accelerator_count = smallest.accelerator_count
    where smallest.scale_point_count > 1
),

timed as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        run.node_count,
        run.accelerator_count,
        case when clock.init_start_ms <= clock.init_stop_ms then (clock.init_stop_ms - clock.init_start_ms) / 1000 end as init_s,
        case
            when run.refusal is null and clock.run_start_ms < clock.run_stop_ms
                then (clock.run_stop_ms - clock.run_start_ms - coalesce(phase.clocked_eval_ms, case when phase.run_id is null then 0 end)) / 1000
        end as train_s,
        phase.run_id is not null as is_evaluated,
        phase.eval_ms / 1000 as eval_s,
        phase.eval_count,
        phase.quality,
        target.value_number as quality_target
    from run
    left join mlperf_training_clock as clock
        on
            clock.run_id = run.run_id
            and clock.artifact_manifest_digest = run.artifact_manifest_digest
    left join mlperf_training_phase as phase
        on
            phase.run_id = run.run_id
            and phase.artifact_manifest_digest = run.artifact_manifest_digest
    left join mlperf_training_statement as target
        on
            target.run_id = run.run_id
            and target.artifact_manifest_digest = run.artifact_manifest_digest
            and target.key = 'target_accuracy'
)

select
    run_id,
    artifact_manifest_digest,
    'init' as phase,
    node_count,
    accelerator_count,
    init_s as duration_s
from timed
where init_s is not null
union all by name
select
    timed.run_id,
    timed.artifact_manifest_digest,
    'train' as phase,
    timed.node_count,
    timed.accelerator_count,
    timed.train_s as duration_s,
    run.time_to_train_ms / 1000 as time_to_train_s,
    run.step_count,
    run.step_time_mean_s,
    run.step_p50_s as step_time_p50_s,
    run.step_p95_s as step_time_p95_s,
    run.step_p99_s as step_time_p99_s,
    run.samples_per_s,
    run.samples_per_s * run.sequence_length as tokens_per_s,
    100 * run.samples_per_s * run.sequence_length * run.parameter_count * run.flop_per_parameter_token
    / (run.fp8_dense_tflops * 1e12 * run.accelerator_count) as mfu_pct,
    100 * run.samples_per_s / run.accelerator_count / base.samples_per_s_each as scaling_efficiency_pct,
    repeat_set.reliability_pct,
    timed.quality,
    timed.quality_target
from timed
inner join run
    on run.run_id = timed.run_id
left join repeat_set
    on repeat_set.repeat_set = run.repeat_set
left join base
    on
        base.round is not distinct from run.round
        and base.submitter is not distinct from run.submitter
        and base.benchmark is not distinct from run.benchmark
        and base.accelerator = run.accelerator
        and base.framework is not distinct from run.framework
union all by name
select
    run_id,
    artifact_manifest_digest,
    'eval' as phase,
    node_count,
    accelerator_count,
    eval_s as duration_s,
    eval_count as step_count,
    quality,
    quality_target
from timed
where is_evaluated
