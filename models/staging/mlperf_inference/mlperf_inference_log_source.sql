/*
description: >
  One row per run and bundle: which detail log and which power log describe the run. A submitter may file one
  execution under two names (for a 99 % and a 99.9 % target, say) and keep its logs under only one of them. Summaries
  contain statistics in nanoseconds, so two runs with identical summaries are one execution, and the log that one of
  them lacks is the log of the other. Accuracy-only runs print no statistics and are never matched with each other.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  detail_run_id: {type: varchar, description: "The run whose detail log is taken: itself where it has one", tests: [not_null]}
  detail_manifest_digest: {type: varchar, description: "The bundle of that log", tests: [not_null]}
  refusal: {type: varchar, description: "The code of the issue for which no result is taken from the run or from that detail log; NULL: none"}
  summary_refusal: {type: varchar, description: "The code of the issue for which the run's summary is not read beside its detail log; NULL: none"}
  power_run_id: {type: varchar, description: "The run whose power log is taken: itself where it has one", tests: [not_null]}
  power_manifest_digest: {type: varchar, description: "The bundle of that log", tests: [not_null]}
*/
with summary as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        run.has_detail_log,
        run.has_power_log,
        run.refusal,
        file.sha256
    from mlperf_inference_run as run
    inner join evidence_file as file
        on
            file.artifact_manifest_digest = run.artifact_manifest_digest
            and file.raw_path = run.raw_path
    where
        run.mode in ('performance', 'ranging')
        and run.has_summary_log
),

execution as (
    select
        sha256,
        min({'run_id': run_id, 'digest': artifact_manifest_digest, 'refusal': refusal}) filter (where has_detail_log) as detail,
        min({'run_id': run_id, 'digest': artifact_manifest_digest}) filter (where has_power_log) as power
    from summary
    group by sha256
)

select
    run.run_id,
    run.artifact_manifest_digest,
    case when run.has_detail_log then run.run_id else coalesce(execution.detail.run_id, run.run_id) end as detail_run_id,
    case
        when run.has_detail_log then run.artifact_manifest_digest
        else coalesce(execution.detail.digest, run.artifact_manifest_digest)
    end as detail_manifest_digest,
    coalesce(run.refusal, case when not run.has_detail_log then execution.detail.refusal end) as refusal,
    run.summary_refusal,
    case when run.has_power_log then run.run_id else coalesce(execution.power.run_id, run.run_id) end as power_run_id,
    case
        when run.has_power_log then run.artifact_manifest_digest
        else coalesce(execution.power.digest, run.artifact_manifest_digest)
    end as power_manifest_digest
from mlperf_inference_run as run
left join summary
    on
        summary.run_id = run.run_id
        and summary.artifact_manifest_digest = run.artifact_manifest_digest
left join execution
    on execution.sha256 = summary.sha256
