/*
description: >
  One row per rule for lines of logs, node and software stack: how many runs there have such a line in their own logs. Runs without logs are not
  counted.
materialized: view
grain: [rule, node_name, software_version_key]
columns:
  rule: {type: varchar, description: "The rule", tests: [not_null]}
  severity: {type: varchar, description: "error, warning or note", tests: [not_null]}
  node_name: {type: varchar, description: "The node; NULL: not stated"}
  software_version_key: {type: varchar, description: "The software; see software_version_dim"}
  run_count: {type: bigint, description: "Runs with such a line", tests: [not_null]}
  line_count: {type: bigint, description: "Lines", tests: [not_null]}
  logged_run_count: {type: bigint, description: "Runs of the node and software that have a log of their own", tests: [not_null]}
*/
with logged as (
    select distinct
        run.run_id,
        run.node_name,
        run.software_version_key
    from run_log as log
    inner join benchmark_run_fact as run
        on run.run_id = log.run_id
    where log.is_own
),

total as (
    select
        node_name,
        software_version_key,
        count(*) as logged_run_count
    from logged
    group by
        node_name,
        software_version_key
),

counted as (
    select
        found.rule,
        min(found.severity) as severity,
        logged.node_name,
        logged.software_version_key,
        count(distinct found.run_id) as run_count,
        sum(found.count)::bigint as line_count
    from log_observation as found
    inner join logged
        on logged.run_id = found.run_id
    where found.is_own
    group by
        found.rule,
        logged.node_name,
        logged.software_version_key
)

select
    counted.rule,
    counted.severity,
    counted.node_name,
    counted.software_version_key,
    counted.run_count,
    counted.line_count,
    total.logged_run_count
from counted
inner join total
    on
        total.node_name is not distinct from counted.node_name
        and total.software_version_key is not distinct from counted.software_version_key
