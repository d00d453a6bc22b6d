/*
description: >
  One row per run and bundle: its clock, in milliseconds of the Unix epoch, and how the log says it ended. Every rank
  may write lines of its own: initialisation lasts from the first to the last of them, the run from its first start to
  its first stop. An initialisation after that stop belongs to another run in the same file. If any line states that
  the run ended without success, it did not succeed.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  init_start_ms: {type: bigint, unit: ms, description: "First init_start"}
  init_stop_ms: {type: bigint, unit: ms, description: "Last init_stop before that run_stop"}
  run_start_ms: {type: bigint, unit: ms, description: "First run_start"}
  run_stop_ms: {type: bigint, unit: ms, description: "First run_stop"}
  run_status: {type: varchar, description: "What run_stop, or else a status line, states: success or another word"}
*/
with clock_event as (
    select
        run_id,
        artifact_manifest_digest,
        key,
        status,
        time_ms
    from mlperf_training_event
    where key in ('init_start', 'init_stop', 'run_start', 'run_stop', 'status')
),

stopped as (
    select
        run_id,
        artifact_manifest_digest,
        min(time_ms) as run_stop_ms
    from clock_event
    where key = 'run_stop'
    group by
        run_id,
        artifact_manifest_digest
)

select
    event.run_id,
    event.artifact_manifest_digest,
    min(event.time_ms) filter (where event.key = 'init_start') as init_start_ms,
    max(event.time_ms) filter (
        where event.key = 'init_stop' and event.time_ms <= coalesce(stopped.run_stop_ms, event.time_ms)
    ) as init_stop_ms,
    min(event.time_ms) filter (where event.key = 'run_start') as run_start_ms,
    min(event.time_ms) filter (where event.key = 'run_stop') as run_stop_ms,
    coalesce(
        min(event.status) filter (where event.key = 'run_stop' and event.status <> 'success'),
        min(event.status) filter (where event.key = 'run_stop'),
        min(event.status) filter (where event.key = 'status')
    ) as run_status
from clock_event as event
left join stopped
    on
        stopped.run_id = event.run_id
        and stopped.artifact_manifest_digest = event.artifact_manifest_digest
group by
    event.run_id,
    event.artifact_manifest_digest
