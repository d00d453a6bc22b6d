/*
description: >
  One row per performance run of a submission: what the submission checker of its suite and round asks of it, as far as
  the evidence tells. A ratio of 1 is exactly what is asked for. NULL: the evidence does not state it, or what is asked
  of that round and model is not known.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, unique]}
  asks_for_accuracy: {type: boolean, description: "Whether the accuracy must reach a target: not in the open division", tests: [not_null]}
  accuracy_ratio: {type: double, description: "The accuracy report's worst metric over its target: value over the least, or the most over the value"}
  has_latency_limit: {type: boolean, description: "Whether the latency is limited"}
  latency_ratio: {type: double, description: "The latency nearest to its limit, over that limit"}
  duration_ratio: {type: double, description: "Minimum duration that the run was set to, over the one asked for"}
  asks_for_samples: {type: boolean, description: "Whether a number of queries or of samples in a query is asked for: from v2.0 on early stopping decides, but for Offline"}
  sample_ratio: {type: double, description: "Samples of an Offline query, or minimum queries before v2.0, over what is asked for"}
  performance_sample_ratio: {type: double, description: "Samples that the run drew from, over those asked for"}
  missing_file_count: {type: bigint, description: "How many of summary, detail log and accuracy report are not in the evidence", tests: [not_null]}
  missing_other_file_count: {type: bigint, description: "0: the accuracy run's logs, user.conf, the measurement document and the system description are there; NULL: not all, and whether submission or copy lacks them is not known"}
  is_power_submission: {type: boolean, description: "Whether power was measured: there is a ranging run or a power log", tests: [not_null]}
  missing_power_file_count: {type: bigint, description: "How many of spl.txt of the run and of its ranging run, client.json and server.json are not in the evidence", tests: [not_null]}
*/
with accuracy as (
    select
        run.artifact_manifest_digest,
        entry.key as metric,
        min(coalesce(entry.value_number, try_cast(rtrim(entry.value, '%') as double))) as lowest,
        max(coalesce(entry.value_number, try_cast(rtrim(entry.value, '%') as double))) as highest
    from mlperf_inference_run as run
    inner join mlperf_inference_entry as entry
        on
            entry.run_id = run.run_id
            and entry.artifact_manifest_digest = run.artifact_manifest_digest
    where
        run.mode = 'accuracy'
        and entry.source = 'accuracy'
    group by
        run.artifact_manifest_digest,
        entry.key
),

reached as (
    select
        submission.run_id,
        case
            when count(accuracy.lowest) = count(*)
                then min(least(accuracy.lowest / target.least, coalesce(target.most / accuracy.highest, accuracy.lowest / target.least)))
        end as accuracy_ratio
    from mlperf_inference_submission as submission
    inner join mlperf_inference_accuracy_target as target
        on
            target.benchmark_suite = submission.benchmark_suite
            and target.round = submission.round
            and target.model = lower(submission.model)
    left join accuracy
        on
            accuracy.artifact_manifest_digest = submission.artifact_manifest_digest
            and accuracy.metric = target.metric
    group by submission.run_id
),

file as (
    select
        artifact_manifest_digest,
        count(*) filter (where role = 'accuracy_report' and regexp_matches(raw_path, '(?i)/results/([^/]+/){3}accuracy/[^/]+$')) as accuracy_reports,
        count(*) filter (where role = 'summary_log' and regexp_matches(raw_path, '(?i)/results/([^/]+/){3}accuracy/[^/]+$')) as accuracy_summaries,
        count(*) filter (where role = 'detail_log' and regexp_matches(raw_path, '(?i)/results/([^/]+/){3}accuracy/[^/]+$')) as accuracy_details,
        count(*) filter (where role = 'user_conf') as user_confs,
        count(*) filter (where role = 'measurement') as measurements,
        count(*) filter (where role = 'system') as systems,
        count(*) filter (where role = 'power_samples' and regexp_matches(raw_path, '(?i)/ranging/')) as ranging_samples,
        count(*) filter (where role = 'power_client') as power_clients,
        count(*) filter (where role = 'power_server') as power_servers
    from evidence_file
    group by artifact_manifest_digest
)

select
    submission.run_id,
    lower(submission.division) <> 'open' as asks_for_accuracy,
    reached.accuracy_ratio,
    case
        when submission.scenario not in ('Server', 'Interactive') then false
        when bound.model is not null then true
        when sampled.model is not null then false
    end as has_latency_limit,
    case
        when bound.ttft_ms is null and rule.uses_early_stopping then metric.target_latency_ms / bound.latency_ms
        when bound.ttft_ms is null then metric.e2e_p99_ms / bound.latency_ms
        when metric.ttft_p99_ms is not null and metric.tpot_p99_ms is not null
            then greatest(metric.ttft_p99_ms / bound.ttft_ms, metric.tpot_p99_ms / bound.tpot_ms, metric.target_latency_ms / bound.latency_ms)
    end as latency_ratio,
    metric.min_duration_ms / rule.min_duration_ms as duration_ratio,
    case
        when rule.round is null then null
        when rule.uses_early_stopping then submission.run_scenario = 'Offline' and lower(submission.division) <> 'open'
        else rule.round <> 'v0.5' or submission.run_scenario = 'Offline'
    end as asks_for_samples,
    case
        when submission.run_scenario = 'Offline' then metric.samples_per_query / coalesce(rule.offline_sample_count, sampled.offline_sample_count)
        when not rule.uses_early_stopping
            then metric.min_query_count / case submission.run_scenario when 'SingleStream' then 1024 else 270336 end
    end as sample_ratio,
    metric.performance_sample_count / sampled.performance_sample_count as performance_sample_ratio,
    (not run.has_summary_log)::bigint + (not run.has_detail_log)::bigint + (file.accuracy_reports = 0)::bigint as missing_file_count,
    case
        when least(file.accuracy_summaries, file.accuracy_details, file.user_confs, file.measurements, file.systems) > 0 then 0::bigint
    end as missing_other_file_count,
    submission.has_ranging_run or run.has_power_log as is_power_submission,
    (not run.has_power_log)::bigint + (file.ranging_samples = 0)::bigint + (file.power_clients = 0)::bigint
    + (file.power_servers = 0)::bigint as missing_power_file_count
from mlperf_inference_submission as submission
inner join mlperf_inference_run as run
    on
        run.run_id = submission.run_id
        and run.artifact_manifest_digest = submission.artifact_manifest_digest
inner join file
    on file.artifact_manifest_digest = submission.artifact_manifest_digest
left join mlperf_inference_metric as metric
    on
        metric.run_id = submission.run_id
        and metric.artifact_manifest_digest = submission.artifact_manifest_digest
left join mlperf_inference_round as rule
    on
        rule.benchmark_suite = submission.benchmark_suite
        and rule.round = submission.round
left join mlperf_inference_sample_count as sampled
    on
        sampled.benchmark_suite = submission.benchmark_suite
        and sampled.round = submission.round
        and sampled.model = lower(submission.model)
left join mlperf_inference_latency_limit as bound
    on
        submission.benchmark_suite = 'inference'
        and bound.round = submission.round
        and bound.model = lower(submission.model)
        and bound.scenario = submission.scenario
left join reached
    on reached.run_id = submission.run_id
