/*
description: Without the suspect node others are as fast as usual, and with it others are slow, too
playbook: distributed_straggler
evidence: runs with and without the suspect node (nccl-tests among other nodes, or runs of the baseline that name their nodes)
order: 6
part: network
*/
with suspect as (
    select
        peer.run_id,
        peer.test_index,
        peer.cluster,
        peer.node_count,
        peer.rank_count,
        run.workload_spec_digest,
        peer.peer_median_gb_per_s,
        run.artifact_manifest_digest,
        run.raw_folder,
        unnest(string_split(peer.nodes, ',')) as node_name
    from fabric_peer_comparison as peer
    inner join explained as run
        on
            run.run_id = peer.run_id
            and run.role = 'run'
    where
        peer.ratio_to_median < 0.8
        and peer.peer_count >= 3
),

fabric as (
    select
        suspect.node_name,
        suspect.peer_median_gb_per_s as usual,
        suspect.artifact_manifest_digest,
        suspect.raw_folder,
        median(other.avg_bus_bandwidth_gb_per_s) filter (where list_contains(string_split(other.nodes, ','), suspect.node_name)) as with_it,
        median(other.avg_bus_bandwidth_gb_per_s) filter (where not list_contains(string_split(other.nodes, ','), suspect.node_name)) as without_it,
        count(*) filter (where list_contains(string_split(other.nodes, ','), suspect.node_name)) as with_count,
        count(*) filter (where not list_contains(string_split(other.nodes, ','), suspect.node_name)) as without_count
    from suspect
    inner join benchmark_run_fact as run
        on run.workload_spec_digest = suspect.workload_spec_digest
    inner join fabric_peer_comparison as other
        on
            other.run_id = run.run_id
            and other.cluster is not distinct from suspect.cluster
            and other.node_count is not distinct from suspect.node_count
            and other.rank_count is not distinct from suspect.rank_count
            and (other.run_id <> suspect.run_id or other.test_index <> suspect.test_index)
    group by
        suspect.node_name,
        suspect.peer_median_gb_per_s,
        suspect.artifact_manifest_digest,
        suspect.raw_folder
),

slow_rank as (
    select
        score.node_name,
        any_value(score.step_time_s) as step_time_s,
        any_value(score.artifact_manifest_digest) as artifact_manifest_digest,
        any_value(score.raw_path) as raw_path
    from rank_score as score
    inner join explained
        on
            explained.run_id = score.run_id
            and explained.role = 'run'
    where
        score.is_slow
        and score.node_name is not null
    group by score.node_name
),

step_time as (
    select
        score.run_id,
        list(distinct score.node_name) as nodes,
        any_value(score.step_time_s) as step_time_s
    from rank_score as score
    inner join explained
        on
            explained.run_id = score.run_id
            and explained.role = 'baseline'
    group by score.run_id
    having count(score.node_name) = count(*)
),

training as (
    select
        slow_rank.node_name,
        slow_rank.step_time_s,
        slow_rank.artifact_manifest_digest,
        slow_rank.raw_path,
        median(step_time.step_time_s) filter (where list_contains(step_time.nodes, slow_rank.node_name)) as with_it,
        median(step_time.step_time_s) filter (where not list_contains(step_time.nodes, slow_rank.node_name)) as without_it,
        count(*) filter (where not list_contains(step_time.nodes, slow_rank.node_name)) as without_count
    from slow_rank
    cross join step_time
    group by
        slow_rank.node_name,
        slow_rank.step_time_s,
        slow_rank.artifact_manifest_digest,
        slow_rank.raw_path
)

select
    node_name as subject,
    case
        when without_it is null or with_it is null then null
        else with_it < 0.8 * usual and without_it > 0.9 * usual
    end as is_found,
    without_it / nullif(with_it, 0) as slowdown,
    least(0.3, 1 - with_it / nullif(without_it, 0)) as score,
    concat_ws(
        ', ', coalesce(printf('%d other tests with it reach %.2f GB/s', with_count, with_it), 'no other test with it'),
        coalesce(printf('%d without it %.2f GB/s', without_count, without_it), 'none without it')
    ) as statement,
    with_it as observed,
    without_it as expected,
    'GB/s' as unit,
    artifact_manifest_digest,
    raw_folder as raw_path
from fabric
union all
select
    node_name as subject,
    if(without_it is null, null, without_it < 0.95 * step_time_s and coalesce(with_it > 1.05 * without_it, true)) as is_found,
    step_time_s / nullif(without_it, 0) as slowdown,
    least(0.3, 1 - without_it / nullif(step_time_s, 0)) as score,
    printf('a step takes %.4g s here', step_time_s)
    || coalesce(printf(' and %.4g s in %d runs without the node', without_it, without_count), '; no run of the baseline is without the node') as statement,
    step_time_s as observed,
    without_it as expected,
    's' as unit,
    artifact_manifest_digest,
    raw_path
from training
