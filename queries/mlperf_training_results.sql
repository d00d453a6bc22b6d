/*
description: >
  The official MLPerf Training results, recomputed from the logs: one row per repeat set. The fastest and the slowest
  run are dropped; the result is the mean of the others, in minutes, times the scaling factor that the RCP checker
  wrote. With three runs it is the median. unet3d drops four at each end. A run that did not reach the target, or
  whose log is refused, counts as one of the slowest. The result is NULL if more runs failed than are dropped, if the
  set has fewer runs than the rules require, or if one of its logs is a copy of another. Weak scaling, in HPC rounds,
  trains many models at once: the result is the time from the first start to the last end of the runs that reached the
  target, or NULL with fewer of them than the rules require; nothing is dropped or scaled. Values are not rounded,
  because results are published with varying digits.
grain: [repeat_set]
claim:
  what: the time to train of one submitted benchmark on one system, by the rules of MLPerf Training
  population: all runs of every repeat set in the warehouse, failed ones too, admitted, without conflict
  unit_of_replication: the run, one training from its start to the target
  policy: mlperf-training
  observations: mlperf_training_submission
  numbers:
    official_minutes:
      statistic: olympic mean
      of: observation.time_to_train_ms / 60000 * result.scaling_factor
      dropped: (result.run_count - result.used_count) // 2
      when: result.scaling_mode is distinct from 'weak'
    unscaled_minutes:
      statistic: olympic mean
      of: observation.time_to_train_ms / 60000
      dropped: (result.run_count - result.used_count) // 2
      when: result.scaling_mode is distinct from 'weak'
  accounted_by: [cadence, cluster_region_key, benchmark_case_id]
  exclusions:
    not run.has_conflict: it is not settled which of several bundles is the run's evidence
columns:
  usage: {type: varchar, description: "training or hpc: rounds of both have the same names"}
  round: {type: varchar, description: "Round; NULL where the path does not tell"}
  division: {type: varchar, description: "closed or open"}
  submitter: {type: varchar, description: "Submitter"}
  platform: {type: varchar, description: "Platform"}
  benchmark: {type: varchar, description: "Benchmark"}
  scaling_mode: {type: varchar, description: "strong or weak, in HPC rounds"}
  system: {type: varchar, description: "System name"}
  accelerator: {type: varchar, description: "Accelerator model"}
  node_count: {type: bigint, description: "Nodes"}
  accelerator_count: {type: bigint, description: "Accelerators in all nodes"}
  instance_scale: {type: bigint, description: "For weak scaling: accelerators that each model was trained on, or nodes if they have none"}
  official_minutes: {type: double, unit: min, description: "The result: mean of the runs used, times the scaling factor; for weak scaling, the time to train all models. NULL with fewer runs than the rules require"}
  unscaled_minutes: {type: double, unit: min, description: "Mean of the runs used; for weak scaling, the time to train all models"}
  official_energy_j: {type: double, unit: J, description: "The result of a power submission: mean energy of the runs used, times the scaling factor; NULL: one of them has no power log, or the scaling is weak"}
  scaling_factor: {type: double, description: "Factor of scaling.json; 1 without one, and for weak scaling; NULL: it cannot be read, so there is no official result"}
  run_count: {type: bigint, description: "Runs started, without copies"}
  required_run_count: {type: bigint, description: "Runs that the rules require; NULL: not known"}
  asks_for_exact_runs: {type: boolean, description: "Whether the rules require exactly as many: not for weak scaling"}
  succeeded_count: {type: bigint, description: "Runs that reached the target"}
  failed_count: {type: bigint, description: "Runs that did not reach the target, or whose log is refused"}
  copied_count: {type: bigint, description: "Logs that copy another log of the set: such a set has no result"}
  used_count: {type: bigint, description: "Runs in the mean"}
  used_run_ids: {type: varchar, description: "The runs in the mean, fastest first"}
  dropped_fastest_run_ids: {type: varchar, description: "Dropped as the fastest"}
  dropped_slowest_run_ids: {type: varchar, description: "Dropped as the slowest, failed runs included"}
  failed_run_ids: {type: varchar, description: "Runs that did not reach the target, or whose log is refused"}
  copied_run_ids: {type: varchar, description: "Runs whose log is a copy"}
  fastest_minutes: {type: double, unit: min, description: "Fastest run"}
  slowest_minutes: {type: double, unit: min, description: "Slowest run that reached the target"}
  variation_pct: {type: double, unit: "%", description: "Standard deviation / mean of the runs that reached the target"}
*/
with ranked as (
    select
        submission.*,
        rule.run_count as required_run_count,
        coalesce(rule.dropped_count, 1) as dropped_count,
        row_number() over (
            partition by submission.repeat_set
            order by submission.copy_of is not null, submission.time_to_train_ms nulls last, submission.run_id
        ) as place,
        count(case when submission.copy_of is null then 1 end) over (partition by submission.repeat_set) as run_count
    from mlperf_training_submission as submission
    inner join benchmark_run_fact as run
        on run.run_id = submission.run_id
    left join mlperf_training_rule as rule
        on rule.benchmark = lower(submission.benchmark)
    where
        run.state = 'admitted'
        and not run.has_conflict
),

scored as (
    select
        *,
        case
            when copy_of is not null then 'copy'
            when scaling_mode = 'weak' then case when time_to_train_ms is null then 'failed' else 'used' end
            when place <= dropped_count then 'fastest'
            when place > run_count - dropped_count then 'slowest'
            else 'used'
        end as part
    from ranked
),

result as (
    select
        repeat_set,
        min(usage) as usage,
        min(round) as round,
        min(division) as division,
        min(submitter) as submitter,
        min(platform) as platform,
        min(benchmark) as benchmark,
        min(scaling_mode) as scaling_mode,
        min(system_name) as system,
        min(accelerator) as accelerator,
        min(node_count) as node_count,
        min(accelerator_count) as accelerator_count,
        case
            when min(instance_accelerator_count) = 0 then min(instance_node_count)
            else min(instance_accelerator_count)
        end as instance_scale,
        case when min(scaling_mode) = 'weak' then 1 else min(scaling_factor) end as scaling_factor,
        count(*) filter (where part <> 'copy') as run_count,
        min(required_run_count) as required_run_count,
        count(time_to_train_ms) as succeeded_count,
        count(*) filter (where part <> 'copy' and time_to_train_ms is null) as failed_count,
        count(*) filter (where part = 'copy') as copied_count,
        count(*) filter (where part = 'used') as used_count,
        count(*) filter (where part = 'used' and time_to_train_ms is null) as used_failed_count,
        case
            when min(scaling_mode) = 'weak' then max(run_stop_ms) filter (where part = 'used') - min(run_start_ms) filter (where part = 'used')
            else sum(time_to_train_ms) filter (where part = 'used') / count(*) filter (where part = 'used')
        end as result_ms,
        sum(energy_j) filter (where part = 'used') / count(*) filter (where part = 'used') as mean_energy_j,
        count(energy_j) filter (where part = 'used') as powered_count,
        string_agg(run_id, ', ' order by place) filter (where part = 'used') as used_run_ids,
        string_agg(run_id, ', ' order by place) filter (where part = 'fastest') as dropped_fastest_run_ids,
        string_agg(run_id, ', ' order by place) filter (where part = 'slowest') as dropped_slowest_run_ids,
        string_agg(run_id, ', ' order by place) filter (where part <> 'copy' and time_to_train_ms is null) as failed_run_ids,
        string_agg(run_id, ', ' order by place) filter (where part = 'copy') as copied_run_ids,
        min(time_to_train_ms) as fastest_ms,
        max(time_to_train_ms) as slowest_ms,
        100 * stddev_samp(time_to_train_ms) / avg(time_to_train_ms) as variation_pct
    from scored
    group by repeat_set
),

judged as (
    select
        *,
        copied_count = 0 and case
            when scaling_mode = 'weak' then succeeded_count >= coalesce(required_run_count, 1)
            else used_failed_count = 0
        end as has_mean,
        run_count >= coalesce(required_run_count, 1) as has_enough_runs
    from result
)

select
    repeat_set,
    usage,
    round,
    division,
    submitter,
    platform,
    benchmark,
    scaling_mode,
    system,
    accelerator,
    node_count,
    accelerator_count,
    instance_scale,
    case when has_mean and has_enough_runs then result_ms / 60000 * scaling_factor end as official_minutes,
    case when has_mean then result_ms / 60000 end as unscaled_minutes,
    case
        when has_mean and has_enough_runs and powered_count = used_count and scaling_mode is distinct from 'weak' then mean_energy_j * scaling_factor
    end as official_energy_j,
    scaling_factor,
    run_count,
    required_run_count,
    scaling_mode is distinct from 'weak' as asks_for_exact_runs,
    succeeded_count,
    failed_count,
    copied_count,
    case when has_mean then used_count else 0 end as used_count,
    case when has_mean then used_run_ids end as used_run_ids,
    dropped_fastest_run_ids,
    dropped_slowest_run_ids,
    failed_run_ids,
    copied_run_ids,
    fastest_ms / 60000 as fastest_minutes,
    slowest_ms / 60000 as slowest_minutes,
    variation_pct
from judged
