/*
description: >
  One row per run, series of telemetry and window: what the samples say, in the source's unit. A value holds until the
  next sample with one, unless that is a gap away. An increase of a counter counts in a window if both of its samples lie in it;
  if an edge of the window is between them, it is an increase at the edge. A counter that falls began anew: its value
  is the increase since then.
materialized: incremental
key: [artifact_manifest_digest]
grain: [run_id, artifact_manifest_digest, series_number, window_kind, window_name, window_start]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  series_number: {tests: [not_null]}
  window_kind: {type: varchar, description: "run, phase, step, load_point or interval", tests: [not_null]}
  window_name: {type: varchar, description: "Which one; NULL for the whole run"}
  window_start: {type: timestamptz, unit: UTC, description: "Start", tests: [not_null]}
  window_end: {type: timestamptz, unit: UTC, description: "End", tests: [not_null]}
  sample_count: {type: bigint, description: "Samples with a value in the window", tests: [not_null]}
  value_min: {type: double, description: "Least sample"}
  value_max: {type: double, description: "Greatest sample"}
  value_sample_mean: {type: double, description: "Mean of the samples"}
  value_mean: {type: double, description: "Mean over the covered time"}
  value_p50: {type: double, description: "Median of the samples of a gauge"}
  value_p95: {type: double, description: "95th percentile of the samples of a gauge, by linear interpolation"}
  value_last: {type: double, description: "Last sample"}
  value_delta: {type: double, description: "Sum of increases in the window; NULL: no two samples are in it"}
  value_edge_delta: {type: double, description: "Sum of increases between two samples with an edge of the window between them"}
  value_integral: {type: double, description: "Integral over the covered time by trapezoids, unit times seconds"}
  counter_reset_count: {type: bigint, description: "How often the value fell from one sample to the next"}
  covered_s: {type: double, unit: s, description: "Time in the window between samples that are no gap apart", tests: [not_null]}
  counted_s: {type: double, unit: s, description: "Time between the samples whose increase is in value_delta: what a rate is of", tests: [not_null]}
  largest_gap_s: {type: double, unit: s, description: "Longest time in the window without a value"}
*/
with joined as not materialized (
    select
        joined.run_id,
        joined.artifact_manifest_digest,
        joined.series_number,
        place.kind = 'gauge' as is_gauge,
        epoch_us(joined.run_start) as run_start,
        epoch_us(joined.run_end) as run_end,
        greatest(
            try_cast(policy.interval_s * 1e6 as bigint),
            (epoch_us(joined.run_end) - epoch_us(joined.run_start) + policy.max_intervals - 1) // policy.max_intervals
        ) as interval_us,
        coalesce(try_cast(place.sampling_interval_s * policy.max_gap_factor * 1e6 as bigint), 0) as max_gap_us
    from telemetry_run_series as joined
    inner join telemetry_place as place
        on
            place.artifact_manifest_digest = joined.artifact_manifest_digest
            and place.series_number = joined.series_number
            and place.metric is not null
    cross join telemetry_policy as policy
),

sampled as not materialized (
    select
        joined.*,
        epoch_us(sample.sampled_at) as sampled,
        epoch_us(coalesce(sample.previous_at, sample.sampled_at)) as previous,
        sample.value,
        sample.previous_value
    from joined
    inner join telemetry_sample as sample
        on
            sample.artifact_manifest_digest = joined.artifact_manifest_digest
            and sample.series_number = joined.series_number
    where
        epoch_us(sample.sampled_at) >= joined.run_start
        and epoch_us(coalesce(sample.previous_at, sample.sampled_at)) <= joined.run_end
),

numbered as not materialized (
    select
        *,
        greatest(0, (previous - run_start) // interval_us) as first_interval,
        least((run_end - run_start - 1) // interval_us, (sampled - run_start) // interval_us) as own_interval
    from sampled
),

-- A sample is in its own interval. The time since the one before it may be in earlier intervals, too.
in_interval as (
    select
        *,
        own_interval as interval_number
    from numbered
    union all
    select
        numbered.*,
        earlier.interval_number
    from numbered
    cross join unnest(range(numbered.first_interval, numbered.own_interval)) as earlier (interval_number)
    where numbered.first_interval < numbered.own_interval
),

in_window as (
    select
        run_id,
        artifact_manifest_digest,
        series_number,
        'interval' as window_kind,
        lpad((interval_number + 1)::varchar, 3, '0') as window_name,
        run_start + interval_number * interval_us as window_start,
        least(run_end, run_start + (interval_number + 1) * interval_us) as window_end,
        is_gauge,
        interval_number = own_interval as is_own,
        max_gap_us,
        sampled,
        previous,
        value,
        previous_value
    from in_interval
    union all
    select
        sampled.run_id,
        sampled.artifact_manifest_digest,
        sampled.series_number,
        win.window_kind,
        win.window_name,
        epoch_us(win.window_start) as window_start,
        epoch_us(win.window_end) as window_end,
        sampled.is_gauge,
        true as is_own,
        sampled.max_gap_us,
        sampled.sampled,
        sampled.previous,
        sampled.value,
        sampled.previous_value
    from sampled
    inner join telemetry_bundle_window as win
        on
            win.artifact_manifest_digest = sampled.artifact_manifest_digest
            and win.run_id = sampled.run_id
            and epoch_us(win.window_start) <= sampled.sampled
            and epoch_us(win.window_end) >= sampled.previous
),

measured as (
    select
        *,
        sampled between window_start and window_end and is_own as is_inside,
        least(sampled, window_end) - greatest(previous, window_start) as held,
        value is not null and sampled - previous <= max_gap_us as is_near,
        if(value < previous_value, value, value - previous_value) as increase,
        previous >= window_start and sampled <= window_end as is_whole
    from in_window
),

aggregated as (
    select
        run_id,
        artifact_manifest_digest,
        series_number,
        window_kind,
        window_name,
        window_start,
        window_end,
        count(value) filter (where is_inside) as sample_count,
        min(value) filter (where is_inside) as value_min,
        max(value) filter (where is_inside) as value_max,
        avg(value) filter (where is_inside) as value_sample_mean,
        sum(previous_value * held) filter (where is_near) / nullif(sum(held) filter (where is_near and previous_value is not null), 0) as value_mean,
        quantile_cont(value, [0.5, 0.95]) filter (where is_inside and is_gauge) as quantiles,  -- which holds all values in memory
        arg_max(value, sampled) filter (where is_inside) as value_last,
        sum(increase) filter (where is_whole and held > 0) as value_delta,
        sum(increase) filter (where not is_whole and held > 0) as value_edge_delta,
        sum((previous_value + value) / 2 * held) filter (where is_near) / 1e6 as value_integral,
        count(*) filter (where is_whole and value < previous_value) as counter_reset_count,
        coalesce(sum(held) filter (where is_near), 0) / 1e6 as covered_s,
        coalesce(sum(held) filter (where is_whole and held > 0 and value is not null and previous_value is not null), 0) / 1e6 as counted_s,
        greatest(
            max(held) filter (where value is not null),
            min(previous) filter (where value is not null) - window_start,
            window_end - max(sampled) filter (where value is not null)
        ) / 1e6 as largest_gap_s
    from measured
    group by
        run_id,
        artifact_manifest_digest,
        series_number,
        window_kind,
        window_name,
        window_start,
        window_end
)

select
    run_id,
    artifact_manifest_digest,
    series_number,
    window_kind,
    window_name,
    make_timestamptz(window_start) as window_start,
    make_timestamptz(window_end) as window_end,
    sample_count,
    value_min,
    value_max,
    value_sample_mean,
    value_mean,
    quantiles[1] as value_p50,
    quantiles[2] as value_p95,
    value_last,
    value_delta,
    value_edge_delta,
    value_integral,
    counter_reset_count,
    covered_s,
    counted_s,
    largest_gap_s
from aggregated
