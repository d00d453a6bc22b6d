/*
description: >
  One row per run and bundle: its clock, in milliseconds of the Unix epoch, and how the log says it ended. Every rank may write
  a line of its own: initialisation is from the first to the last of them, the run from its first start to its first stop. An
  end that any line states to be no success is none.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  init_start_ms: {type: bigint, unit: ms, description: "First init_start"}
  init_stop_ms: {type: bigint, unit: ms, description: "Last init_stop"}
  run_start_ms: {type: bigint, unit: ms, description: "First run_start"}
  run_stop_ms: {type: bigint, unit: ms, description: "First run_stop"}
  run_status: {type: varchar, description: "What run_stop, else a status line, says: success or another word"}
*/
select
    run_id,
    artifact_manifest_digest,
    min(time_ms) filter (where key = 'init_start') as init_start_ms,
    max(time_ms) filter (where key = 'init_stop') as init_stop_ms,
    min(time_ms) filter (where key = 'run_start') as run_start_ms,
    min(time_ms) filter (where key = 'run_stop') as run_stop_ms,
    coalesce(
        min(status) filter (where key = 'run_stop' and status <> 'success'),
        min(status) filter (where key = 'run_stop'),
        min(status) filter (where key = 'status')
    ) as run_status
from mlperf_training_event
where key in ('init_start', 'init_stop', 'run_start', 'run_stop', 'status')
group by
    run_id,
    artifact_manifest_digest
