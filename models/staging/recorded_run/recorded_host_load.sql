/*
description: >
  One row per recorded run whose host was sampled: whether the host was full of other work, so that the run measured less than the machine can
  do. A run that fills its host itself is not disturbed.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  is_host_saturated: {type: boolean, description: "Whether the CPUs were busy for 95 % of the run or more, and processes other than its own took a tenth of them or more; NULL: not known"}
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    host.value_mean >= 95
    and host.value_mean / 100 - (run.user_cpu_s + run.system_cpu_s) / run.wall_s / run.logical_cores >= 0.1 as is_host_saturated
from recorded_run as run
inner join recorded_host_slice as host
    on
        host.run_id = run.run_id
        and host.artifact_manifest_digest = run.artifact_manifest_digest
        and host.metric = 'cpu_util_pct'
where
    run.wall_s > 0
    and run.logical_cores > 0
