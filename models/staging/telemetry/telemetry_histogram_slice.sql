/*
description: >
  One row per run, window and histogram, such as a server's request latencies: from the increases of its buckets, sum
  and count. The mean is exact. A percentile is interpolated within its bucket, so it is only as exact as the bucket is
  wide; it is NULL in the last bucket, which has no upper bound. Where a series of the histogram lacks samples that its
  count has, its increase is scaled to the time that the count covers, and no bucket counts less than the one below it.
grain: [run_id, artifact_manifest_digest, labels, source_metric, window_kind, window_name, window_start]
feeds: telemetry_slice
*/
with part as (
    select
        win.*,
        place.raw_path,
        place.source,
        place.source_metric,
        place.metric,
        place.unit,
        place.factor,
        place.component,
        place.bucket_at_most,
        place.group_labels,
        place.scope,
        place.scope_name,
        place.node_name,
        place.gpu_uuid,
        place.rank_id,
        place.sampling_interval_s,
        regexp_replace(place.source_metric, '_(bucket|sum|count)$', '') as histogram,
        joined.join_method,
        joined.join_confidence,
        joined.is_ambiguous,
        joined.clock
    from telemetry_window as win
    inner join telemetry_place as place
        on
            place.artifact_manifest_digest = win.artifact_manifest_digest
            and place.series_number = win.series_number
            and place.kind = 'histogram'
    inner join telemetry_run_series as joined
        on
            joined.run_id = win.run_id
            and joined.artifact_manifest_digest = win.artifact_manifest_digest
            and joined.series_number = win.series_number
),

-- Each series of a histogram over the same time as its count: a factor of 1 where both have the same samples.
scaled as (
    select
        *,
        max(value_delta) filter (where component = 'count') over histograms as observed,
        value_delta * (coalesce(max(counted_s) filter (where component = 'count') over histograms, counted_s) / nullif(counted_s, 0)) as increase
    from part
    window
        histograms as (partition by run_id, artifact_manifest_digest, histogram, group_labels, window_kind, window_name, window_start)
),

-- Each bucket with at least what the ones below it count.
counted_to as (
    select
        *,
        bucket_at_most * factor as at_most,
        max(increase) over buckets as counted
    from scaled
    window
        buckets as (
            partition by run_id, artifact_manifest_digest, histogram, group_labels, window_kind, window_name, window_start, bucket_at_most is null
            order by bucket_at_most
        )
),

-- Each bucket with the one below it.
bucket as (
    select
        *,
        lag(at_most, 1, 0.0) over buckets as more_than,
        coalesce(lag(counted) over buckets, 0.0) as below
    from counted_to
    window
        buckets as (
            partition by run_id, artifact_manifest_digest, histogram, group_labels, window_kind, window_name, window_start, bucket_at_most is null
            order by bucket_at_most
        )
),

-- How far into the bucket a share of the observations ends; NULL: in another one, or in the last one.
interpolated as (
    select
        bucket.*,
        if(0.5 * observed > below and 0.5 * observed <= counted, (0.5 * observed - below) / (counted - below), null) as part_p50,
        if(0.95 * observed > below and 0.95 * observed <= counted, (0.95 * observed - below) / (counted - below), null) as part_p95,
        if(component = 'bucket' and isfinite(at_most), at_most - more_than, null) as width
    from bucket
)

select
    run_id,
    artifact_manifest_digest,
    min(series_number) as series_number,
    min(raw_path) as raw_path,
    group_labels as labels,
    window_kind,
    window_name,
    window_start,
    window_end,
    scope,
    min(scope_name) as scope_name,
    min(node_name) as node_name,
    min(gpu_uuid) as gpu_uuid,
    min(rank_id) as rank_id,
    metric,
    unit,
    'histogram' as kind,
    histogram as source_metric,
    max(sample_count) as sample_count,
    max(increase * factor) filter (where component = 'sum') / nullif(max(observed), 0) as value_mean,
    max(more_than + width * part_p50) as value_p50,
    max(more_than + width * part_p95) as value_p95,
    max(observed) as value_delta,
    max(value_edge_delta) filter (where component = 'count') as value_edge_delta,
    max(counter_reset_count) as counter_reset_count,
    max(sampling_interval_s) as sampling_interval_s,
    max(largest_gap_s) as largest_gap_s,
    100 * min(covered_s) / (epoch(window_end) - epoch(window_start)) as coverage_pct,
    min(join_method) as join_method,
    min(join_confidence) as join_confidence,
    bool_or(is_ambiguous) as is_ambiguous,
    min(clock) as clock
from interpolated
group by
    run_id,
    artifact_manifest_digest,
    histogram,
    group_labels,
    window_kind,
    window_name,
    window_start,
    window_end,
    metric,
    unit,
    scope
