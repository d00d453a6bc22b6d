/*
description: A log of the run has a known error, or states a setting or a fallback that no log of the baseline states
playbook: [low_gpu_utilization, slow_gpus, slow_host, tail_latency_regression]
evidence: logs of the run and of its baseline (*.log, *.out, *.err, stdout.txt, stderr.txt and the like)
order: 9
*/
with usual as (
    select distinct
        observation.rule,
        observation.condition,
        observation.condition_value
    from log_observation as observation
    inner join explained
        on
            explained.run_id = observation.run_id
            and explained.role = 'baseline'
),

baseline as (
    select count(distinct log.run_id) as logged_runs
    from run_log as log
    inner join explained
        on
            explained.run_id = log.run_id
            and explained.role = 'baseline'
),

observed as (
    select
        observation.rule,
        max(observation.severity = 'error') as is_error,
        max(observation.condition) as condition,
        max(observation.condition_value) as condition_value,
        min(observation.meaning) as meaning,
        sum(observation.count)::bigint as lines,
        arg_min(observation.text, (observation.raw_path, observation.raw_offset)) as text,
        arg_min(observation.artifact_manifest_digest, (observation.raw_path, observation.raw_offset)) as artifact_manifest_digest,
        arg_min(observation.raw_path, (observation.raw_path, observation.raw_offset)) as raw_path
    from log_observation as observation
    inner join explained
        on
            explained.run_id = observation.run_id
            and explained.role = 'run'
    where observation.severity <> 'note' or observation.condition is not null
    group by observation.rule
)

-- Without a log of the baseline nobody knows whether it has the line, too: an error is one all the same.
select
    'log: ' || observed.rule as subject,
    case
        when usual.rule is not null then false
        when observed.is_error then true
        when baseline.logged_runs > 0 then true
    end as is_found,
    case when observed.is_error then 0.5 when observed.condition is not null then 0.3 else 0.2 end as score,
    concat(
        observed.meaning, ' (', observed.lines, case when observed.lines = 1 then ' line' else ' lines' end, ', the first: ', left(observed.text, 160), ')',
        case
            when usual.rule is not null then '; the baseline has the same'
            when baseline.logged_runs = 0 then '; the baseline has no logs'
            when other.condition_value is not null then '; in the baseline ' || observed.condition || ' is ' || other.condition_value
        end
    ) as statement,
    observed.lines::double as observed,
    null::double as expected,
    'count' as unit,
    observed.artifact_manifest_digest,
    observed.raw_path
from observed
cross join baseline
left join usual
    on usual.rule = observed.rule
left join (
    select
        condition,
        string_agg(distinct condition_value, ', ' order by condition_value) as condition_value
    from usual
    where condition is not null
    group by condition
) as other
    on other.condition = observed.condition
union all
select
    'log: ' || log.raw_path as subject,
    false as is_found,
    0.0 as score,
    printf('%d lines, and none of them is known', log.line_count) as statement,
    0.0 as observed,
    null::double as expected,
    'count' as unit,
    log.artifact_manifest_digest,
    log.raw_path
from run_log as log
inner join explained
    on
        explained.run_id = log.run_id
        and explained.role = 'run'
where not exists (select 1 from observed)
