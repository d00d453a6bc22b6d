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
  unit: {type: varchar, description: "Its unit, where staging.indicator_unit knows it; else it is the key's suffix"}
  hardware_topology_key: {type: varchar, description: "The machine"}
  software_version_key: {type: varchar, description: "The software"}
  value: {type: double, description: "The result of the run"}
  software: {type: varchar, description: "The image's digest; without an image, that of the script that measured"}
*/
with parameters as (
    select
        run_id,
        string_agg(key || '=' || coalesce(value_text, 'null'), ', ' order by key) as parameters
    from performance_indicator_fact
    where kind = 'parameter'
    group by run_id
)

select
    outcome.run_id,
    outcome.indicator,
    outcome.component,
    outcome.script_sha256,
    parameters.parameters,
    outcome.key as result_key,
    indicator_unit.unit,
    run.hardware_topology_key,
    run.software_version_key,
    outcome.value_number as value,
    run.mode,
    run.status,
    run.state,
    run.has_conflict,
    run.started_at,
    run_session.session,
    run.workload_spec_digest as configuration,
    coalesce(software_version_dim.image_digest, 'sha256:' || outcome.script_sha256) as software,
    run.outcome_digest,
    run.benchmark_grade as grade
from performance_indicator_fact as outcome
inner join benchmark_run_fact as run
    on run.run_id = outcome.run_id
inner join run_session
    on run_session.run_id = outcome.run_id
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
