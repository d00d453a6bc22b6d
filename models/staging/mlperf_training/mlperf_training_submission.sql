/*
description: >
  One row per run, from the bundle that the run is read from: the submitter, the repeat set, the number of
  accelerators, and the time to train if the run reached the target.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, unique]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  repeat_set: {type: varchar, description: "The runs that are one result", tests: [not_null]}
  usage: {type: varchar, description: "training or hpc: rounds of both have the same names", tests: [not_null]}
  round: {type: varchar, description: "Round, e.g. v5.1; NULL if the path does not state it"}
  division: {type: varchar, description: "closed or open, as the log or else the system description says"}
  submitter: {type: varchar, description: "Submitter folder, else as the log says"}
  platform: {type: varchar, description: "Platform folder, else as the log says"}
  benchmark: {type: varchar, description: "Benchmark folder, else as the log says"}
  scaling_mode: {type: varchar, description: "strong or weak, of an HPC round; weak: the run is one of many models that were trained at once"}
  accelerator: {type: varchar, description: "Accelerator model"}
  node_count: {type: bigint, description: "Nodes"}
  accelerator_count: {type: bigint, description: "Accelerators in all nodes"}
  instance_node_count: {type: bigint, description: "Nodes that a weak run's model was trained on; NULL: all"}
  instance_accelerator_count: {type: bigint, description: "Accelerators that a weak run's model was trained on; NULL: all"}
  global_batch_size: {type: double, description: "Samples per optimiser step"}
  scaling_factor: {type: double, description: "The factor by which the RCP checker multiplies the result: 1 without a scaling.json; NULL: the file has no factor that can be read"}
  run_start_ms: {type: bigint, unit: ms, description: "First run_start, of the Unix epoch"}
  run_stop_ms: {type: bigint, unit: ms, description: "First run_stop, of the Unix epoch"}
  refusal: {type: varchar, description: "Code of the issue for which no result is taken from the log"}
  copy_of: {type: varchar, description: "The run of the same set whose log this one copies"}
  energy_j: {type: double, unit: J, description: "Energy of the run, from its power logs; NULL without any, or if it has no time to train"}
  time_to_train_ms: {type: bigint, unit: ms, description: "run_stop - run_start of a run that succeeded, else NULL; NULL, too, if the log is refused"}
*/
select
    run.run_id,
    run.artifact_manifest_digest,
    run.repeat_set,
    run.usage,
    run.round,
    lower(coalesce(division.value, system.division)) as division,
    coalesce(run.submitter, org.value) as submitter,
    coalesce(run.platform, platform.value) as platform,
    run.benchmark,
    run.scaling_mode,
    system.system_name,
    system.accelerator_model_name as accelerator,
    system.number_of_nodes as node_count,
    system.number_of_nodes * system.accelerators_per_node as accelerator_count,
    case when run.scaling_mode = 'weak' then try_cast(instance_nodes.value_number as bigint) end as instance_node_count,
    case
        when run.scaling_mode = 'weak'
            then try_cast(instance_nodes.value_number * instance_accelerators.value_number as bigint)
    end as instance_accelerator_count,
    system.framework,
    batch.value_number as global_batch_size,
    case when system.artifact_manifest_digest is null then 1 else system.scaling_factor end as scaling_factor,
    clock.run_start_ms,
    clock.run_stop_ms,
    run.refusal,
    run.copy_of,
    case
        when run.refusal is null and clock.run_status = 'success' and clock.run_start_ms < clock.run_stop_ms
            then clock.run_stop_ms - clock.run_start_ms
    end as time_to_train_ms,
    case
        when run.refusal is null and clock.run_status = 'success' and clock.run_start_ms < clock.run_stop_ms
            then power.power_w * (clock.run_stop_ms - clock.run_start_ms) / 1000
    end as energy_j,
    conformance.reaches_quality,
    conformance.has_system_description,
    conformance.is_power_submission,
    conformance.has_power
from mlperf_training_run as run
inner join run_bundle
    on
        run_bundle.run_id = run.run_id
        and run_bundle.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_clock as clock
    on
        clock.run_id = run.run_id
        and clock.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_system as system
    on system.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_conformance as conformance
    on
        conformance.run_id = run.run_id
        and conformance.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_power_mean as power
    on
        power.run_id = run.run_id
        and power.artifact_manifest_digest = run.artifact_manifest_digest
left join mlperf_training_statement as division
    on
        division.run_id = run.run_id
        and division.artifact_manifest_digest = run.artifact_manifest_digest
        and division.key = 'submission_division'
left join mlperf_training_statement as org
    on
        org.run_id = run.run_id
        and org.artifact_manifest_digest = run.artifact_manifest_digest
        and org.key = 'submission_org'
left join mlperf_training_statement as platform
    on
        platform.run_id = run.run_id
        and platform.artifact_manifest_digest = run.artifact_manifest_digest
        and platform.key = 'submission_platform'
left join mlperf_training_statement as batch
    on
        batch.run_id = run.run_id
        and batch.artifact_manifest_digest = run.artifact_manifest_digest
        and batch.key = 'global_batch_size'
left join mlperf_training_statement as instance_nodes
    on
        instance_nodes.run_id = run.run_id
        and instance_nodes.artifact_manifest_digest = run.artifact_manifest_digest
        and instance_nodes.key = 'number_of_nodes'
left join mlperf_training_statement as instance_accelerators
    on
        instance_accelerators.run_id = run.run_id
        and instance_accelerators.artifact_manifest_digest = run.artifact_manifest_digest
        and instance_accelerators.key = 'accelerators_per_node'
