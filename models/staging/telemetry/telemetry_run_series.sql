/*
description: >
  One row per run and series of telemetry that belongs to it, with the reason. The strongest of these joins counts: the
  evidence states the run; the GPU, the pod or the job is the run's; the node is the run's, by its own evidence or by its
  scheduler; the file lay beside the run's results. All but the first need samples within the run's time. If the place had several runs at once, the series cannot be assigned to one of them and is
  ambiguous for each of them. So is a node's series while a scheduler had several jobs on the node; for a series of a GPU, several jobs with
  GPUs.
grain: [run_id, artifact_manifest_digest, series_number]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle of the series", tests: [not_null]}
  series_number: {tests: [not_null]}
  join_method: {type: varchar, description: "How the series was joined to the run", tests: [not_null, {accepted_values: [run_id, gpu_uuid, pod_uid, job_uid, node, allocation, short_node_name, beside]}]}
  join_confidence: {type: varchar, description: "stated: the evidence names the run. unique: a name that no other place has, and time. place: a node's name or a folder, and time", tests: [not_null, {accepted_values: [stated, unique, place]}]}
  is_ambiguous: {type: boolean, description: "Whether another run, or a job of the scheduler, was at the same place at the same time", tests: [not_null]}
  clock: {type: varchar, description: "What the join assumes of the clocks, if anything"}
  run_start: {type: timestamptz, unit: UTC, description: "Start of the run", tests: [not_null]}
  run_end: {type: timestamptz, unit: UTC, description: "End of the run", tests: [not_null]}
*/
with run_time as (
    select
        run_id,
        window_start as run_start,
        window_end as run_end,
        coalesce(is_zone_assumed, false) as is_zone_assumed
    from run_window
    where window_kind = 'run'
),

stated as (
    select
        place.artifact_manifest_digest,
        place.series_number,
        place.clock,
        run_time.*,
        'run_id' as join_method,
        1 as strength
    from telemetry_place as place
    inner join run_time
        on run_time.run_id = place.run_id
),

placed as (
    select
        run_time.*,
        stated_at.node_name,
        stated_at.gpu_uuid,
        stated_at.pod_uid,
        stated_at.job_uid,
        stated_at.stated_by
    from run_node as stated_at
    inner join run_time
        on run_time.run_id = stated_at.run_id
),

timed as (
    select *
    from telemetry_place
    where
        run_id is null
        and metric is not null
        and first_at is not null
),

of_gpu as (
    select
        timed.artifact_manifest_digest,
        timed.series_number,
        timed.clock,
        placed.run_id,
        placed.run_start,
        placed.run_end,
        placed.is_zone_assumed,
        'gpu_uuid' as join_method,
        2 as strength
    from timed
    inner join placed
        on
            placed.gpu_uuid = timed.gpu_uuid
            and placed.run_start < timed.last_at
            and placed.run_end > timed.first_at
),

of_pod as (
    select
        timed.artifact_manifest_digest,
        timed.series_number,
        timed.clock,
        placed.run_id,
        placed.run_start,
        placed.run_end,
        placed.is_zone_assumed,
        if(placed.pod_uid = timed.pod_uid, 'pod_uid', 'job_uid') as join_method,
        3 as strength
    from timed
    inner join placed
        on
            (placed.pod_uid = timed.pod_uid or placed.job_uid = timed.job_uid)
            and placed.run_start < timed.last_at
            and placed.run_end > timed.first_at
),

-- A run that names its GPUs has only those of a node.
of_node as (
    select
        timed.artifact_manifest_digest,
        timed.series_number,
        timed.clock,
        placed.run_id,
        placed.run_start,
        placed.run_end,
        placed.is_zone_assumed,
        case
            when lower(placed.node_name) <> lower(timed.node_name) then 'short_node_name'
            when placed.stated_by is not null then placed.stated_by
            else 'node'
        end as join_method,
        case
            when lower(placed.node_name) <> lower(timed.node_name) then 6
            when placed.stated_by is not null then 5
            else 4
        end as strength
    from timed
    inner join placed
        on
            lower(split_part(placed.node_name, '.', 1)) = lower(split_part(timed.node_name, '.', 1))
            and placed.run_start < timed.last_at
            and placed.run_end > timed.first_at
            and (placed.gpu_uuid is null or timed.gpu_uuid is null)
    where
        lower(placed.node_name) = lower(timed.node_name)
        or not contains(placed.node_name, '.')
        or not contains(timed.node_name, '.')
),

of_folder as (
    select
        timed.artifact_manifest_digest,
        timed.series_number,
        timed.clock,
        run_time.*,
        'beside' as join_method,
        7 as strength
    from timed
    inner join telemetry_beside as beside
        on beside.artifact_manifest_digest = timed.artifact_manifest_digest
    inner join run_time
        on
            run_time.run_id = beside.run_id
            and run_time.run_start < timed.last_at
            and run_time.run_end > timed.first_at
),

joined as (
    select * from stated
    union all
    select * from of_gpu
    union all
    select * from of_pod
    union all
    select * from of_node
    union all
    select * from of_folder
),

strongest as (
    select
        run_id,
        artifact_manifest_digest,
        series_number,
        arg_min(join_method, strength) as join_method,
        min(strength) as strength,
        any_value(clock) as clock,
        any_value(is_zone_assumed) as is_zone_assumed,
        any_value(run_start) as run_start,
        any_value(run_end) as run_end
    from joined
    group by
        run_id,
        artifact_manifest_digest,
        series_number
),

-- Jobs that the schedulers had on a node of the run while it ran. One whose end is not known had not ended.
crowded as (
    select
        at_node.run_id,
        at_node.node_name,
        count(distinct concat_ws(' ', job.scheduler, job.cluster, job.scheduler_run_id)) as jobs,
        count(distinct concat_ws(' ', job.scheduler, job.cluster, job.scheduler_run_id)) filter (where job.gpu_count > 0) as gpu_jobs
    from (
        select distinct
            run_id,
            run_start,
            run_end,
            lower(split_part(node_name, '.', 1)) as node_name
        from placed
    ) as at_node
    inner join scheduler_allocation as allocation
        on
            lower(split_part(allocation.node_name, '.', 1)) = at_node.node_name
            and allocation.started_at < at_node.run_end
            and coalesce(allocation.ended_at > at_node.run_start, true)
    inner join scheduler_job_fact as job
        on
            job.scheduler = allocation.scheduler
            and job.cluster is not distinct from allocation.cluster
            and job.scheduler_run_id = allocation.scheduler_run_id
    group by
        at_node.run_id,
        at_node.node_name
),

-- Two runs on one series at once, neither of them stated; or several jobs on the node of a series.
shared as (
    select
        one.run_id,
        one.artifact_manifest_digest,
        one.series_number
    from strongest as one
    inner join strongest as other
        on
            other.artifact_manifest_digest = one.artifact_manifest_digest
            and other.series_number = one.series_number
            and other.run_id <> one.run_id
            and other.run_start < one.run_end
            and other.run_end > one.run_start
    where one.strength > 1
    union
    select
        strongest.run_id,
        strongest.artifact_manifest_digest,
        strongest.series_number
    from strongest
    inner join telemetry_place as place
        on
            place.artifact_manifest_digest = strongest.artifact_manifest_digest
            and place.series_number = strongest.series_number
    inner join crowded
        on
            crowded.run_id = strongest.run_id
            and crowded.node_name = lower(split_part(place.node_name, '.', 1))
    where
        strongest.strength > 3
        and if(place.scope in ('gpu', 'link') and crowded.gpu_jobs > 0, crowded.gpu_jobs, crowded.jobs) > 1
)

select
    strongest.run_id,
    strongest.artifact_manifest_digest,
    strongest.series_number,
    strongest.join_method,
    case
        when strongest.strength = 1 then 'stated'
        when strongest.strength < 4 then 'unique'
        else 'place'
    end as join_confidence,
    shared.run_id is not null as is_ambiguous,
    nullif(concat_ws(
        '; ', if(strongest.is_zone_assumed, 'zone of the run assumed', null),
        if(strongest.clock <> 'stated', 'times of samples: ' || strongest.clock, null)
    ), '') as clock,
    strongest.run_start,
    strongest.run_end
from strongest
left join shared
    on
        shared.run_id = strongest.run_id
        and shared.artifact_manifest_digest = strongest.artifact_manifest_digest
        and shared.series_number = strongest.series_number
