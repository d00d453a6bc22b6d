/*
description: >
  One row per request of a run of a described format that states its requests.
grain: [run_id, artifact_manifest_digest, request_index]
feeds: request
retention_tier: warm
*/
select
    request.run_id,
    request.artifact_manifest_digest,
    coalesce(run.serving_point, 'all') as workload_point,
    outcome.concurrency_point,
    outcome.request_rate_per_s,
    request.request_index,
    request.status,
    request.error,
    request.session,
    request.turn_index,
    request.scheduled_s,
    coalesce(
        request.started_s - min(request.started_s) over (partition by request.run_id, request.artifact_manifest_digest),
        (
            epoch_us(request.started_at)
            - min(epoch_us(request.started_at)) over (partition by request.run_id, request.artifact_manifest_digest)
        ) / 1e6
    ) as started_s,
    request.ttft_ms,
    request.tpot_ms,
    request.itl_mean_ms,
    request.e2e_ms,
    request.queueing_delay_ms,
    request.input_token_count,
    request.output_token_count,
    request.output_token_count / nullif(request.e2e_ms / 1000, 0) as output_token_throughput_per_s,
    request.stated_output_token_throughput_per_s
from described_request as request
inner join described_run as run
    on
        run.run_id = request.run_id
        and run.artifact_manifest_digest = request.artifact_manifest_digest
left join described_serving_outcome as outcome
    on
        outcome.run_id = request.run_id
        and outcome.artifact_manifest_digest = request.artifact_manifest_digest
