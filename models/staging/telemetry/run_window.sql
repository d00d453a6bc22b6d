/*
description: >
  One row per run and window of time that telemetry is cut by: the whole run, and the phases, steps and load points that
  its evidence states.
grain: [run_id, window_kind, window_name, window_start]
collects: run_window
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle that states the window", tests: [not_null]}
  window_kind: {type: varchar, description: "run, phase, step or load_point", tests: [not_null, {accepted_values: [run, phase, step, load_point]}]}
  window_name: {type: varchar, description: "Which one, as the evidence names it; NULL for the whole run"}
  window_start: {type: timestamptz, unit: UTC, description: "Start", tests: [not_null]}
  window_end: {type: timestamptz, unit: UTC, description: "End", tests: [not_null]}
  is_zone_assumed: {type: boolean, description: "Whether the times' zone was assumed, not stated"}
*/
select stated.*
from feed.run_window as stated
inner join run_bundle
    on
        run_bundle.run_id = stated.run_id
        and run_bundle.artifact_manifest_digest = stated.artifact_manifest_digest
where stated.window_end > stated.window_start
