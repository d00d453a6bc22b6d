/*
description: A rank of the run does more work of its own than the others, or a collective among its nodes is far slower than among others
playbook: distributed_straggler
evidence: profiler traces of all ranks (Kineto), or nccl-tests among the same number of nodes
is_symptom: true
*/
select
    'rank ' || score.rank as subject,
    score.is_slow as is_found,
    score.own_work_ratio - 1 as score,
    printf('own work is %.3f times that of the median of %d ranks, robust z %.1f', score.own_work_ratio, score.rank_count, score.robust_z) as statement,
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
    1 - peer.ratio_to_median as score,
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
