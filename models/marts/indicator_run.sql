/*
description: >
  One row per performance run and result of a performance indicator, with what makes runs repeats of each other: the observations that
  indicator_results is a statistic of. Failed runs, and runs that do not count, are in it as well.
materialized: view
grain: [run_id, indicator, component, result_key]
columns:
  script_sha256: {type: varchar, description: "The script that measured"}
  parameters: {type: varchar, description: "All parameters, key=value, sorted"}
  result_key: {type: varchar, description: "The result"}
  unit: {type: varchar, description: "Its unit, where the format or staging.indicator_unit states it; else it is the key's suffix"}
  hardware_topology_key: {type: varchar, description: "The machine"}
  software_version_key: {type: varchar, description: "The software"}
  value: {type: double, description: "The result of the run"}
  testbed: {type: varchar, description: "Key in cluster_region_dim: sessions of one testbed say how much its sessions differ"}
  metric: {type: varchar, description: "Indicator and result: the same measure, whatever its parameters"}
  quantity: {type: varchar, description: "count: the value is a number of events, by the name of its key; NULL: not known"}
  software: {type: varchar, description: "The image's digest; without an image, that of the script that measured, where the evidence states the software that it ran on; NULL: not stated"}
  exit_code: {type: bigint, description: "Exit code of the command"}
  missing_repeats: {type: bigint, description: "Repeats of its set that were declared and are not in the evidence"}
  figures: {type: "varchar[]", description: "What the system measured of the run, as text: its duration and that of its samples, CPU time, memory, faults and context switches. Two runs that share most of it are one execution"}
  is_host_saturated: {type: boolean, description: "Whether other processes filled the host (staging.recorded_disturbance); NULL: not known"}
  is_throttled: {type: boolean, description: "Whether a CPU limit, heat or a power brake held the run back, or a GPU counted memory errors (staging.recorded_disturbance); NULL: not known"}
  options: {type: "map(varchar, varchar)", description: "The options of the command (staging.run_setting)"}
  environment: {type: "map(varchar, varchar)", description: "The environment variables that set how fast it can be"}
  limits: {type: "map(varchar, varchar)", description: "The GPUs that it could see, its CPU limit, affinity and niceness"}
  git_commit: {type: varchar, description: "The commit of the folder where the run was started, and whether it had uncommitted changes; NULL: not stated"}
  component_version: {type: varchar, description: "The version of the measured component, as the indicator states it; NULL: not stated"}
*/
with parameters as (
    select
        run_id,
        string_agg(key || '=' || coalesce(value_text, 'null'), ', ' order by key) filter (where kind = 'parameter') as parameters,
        min(value_text) filter (where kind = 'other' and key = 'component_version') as component_version
    from performance_indicator_fact
    where
        kind = 'parameter'
        or kind = 'other' and key = 'component_version'
    group by run_id
)

select
    outcome.run_id,
    outcome.indicator,
    outcome.component,
    outcome.script_sha256,
    parameters.parameters,
    outcome.key as result_key,
    coalesce(outcome.unit, indicator_unit.unit) as unit,
    run.hardware_topology_key,
    run.software_version_key,
    outcome.value_number as value,
    run.mode,
    run.status,
    run.state,
    run.has_conflict,
    run.started_at,
    run_session.session,
    run.cluster_region_key as testbed,
    concat_ws(' ', outcome.indicator, outcome.key) as metric,
    case when outcome.key = 'count' or ends_with(outcome.key, '_count') then 'count' end as quantity,
    run.workload_spec_digest as configuration,
    coalesce(
        software_version_dim.image_digest,
        case
            when
                coalesce(
                    software_version_dim.packages_digest, software_version_dim.runtime_version, software_version_dim.operating_system,
                    software_version_dim.kernel_version, software_version_dim.framework_version, software_version_dim.software_stack
                ) is not null
                then 'sha256:' || outcome.script_sha256
        end
    ) as software,
    run.exit_code,
    run.missing_repeats,
    [
        -- To the nanosecond, as the clock has them: further digits are of the arithmetic.
        round(run.duration_s, 9)::varchar, round(recorded_disturbance.host_sampled_s, 9)::varchar, run.user_cpu_s::varchar, run.system_cpu_s::varchar, run.max_rss_bytes::varchar,
        run.minor_page_faults::varchar, run.voluntary_context_switches::varchar, run.involuntary_context_switches::varchar
    ] as figures,
    recorded_disturbance.is_host_saturated,
    recorded_disturbance.is_throttled,
    run_setting.options,
    run_setting.environment,
    run_setting.limits,
    run_source.git_commit || case when run_source.is_dirty then ' with uncommitted changes' else '' end as git_commit,
    parameters.component_version,
    run.outcome_digest,
    run.benchmark_grade as grade
from performance_indicator_fact as outcome
inner join benchmark_run_fact as run
    on run.run_id = outcome.run_id
inner join run_session
    on run_session.run_id = outcome.run_id
left join recorded_disturbance
    on
        recorded_disturbance.run_id = run.run_id
        and recorded_disturbance.artifact_manifest_digest = run.artifact_manifest_digest
left join run_setting
    on
        run_setting.run_id = run.run_id
        and run_setting.artifact_manifest_digest = run.artifact_manifest_digest
left join run_source
    on
        run_source.run_id = run.run_id
        and run_source.artifact_manifest_digest = run.artifact_manifest_digest
left join parameters
    on parameters.run_id = outcome.run_id
left join indicator_unit
    on
        indicator_unit.indicator = outcome.indicator
        and indicator_unit.key = outcome.key
left join software_version_dim
    on software_version_dim.software_version_key = run.software_version_key
where
    outcome.kind in ('result', 'score')
    and outcome.value_number is not null
