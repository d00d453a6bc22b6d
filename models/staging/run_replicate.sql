/*
description: >
  One row per performance run that counts (admitted, without conflict, not failed): the session that it shares with other runs, and
  whether it repeats what another run measured or is that measurement filed twice. A day is one of UTC, but a
  morning's run belongs to the day before if the testbed's runs followed each other from then on, each within two hours of the last.
grain: [run_id]
columns:
  run_id: {tests: [not_null]}
  session: {type: varchar, description: "Scheduler job; else day (UTC) and testbed; else bundle", tests: [not_null]}
  copy_of: {type: varchar, description: "The first run, by its id, of the same case, workload, hardware, testbed and software whose own files have the same bytes or whose outcomes all have the same figures; NULL: none, this run is a measurement of its own"}
*/
with counted as (
    select run.*
    from benchmark_run_fact as run
    where
        run.mode = 'performance'
        and run.status in ('succeeded', 'unknown')
        and run.state = 'admitted'
        and not run.has_conflict
),

-- A chain is of runs that follow each other on a testbed, none more than two hours after the one before it.
followed as (
    select
        *,
        coalesce(
            started_at - lag(coalesce(ended_at, started_at)) over (partition by cluster_region_key order by started_at, run_id)
                <= interval 2 hours,
            false
        ) as is_in_chain
    from counted
    where
        job_uid is null
        and started_at is not null
),

chained as (
    select
        *,
        count(*) filter (not is_in_chain) over (partition by cluster_region_key order by started_at, run_id) as chain
    from followed
),

testbed_session as (
    select
        run_id,
        case
            when
                min(started_at) over (partition by cluster_region_key, chain) < date_trunc('day', started_at)
                and hour(started_at) < 12
                then started_at - interval 1 day
            else started_at
        end as day
    from chained
),

same_figures as (
    select
        outcome.run_id,
        max(same.same_figures_as) as same_figures_as
    from serving_outcome_fact as outcome
    left join serving_same_figures as same
        on
            same.run_id = outcome.run_id
            and same.workload_point is not distinct from outcome.workload_point
            and same.concurrency_point is not distinct from outcome.concurrency_point
            and same.request_rate_per_s is not distinct from outcome.request_rate_per_s
    group by outcome.run_id
    having
        count(*) = count(same.same_figures_as)
        and max(same.same_figures_as) = min(same.same_figures_as)
),

first_of_files as (
    select
        outcome_digest,
        benchmark_case_id,
        workload_spec_digest,
        hardware_topology_key,
        cluster_region_key,
        software_version_key,
        min(run_id) as first_run_id
    from counted
    where outcome_digest is not null
    group by all
)

select
    run.run_id,
    coalesce(
        'job ' || run.job_uid,
        'day ' || strftime(testbed_session.day, '%Y-%m-%d') || coalesce(' on ' || run.cluster_region_key, ''),
        'bundle ' || run.artifact_manifest_digest
    ) as session,
    coalesce(
        case when first_of_files.first_run_id <> run.run_id then first_of_files.first_run_id end,
        case when other.run_id < run.run_id then other.run_id end
    ) as copy_of
from counted as run
left join testbed_session
    on testbed_session.run_id = run.run_id
left join first_of_files
    on
        first_of_files.outcome_digest = run.outcome_digest
        and first_of_files.benchmark_case_id = run.benchmark_case_id
        and first_of_files.workload_spec_digest is not distinct from run.workload_spec_digest
        and first_of_files.hardware_topology_key is not distinct from run.hardware_topology_key
        and first_of_files.cluster_region_key is not distinct from run.cluster_region_key
        and first_of_files.software_version_key is not distinct from run.software_version_key
left join same_figures
    on same_figures.run_id = run.run_id
left join counted as other
    on
        other.run_id = same_figures.same_figures_as
        and other.benchmark_case_id = run.benchmark_case_id
        and other.workload_spec_digest is not distinct from run.workload_spec_digest
        and other.hardware_topology_key is not distinct from run.hardware_topology_key
        and other.cluster_region_key is not distinct from run.cluster_region_key
        and other.software_version_key is not distinct from run.software_version_key
