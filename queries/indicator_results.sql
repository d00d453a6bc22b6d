/*
description: >
  Performance indicators over runs: the number of runs, the median over runs and its distribution-free 95 % interval,
  per indicator, script, parameters, machine, software and result key. The run is the unit of replication. With fewer
  than six runs there is no such interval, and it is NULL.
grain: [indicator, component, script_sha256, parameters, result_key, hardware_topology_key, software_version_key]
claim:
  what: the median of each result key over independent runs of one command on one machine
  population: succeeded performance runs of recorded indicators, admitted, without conflict
  unit_of_replication: the run, one execution of the command
  policy: default
  observations: indicator_run
  numbers:
    median: {statistic: median, of: observation.value}
  exclusions:
    not has_conflict: it is not settled which of several bundles is the run's evidence
columns:
  result_key: {type: varchar, description: "The result"}
  unit: {type: varchar, description: "Unit of the statistics, where the runs state one and the same; else it is the suffix of result_key"}
  run_count: {type: bigint, description: "Runs with a value"}
  median: {type: double, description: "Median over runs"}
  interval_low: {type: double, description: "Lower end of the 95 % interval of the median"}
  interval_high: {type: double, description: "Upper end of the 95 % interval of the median"}
  interval_coverage: {type: double, description: "The actual coverage of the interval's ranks"}
  minimum: {type: double, description: "Smallest value of a run"}
  maximum: {type: double, description: "Largest value of a run"}
  first_run_at: {type: timestamptz, unit: UTC, description: "Start of the first run"}
  last_run_at: {type: timestamptz, unit: UTC, description: "Start of the last run"}
*/
with comparable as (
    select
        indicator,
        component,
        script_sha256,
        parameters,
        result_key,
        hardware_topology_key,
        software_version_key,
        case when min(unit) = max(unit) then min(unit) end as unit,
        count(*) as run_count,
        median(value) as median,
        list(value order by value) as sorted_values,
        min(started_at) as first_run_at,
        max(started_at) as last_run_at
    from indicator_run
    where
        mode = 'performance'
        and status = 'succeeded'
        and state = 'admitted'
        and not has_conflict
    group by
        indicator,
        component,
        script_sha256,
        parameters,
        result_key,
        hardware_topology_key,
        software_version_key
)

select
    comparable.indicator,
    comparable.component,
    comparable.script_sha256,
    comparable.parameters,
    comparable.result_key,
    comparable.hardware_topology_key,
    comparable.software_version_key,
    comparable.unit,
    comparable.run_count,
    comparable.median,
    comparable.sorted_values[order_statistic_median.lower_rank] as interval_low,
    comparable.sorted_values[order_statistic_median.upper_rank] as interval_high,
    order_statistic_median.coverage as interval_coverage,
    comparable.sorted_values[1] as minimum,
    comparable.sorted_values[-1] as maximum,
    hardware_topology_dim.cpu_model,
    comparable.first_run_at,
    comparable.last_run_at
from comparable
left join order_statistic_median
    on order_statistic_median.n = comparable.run_count
left join hardware_topology_dim
    on hardware_topology_dim.hardware_topology_key = comparable.hardware_topology_key
