/*
description: >
  One row per distributed run and rank: how its own work compares with that of the other ranks, and with its own earlier
  steps. All ranks of a synchronous job take as long for a step as the slowest one, so step times hide it; but a rank that
  is done early communicates longer. In a step, waiting is communication that no computing overlaps, beyond the least of all
  ranks, and own work is the rest of the step. A run without steps is scored by the whole of its traces. Steps of fewer
  than three ranks do not count.
grain: [run_id, rank]
columns:
  run_id: {tests: [not_null]}
  rank: {tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The rank's first trace", tests: [not_null]}
  node_name: {type: varchar, description: "The rank's node"}
  gpu_uuid: {type: varchar, description: "The rank's GPU"}
  rank_count: {type: bigint, description: "Ranks that are compared", tests: [not_null]}
  step_count: {type: bigint, description: "Steps of this rank that are compared", tests: [not_null]}
  step_time_s: {type: double, unit: s, description: "Time of a step of the job, mean: the longest of the ranks"}
  own_work_s: {type: double, unit: s, description: "Own work in a step, mean"}
  waiting_s: {type: double, unit: s, description: "Waiting for others in a step, mean"}
  own_work_ratio: {type: double, description: "Own work / median of the ranks in the same step, median over steps"}
  relative_score: {type: double, description: "Median of the ranks / this rank: below 1 it is slower"}
  own_history_score: {type: double, description: "Own work in its earlier half of steps / in its later half, medians: below 1 it became slower; NULL: fewer than 4 steps"}
  robust_z: {type: double, description: "(own_work_ratio - median of the ranks) / (1.4826 * their median absolute deviation, at least 0.001)"}
  threshold: {type: double, description: "From which robust_z a rank is slow (staging.rank_outlier_threshold)"}
  is_slow: {type: boolean, description: "Whether the rank is slow"}
  what_if_step_time_s: {type: double, unit: s, description: "Time of a step, mean, if this rank did its work in the median time"}
*/
with stated as (
    select
        step.run_id,
        step.rank,
        step.step,
        min(step.artifact_manifest_digest) as artifact_manifest_digest,
        min(step.raw_path) as raw_path,
        min(step.node_name) as node_name,
        min(step.gpu_uuid) as gpu_uuid,
        avg(step.step_time_s) as step_time_s,
        avg(step.communication_s - step.overlap_s) as exposed_s
    from rank_step_fact as step
    where
        step.rank is not null
        and step.step_time_s is not null
        and step.communication_s is not null
        and step.overlap_s is not null
    group by
        step.run_id,
        step.rank,
        step.step
),

with_steps as (
    select
        run_id,
        count(step) > 0 as has_steps
    from stated
    group by run_id
),

least as (
    select
        stated.run_id,
        stated.step,
        min(stated.exposed_s) as exposed_s
    from stated
    inner join with_steps
        on
            with_steps.run_id = stated.run_id
            and with_steps.has_steps = (stated.step is not null)
    group by
        stated.run_id,
        stated.step
    having count(*) >= 3
),

worked as (
    select
        stated.*,
        stated.exposed_s - least.exposed_s as waiting_s,
        stated.step_time_s - (stated.exposed_s - least.exposed_s) as own_work_s
    from stated
    inner join least
        on
            least.run_id = stated.run_id
            and least.step is not distinct from stated.step
),

of_step as (
    select
        run_id,
        step,
        max(step_time_s) as step_time_s,
        median(own_work_s) as median_s,
        max(own_work_s) as longest_s,
        list_sort(list(own_work_s), 'desc')[2] as next_s
    from worked
    group by
        run_id,
        step
),

of_run as (
    select
        run_id,
        median(step) as middle_step
    from of_step
    group by run_id
),

compared as (
    select
        worked.*,
        of_step.step_time_s as job_step_time_s,
        worked.own_work_s / nullif(of_step.median_s, 0) as ratio,
        of_step.step_time_s
        - if(worked.own_work_s = of_step.longest_s, of_step.longest_s - greatest(of_step.next_s, of_step.median_s), 0) as what_if_s,
        worked.step > of_run.middle_step as is_late
    from worked
    inner join of_step
        on
            of_step.run_id = worked.run_id
            and of_step.step is not distinct from worked.step
    inner join of_run
        on of_run.run_id = worked.run_id
),

of_rank as (
    select
        run_id,
        rank,
        min(artifact_manifest_digest) as artifact_manifest_digest,
        min(raw_path) as raw_path,
        min(node_name) as node_name,
        min(gpu_uuid) as gpu_uuid,
        count(*) as step_count,
        avg(job_step_time_s) as step_time_s,
        avg(own_work_s) as own_work_s,
        avg(waiting_s) as waiting_s,
        median(ratio) as own_work_ratio,
        if(count(step) >= 4, median(own_work_s) filter (where not is_late) / nullif(median(own_work_s) filter (where is_late), 0), null) as own_history_score,
        avg(what_if_s) as what_if_step_time_s
    from compared
    group by
        run_id,
        rank
),

center as (
    select
        run_id,
        count(*) as rank_count,
        median(own_work_ratio) as median_ratio
    from of_rank
    group by run_id
),

spread as (
    select
        of_rank.run_id,
        greatest(1.4826 * median(abs(of_rank.own_work_ratio - center.median_ratio)), 0.001) as scale
    from of_rank
    inner join center
        on center.run_id = of_rank.run_id
    group by of_rank.run_id
),

rule as (
    select
        center.run_id,
        arg_max(known.threshold, known.from_ranks) as threshold,
        arg_max(known.min_excess_pct, known.from_ranks) as min_excess_pct
    from center
    inner join rank_outlier_threshold as known
        on known.from_ranks <= center.rank_count
    group by center.run_id
)

select
    of_rank.run_id,
    of_rank.rank,
    of_rank.artifact_manifest_digest,
    of_rank.raw_path,
    of_rank.node_name,
    of_rank.gpu_uuid,
    center.rank_count,
    of_rank.step_count,
    of_rank.step_time_s,
    of_rank.own_work_s,
    of_rank.waiting_s,
    of_rank.own_work_ratio,
    1 / nullif(of_rank.own_work_ratio, 0) as relative_score,
    of_rank.own_history_score,
    (of_rank.own_work_ratio - center.median_ratio) / spread.scale as robust_z,
    rule.threshold,
    (of_rank.own_work_ratio - center.median_ratio) / spread.scale > rule.threshold
    and of_rank.own_work_ratio > center.median_ratio * (1 + rule.min_excess_pct / 100) as is_slow,
    of_rank.what_if_step_time_s
from of_rank
inner join center
    on center.run_id = of_rank.run_id
inner join spread
    on spread.run_id = of_rank.run_id
inner join rule
    on rule.run_id = of_rank.run_id
