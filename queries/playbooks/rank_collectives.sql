/*
description: One rank, or one pair of nodes or devices, is slower than its peers; look for the cause there
playbook: distributed_straggler
evidence: profiler traces of all ranks (Kineto), or fabric checks (nccl-tests, nvbandwidth, perftest)
order: 7
part: network
*/
with pair as (
    select
        outcome.test,
        outcome.scope_name,
        outcome.message_bytes,
        outcome.bandwidth_gb_per_s,
        outcome.latency_mean_us,
        explained.artifact_manifest_digest,
        explained.raw_folder
    from fabric_outcome_fact as outcome
    inner join explained
        on
            explained.run_id = outcome.run_id
            and explained.role = 'run'
    where outcome.scope = 'pair'
),

-- Pairs of one test that measure alike: a size, a kind of end on each side.
peers as (
    select
        test,
        message_bytes,
        regexp_replace(scope_name, '\d+', '', 'g') as kind,
        count(*) as pair_count,
        median(bandwidth_gb_per_s) as bandwidth_gb_per_s,
        median(latency_mean_us) as latency_mean_us
    from pair
    group by
        test,
        message_bytes,
        kind
    having count(*) >= 3
),

-- That something is slow explains less than why it is: half of what it costs.
found as (
    select
        concat_ws(' ', 'rank ' || score.rank, 'on ' || score.node_name) as subject,
        score.is_slow as is_found,
        score.step_time_s / nullif(score.what_if_step_time_s, 0) as slowdown,
        (1 - score.what_if_step_time_s / nullif(score.step_time_s, 0)) / 2 as score,
        printf(
            'own work is %.3f times the median, robust z %.1f (threshold %.1f); it waits %.4g s a step; a step would take %.4g s, not %.4g s, with it at the median%s',
            score.own_work_ratio, score.robust_z, score.threshold, score.waiting_s, score.what_if_step_time_s, score.step_time_s,
            if(score.own_history_score < 0.95, '; its later steps are slower than its earlier ones', '')
        ) as statement,
        score.own_work_s as observed,
        score.own_work_s * score.relative_score as expected,
        's' as unit,
        score.artifact_manifest_digest,
        score.raw_path
    from rank_score as score
    inner join explained
        on
            explained.run_id = score.run_id
            and explained.role = 'run'
    union all
    select
        concat_ws(' among ', coalesce(peer.test, 'test ' || peer.test_index), peer.nodes) as subject,
        peer.ratio_to_median < 0.8 as is_found,
        1 / nullif(peer.ratio_to_median, 0) as slowdown,
        (1 - peer.ratio_to_median) / 2 as score,
        printf('%.2f GB/s, the median of %d tests is %.2f GB/s', peer.avg_bus_bandwidth_gb_per_s, peer.peer_count, peer.peer_median_gb_per_s) as statement,
        peer.avg_bus_bandwidth_gb_per_s as observed,
        peer.peer_median_gb_per_s as expected,
        'GB/s' as unit,
        explained.artifact_manifest_digest,
        explained.raw_folder as raw_path
    from fabric_peer_comparison as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'run'
    where
        peer.peer_count >= 3
        and peer.ratio_to_median is not null
    union all
    select
        concat_ws(' ', pair.test, pair.scope_name) as subject,
        pair.bandwidth_gb_per_s < 0.8 * peers.bandwidth_gb_per_s as is_found,
        peers.bandwidth_gb_per_s / nullif(pair.bandwidth_gb_per_s, 0) as slowdown,
        (1 - pair.bandwidth_gb_per_s / peers.bandwidth_gb_per_s) / 2 as score,
        printf('%.2f GB/s, the median of %d pairs is %.2f GB/s', pair.bandwidth_gb_per_s, peers.pair_count, peers.bandwidth_gb_per_s) as statement,
        pair.bandwidth_gb_per_s as observed,
        peers.bandwidth_gb_per_s as expected,
        'GB/s' as unit,
        pair.artifact_manifest_digest,
        pair.raw_folder as raw_path
    from pair
    inner join peers
        on
            peers.test is not distinct from pair.test
            and peers.message_bytes is not distinct from pair.message_bytes
            and peers.kind = regexp_replace(pair.scope_name, '\d+', '', 'g')
    where
        pair.bandwidth_gb_per_s is not null
        and peers.bandwidth_gb_per_s > 0
    union all
    select
        concat_ws(' ', pair.test, pair.scope_name) as subject,
        pair.latency_mean_us > 1.5 * peers.latency_mean_us as is_found,
        pair.latency_mean_us / nullif(peers.latency_mean_us, 0) as slowdown,
        (1 - peers.latency_mean_us / pair.latency_mean_us) / 2 as score,
        printf('%.2f us, the median of %d pairs is %.2f us', pair.latency_mean_us, peers.pair_count, peers.latency_mean_us) as statement,
        pair.latency_mean_us as observed,
        peers.latency_mean_us as expected,
        'us' as unit,
        pair.artifact_manifest_digest,
        pair.raw_folder as raw_path
    from pair
    inner join peers
        on
            peers.test is not distinct from pair.test
            and peers.message_bytes is not distinct from pair.message_bytes
            and peers.kind = regexp_replace(pair.scope_name, '\d+', '', 'g')
    where
        pair.latency_mean_us > 0
        and peers.latency_mean_us is not null
)

select * from found
