/*
description: >
  One row per recorded run: what slowed it down that is not its own. The host was full of other work where its CPUs were busy, processes other than
  the run's own took a tenth of them or more, and tasks had to wait for a CPU. A run that fills its host itself is not disturbed. The
  server on the host that the run talks to is its own; where its use is not known, a full host tells nothing. A run on several nodes is disturbed
  where one of them is.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  is_host_saturated: {type: boolean, description: "Whether the host was full of other work: its CPUs busy for 80 % of the run or more and tasks waiting for one for a tenth of it (busy for 90 %, where the kernel does not count waits), while processes other than the run's own, and those of its server, took a tenth of the CPUs; NULL: not known"}
  host_sampled_s: {type: double, unit: s, description: "How long its host was sampled; NULL: it was not"}
  is_throttled: {type: boolean, description: "Whether the cgroup's limit stopped the run in a tenth of the scheduling periods or more, heat or the power brake slowed one of its GPUs down for more than 1 % of the time, or a GPU counted memory errors that it could not correct; NULL: not known"}
*/
with load as (
    select
        run.*,
        host.value_mean / 100 as busy_share,
        host.value_mean / 100
        - ((run.user_cpu_s + run.system_cpu_s) / nullif(run.wall_s, 0) + coalesce(run.server_cpu_cores, 0)) / nullif(run.logical_cores, 0) >= 0.1 as has_others,
        run.cpu_pressure_s / nullif(run.node_sampled_s, 0) as waiting_share
    from recorded_node as run
    left join recorded_host_slice as host
        on
            host.run_id = run.run_id
            and host.artifact_manifest_digest = run.artifact_manifest_digest
            and host.metric = 'cpu_util_pct'
),

of_node as (
    select
        run_id,
        artifact_manifest_digest,
        is_part,
        case
            when if(waiting_share is null, busy_share >= 0.9, busy_share >= 0.8 and waiting_share >= 0.1) and has_others
                then if(is_server_on_host and server_cpu_cores is null, null, true)
            else if(busy_share is null or has_others is null, null, false)
        end as is_host_saturated,
        host_sampled_s,
        case
            when
                cgroup_throttled_periods >= 0.1 * cgroup_cpu_periods and cgroup_throttled_periods > 0
                or gpu_slowdown_s > 0.01 * gpu_sampled_s
                or gpu_error_count > 0
                then true
            when coalesce(cgroup_throttled_periods, gpu_slowdown_s, gpu_error_count) is not null then false
        end as is_throttled
    from load
)

select
    run_id,
    artifact_manifest_digest,
    is_host_saturated,
    host_sampled_s,
    is_throttled
from of_node
where not is_part
union all
select
    run.run_id,
    run.artifact_manifest_digest,
    case when bool_or(node.is_host_saturated) then true when count(node.is_host_saturated) = count(*) then false end as is_host_saturated,
    min(node.host_sampled_s) as host_sampled_s,
    case when bool_or(node.is_throttled) then true when count(node.is_throttled) = count(*) then false end as is_throttled
from of_node as node
inner join recorded_run as run
    on run.run_id = node.run_id
where node.is_part
group by
    run.run_id,
    run.artifact_manifest_digest
