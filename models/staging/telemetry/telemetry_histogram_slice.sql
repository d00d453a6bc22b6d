/*
description: >
  One row per run, window and histogram, such as a server's request latencies: from the increases of its buckets, sum
  and count. The mean is exact. A percentile is interpolated within its bucket, so it is only as exact as the bucket is
  wide; it is NULL in the last bucket, which has no upper bound.
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

total as (
    select
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
        scope,
        min(scope_name) as scope_name,
        min(node_name) as node_name,
        min(gpu_uuid) as gpu_uuid,
        min(rank_id) as rank_id,
        min(series_number) as series_number,
        min(raw_path) as raw_path,
        max(value_delta) filter (where component = 'count') as delta_count,
        max(value_delta * factor) filter (where component = 'sum') as delta_sum,
        max(value_edge_delta) filter (where component = 'count') as edge_count,
        max(counter_reset_count) as counter_reset_count,
        max(sample_count) as sample_count,
        max(sampling_interval_s) as sampling_interval_s,
        max(largest_gap_s) as largest_gap_s,
        min(covered_s) as covered_s,
        min(join_method) as join_method,
        min(join_confidence) as join_confidence,
        bool_or(is_ambiguous) as is_ambiguous,
        min(clock) as clock
    from part
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
),

bucket as (
    select
        run_id,
        artifact_manifest_digest,
        histogram,
        group_labels,
        window_kind,
        window_name,
        window_start,
        bucket_at_most * factor as at_most,
        value_delta as cumulative,
        lag(bucket_at_most * factor, 1, 0.0) over buckets as more_than,
        lag(value_delta, 1, 0.0) over buckets as below
    from part
    where
        component = 'bucket'
        and bucket_at_most is not null
    window buckets as (
        partition by run_id, artifact_manifest_digest, histogram, group_labels, window_kind, window_name, window_start
        order by bucket_at_most
    )
),

quantile as (
    select
        bucket.run_id,
        bucket.artifact_manifest_digest,
        bucket.histogram,
        bucket.group_labels,
        bucket.window_kind,
        bucket.window_name,
        bucket.window_start,
        max(interpolated) filter (where share = 0.5) as value_p50,
        max(interpolated) filter (where share = 0.95) as value_p95
    from (
        select
            bucket.*,
            asked.share,
            if(
                isfinite(bucket.at_most),
                bucket.more_than + (bucket.at_most - bucket.more_than) * (asked.share * total.delta_count - bucket.below) / (bucket.cumulative - bucket.below),
                null
            ) as interpolated
        from bucket
        inner join total
            on
                total.run_id = bucket.run_id
                and total.artifact_manifest_digest = bucket.artifact_manifest_digest
                and total.histogram = bucket.histogram
                and total.group_labels = bucket.group_labels
                and total.window_kind = bucket.window_kind
                and total.window_name is not distinct from bucket.window_name
                and total.window_start = bucket.window_start
        cross join (values (0.5::double), (0.95::double)) as asked (share)
        where
            total.delta_count > 0
            and bucket.below < asked.share * total.delta_count
            and bucket.cumulative >= asked.share * total.delta_count
    ) as bucket
    group by
        bucket.run_id,
        bucket.artifact_manifest_digest,
        bucket.histogram,
        bucket.group_labels,
        bucket.window_kind,
        bucket.window_name,
        bucket.window_start
)

select
    total.run_id,
    total.artifact_manifest_digest,
    total.series_number,
    total.raw_path,
    total.group_labels as labels,
    total.window_kind,
    total.window_name,
    total.window_start,
    total.window_end,
    total.scope,
    total.scope_name,
    total.node_name,
    total.gpu_uuid,
    total.rank_id,
    total.metric,
    total.unit,
    'histogram' as kind,
    total.histogram as source_metric,
    total.sample_count,
    total.delta_sum / nullif(total.delta_count, 0) as value_mean,
    quantile.value_p50,
    quantile.value_p95,
    total.delta_count as value_delta,
    total.edge_count as value_edge_delta,
    total.counter_reset_count,
    total.sampling_interval_s,
    total.largest_gap_s,
    100 * total.covered_s / (epoch(total.window_end) - epoch(total.window_start)) as coverage_pct,
    total.join_method,
    total.join_confidence,
    total.is_ambiguous,
    total.clock
from total
left join quantile
    on
        quantile.run_id = total.run_id
        and quantile.artifact_manifest_digest = total.artifact_manifest_digest
        and quantile.histogram = total.histogram
        and quantile.group_labels = total.group_labels
        and quantile.window_kind = total.window_kind
        and quantile.window_name is not distinct from total.window_name
        and quantile.window_start = total.window_start
