/*
description: >
  One row per run: what was run, on what, when, and how it ended. A run that several bundles state is read from one of
  them (staging.run_bundle). If their bytes differ, has_conflict is true, and the run cannot be published until wh
  settle decides which bundle is its evidence. A run that was retracted, or that another run supersedes, cannot be
  published either.
materialized: incremental
key: [run_id]
grain: [run_id]
collects: benchmark_run
role: runs
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case, the unit of replication", tests: [not_null, unique]}
  benchmark_case_id: {type: varchar, description: "What is measured, whoever measured it", tests: [not_null]}
  workload_spec_digest: {type: varchar, description: "sha256 of the canonical frozen workload document", tests: [{relationships: main.workload_dim.workload_spec_digest}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle this row is read from", tests: [not_null]}
  raw_folder: {type: varchar, description: "The run's own folder in its bundle, with its closing slash, or its own file", tests: [not_null]}
  raw_section: {type: varchar, description: "Which bytes of its file are the run's, where a file holds several runs: offset+length; NULL: all"}
  family: {type: varchar, description: "The evidence family, as its ingestor is named", tests: [not_null]}
  mode: {type: varchar, description: "What the run is for: performance, or a run that supports one", tests: [not_null, {accepted_values: [performance, accuracy, compliance, ranging]}]}
  supports_run_id: {type: varchar, description: "The performance run that this run supports; NULL for a performance run"}
  intent: {type: varchar, description: "publication, exploratory or validation; NULL where the evidence does not say"}
  cadence: {type: varchar, description: "canary, nightly, pre_release or a round's name; NULL where the evidence does not say"}
  benchmark_grade: {type: varchar, description: "publication_grade or realism_grade; NULL: none was declared"}
  grade_reason: {feed: false}
  status: {type: varchar, description: "How the run ended", tests: [not_null, {accepted_values: [succeeded, invalid, failed, interrupted, unknown]}]}
  status_reason: {type: varchar, description: "The evidence's own words for the status"}
  repeat_index: {type: bigint, description: "Place in a set of repeats, from 1; NULL where the evidence does not say"}
  missing_repeats: {type: bigint, description: "Repeats of its set that were declared and are not in the evidence; NULL: the evidence does not say how many were declared"}
  started_at: {type: timestamptz, unit: UTC, description: "Start of the run"}
  ended_at: {type: timestamptz, unit: UTC, description: "End of the run"}
  is_zone_assumed: {type: boolean, description: "Whether the times' zone was assumed, not stated"}
  attempted_at: {type: timestamptz, unit: UTC, description: "Start of the CI job or workflow attempt that launched the run; NULL where the evidence does not state it with its zone"}
  snapshot_at: {type: timestamptz, unit: UTC, description: "When the evidence was exported or collected; NULL where the evidence does not state it with its zone"}
  duration_s: {type: double, unit: s, description: "Wall time of the measured part"}
  exit_code: {type: bigint, description: "Exit code of the command, where one was recorded"}
  user_cpu_s: {type: double, unit: s, description: "CPU time in user mode"}
  system_cpu_s: {type: double, unit: s, description: "CPU time in system mode"}
  max_rss_bytes: {type: bigint, unit: bytes, description: "Peak resident memory"}
  voluntary_context_switches: {type: bigint, description: "Context switches the run asked for by waiting"}
  involuntary_context_switches: {type: bigint, description: "Context switches forced on the run"}
  minor_page_faults: {type: bigint, description: "Page faults served without input or output"}
  major_page_faults: {type: bigint, description: "Page faults that needed input or output"}
  scheduler_run_id: {type: varchar, description: "The scheduler's name for the run"}
  job_uid: {type: varchar, description: "The scheduler's job"}
  pod_uid: {type: varchar, description: "The pod, for a run in one pod"}
  node_name: {type: varchar, description: "The node, for a run on one node"}
  gpu_uuid: {type: varchar, description: "The GPU, for a run on one GPU"}
  scheduler_path: {type: varchar, description: "How the run was scheduled, e.g. slurm, slinky-kueue"}
  queue_wait_s: {type: double, unit: s, description: "From submission to quota; for Slurm, which has none, to start"}
  admission_wait_s: {type: double, unit: s, description: "From submission to admission, with queue_wait_s"}
  software_version_key: {type: varchar, description: "Key in software_version_dim", feed: false, tests: [{relationships: main.software_version_dim.software_version_key}]}
  hardware_topology_key: {type: varchar, description: "Key in hardware_topology_dim", feed: false, tests: [{relationships: main.hardware_topology_dim.hardware_topology_key}]}
  cluster_region_key: {type: varchar, description: "Key in cluster_region_dim", feed: false, tests: [{relationships: main.cluster_region_dim.cluster_region_key}]}
  outcome_digest: {type: varchar, description: "Digest of the run's own files: two runs that share it are one execution", feed: false}
  bundle_count: {feed: false, tests: [not_null]}
  has_conflict: {feed: false, tests: [not_null]}
  settled_reason: {type: varchar, description: "Why this bundle is the evidence, in the words of the person who settled it; NULL: nothing was settled", feed: false}
  settled_since: {feed: false}
  state: {type: varchar, description: "Whether the run counts: admitted, retracted, or superseded by another run", feed: false, tests: [not_null, {accepted_values: [admitted, retracted, superseded]}]}
  state_reason: {type: varchar, description: "Why it is not admitted, in the words of the person who decided; NULL: it is", feed: false}
  state_since: {type: timestamptz, unit: UTC, description: "When that was decided; NULL: it is admitted", feed: false}
  superseded_by: {type: varchar, description: "The run that supersedes it; NULL: none", feed: false}
*/
select
    run.run_id,
    run.benchmark_case_id,
    coalesce(run_workload.workload_spec_digest, run.workload_spec_digest) as workload_spec_digest,
    run.artifact_manifest_digest,
    run.raw_folder,
    run.raw_section,
    run.family,
    run.mode,
    run.supports_run_id,
    coalesce(run_declaration.intent, run.intent) as intent,
    coalesce(run_declaration.cadence, run.cadence) as cadence,
    coalesce(run_declaration.benchmark_grade, run.benchmark_grade) as benchmark_grade,
    run_declaration.grade_reason,
    run.status,
    run.status_reason,
    run.repeat_index,
    run.missing_repeats,
    run.started_at,
    run.ended_at,
    run.is_zone_assumed,
    run.attempted_at,
    run.snapshot_at,
    run.duration_s,
    run.exit_code,
    run.user_cpu_s,
    run.system_cpu_s,
    run.max_rss_bytes,
    run.voluntary_context_switches,
    run.involuntary_context_switches,
    run.minor_page_faults,
    run.major_page_faults,
    run.scheduler_run_id,
    run.job_uid,
    run.pod_uid,
    run.node_name,
    run.gpu_uuid,
    coalesce(run_declaration.scheduler_path, run.scheduler_path) as scheduler_path,
    run.queue_wait_s,
    run.admission_wait_s,
    run_software.software_version_key,
    run_hardware.hardware_topology_key,
    run_cluster.cluster_region_key,
    run_outcome.outcome_digest,
    run_bundle.bundle_count,
    run_bundle.has_conflict,
    run_bundle.settled_reason,
    run_bundle.settled_since,
    coalesce(run_decision.state, 'admitted') as state,
    run_decision.reason as state_reason,
    run_decision.decided_at as state_since,
    run_decision.superseded_by
from feed.benchmark_run as run
inner join run_bundle
    on
        run_bundle.run_id = run.run_id
        and run_bundle.artifact_manifest_digest = run.artifact_manifest_digest
left join run_workload
    on
        run_workload.run_id = run.run_id
        and run_workload.artifact_manifest_digest = run.artifact_manifest_digest
left join run_declaration
    on
        run_declaration.run_id = run.run_id
        and run_declaration.artifact_manifest_digest = run.artifact_manifest_digest
left join run_outcome
    on
        run_outcome.run_id = run.run_id
        and run_outcome.artifact_manifest_digest = run.artifact_manifest_digest
left join run_software
    on
        run_software.run_id = run.run_id
        and run_software.artifact_manifest_digest = run.artifact_manifest_digest
left join run_hardware
    on
        run_hardware.run_id = run.run_id
        and run_hardware.artifact_manifest_digest = run.artifact_manifest_digest
left join run_cluster
    on
        run_cluster.run_id = run.run_id
        and run_cluster.artifact_manifest_digest = run.artifact_manifest_digest
left join run_decision
    on run_decision.run_id = run.run_id
