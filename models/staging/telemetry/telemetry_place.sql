/*
description: >
  One row per series of telemetry: its canonical metric and unit, what it is about, and when it was sampled. Node, GPU,
  pod and the like are read from the labels under the names that exporters use. A series without a canonical metric has
  its source's name only, and is in no slice.
materialized: incremental
key: [artifact_manifest_digest]
grain: [artifact_manifest_digest, series_number]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  series_number: {type: bigint, description: "The series in its bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file that first states the series", tests: [not_null]}
  source: {type: varchar, description: "Whose metric names these are", tests: [not_null]}
  source_metric: {type: varchar, description: "The source's name", tests: [not_null]}
  labels: {type: varchar, description: "All labels, a JSON object", tests: [not_null]}
  metric: {type: varchar, description: "Canonical name; NULL: it has none, or its unit is not known"}
  unit: {type: varchar, description: "Canonical unit"}
  factor: {type: double, description: "Canonical value / sampled value"}
  kind: {type: varchar, description: "gauge, counter, histogram or state"}
  component: {type: varchar, description: "Which part of a histogram: bucket, sum or count"}
  bucket_at_most: {type: double, description: "Upper bound of the histogram's bucket, in the source's unit"}
  group_labels: {type: varchar, description: "The labels without the bucket's bound: the same for all series of a histogram"}
  scope: {type: varchar, description: "What it is about"}
  scope_name: {type: varchar, description: "Which one"}
  run_id: {type: varchar, description: "The run that the evidence or a label states"}
  node_name: {type: varchar, description: "The node"}
  gpu_uuid: {type: varchar, description: "The GPU"}
  pod_uid: {type: varchar, description: "The pod"}
  job_uid: {type: varchar, description: "The scheduler's job"}
  rank_id: {type: bigint, description: "The rank of a distributed job"}
  clock: {type: varchar, description: "Where the times are from: stated, zone assumed, file name"}
  sample_count: {type: bigint, description: "Samples with a time and a value", tests: [not_null]}
  first_at: {type: timestamptz, unit: UTC, description: "The first sample"}
  last_at: {type: timestamptz, unit: UTC, description: "The last sample"}
  sampling_interval_s: {type: double, unit: s, description: "Median distance of samples with a value that follow one another"}
*/
with sampled as (
    select
        artifact_manifest_digest,
        series_number,
        count(value) as sample_count,
        min(sampled_at) as first_at,
        max(sampled_at) as last_at,
        median(epoch_us(sampled_at) - epoch_us(previous_at)) filter (where value is not null) / 1e6 as sampling_interval_s
    from telemetry_sample
    where sampled_at is not null
    group by
        artifact_manifest_digest,
        series_number
),

labelled as (
    select
        series.artifact_manifest_digest,
        series.series_number,
        series.raw_path,
        series.source,
        series.metric as source_metric,
        series.labels,
        series.unit as stated_unit,
        series.clock,
        series.target,
        if(ends_with(series.metric, '_bucket') or ends_with(series.metric, '_sum') or ends_with(series.metric, '_count'), regexp_extract(series.metric, '_(bucket|sum|count)$', 1), null) as component,
        try_cast(series.labels ->> '$.le' as double) as bucket_at_most,
        coalesce(series.run_id, series.labels ->> '$.run_id', series.labels ->> '$.benchmark_run_id') as run_id,
        -- What discovery says of the target comes first: Hostname is the exporter's own, in Kubernetes the name of its pod. A node that is a
        -- number is a NUMA node. A scrape without such labels is of the host that its file is named for.
        coalesce(
            if(regexp_matches(series.labels ->> '$.node', '^[0-9]{1,3}$'), null, nullif(series.labels ->> '$.node', '')),
            nullif(series.labels ->> '$.node_name', ''), nullif(series.labels ->> '$.kubernetes_node', ''), nullif(series.labels ->> '$.nodename', ''),
            if(lower(series.labels ->> '$.Hostname') like '%exporter%', null, nullif(series.labels ->> '$.Hostname', '')),
            if(lower(series.labels ->> '$.hostname') like '%exporter%', null, nullif(series.labels ->> '$.hostname', '')),
            nullif(regexp_replace(series.labels ->> '$.instance', ':[0-9]+$', ''), ''),
            nullif(regexp_extract(
                regexp_replace(
                    regexp_replace(series.target, '[.](?:prom|txt|metrics|om|log)$', ''),
                    '(?:^|[-_.])(?:dcgm|vllm|kube|node[-_]exporter|exporter|metrics|prometheus|prom|scrape|telemetry)\b', '', 'gi'
                ),
                '^[-_.]*((?:[A-Za-z0-9]+[-.])*[A-Za-z]+[A-Za-z-]*[0-9][A-Za-z0-9.-]*?)[-_.]*$', 1
            ), '')
        ) as node_name,
        nullif(coalesce(series.labels ->> '$.UUID', series.labels ->> '$.gpu_uuid', series.labels ->> '$.uuid'), '') as gpu_uuid,
        nullif(coalesce(series.labels ->> '$.gpu', series.labels ->> '$.gpu_index'), '') as gpu_index,
        nullif(coalesce(series.labels ->> '$.GPU_I_ID', ''), '') as gpu_instance,
        nullif(coalesce(series.labels ->> '$.nvlink', series.labels ->> '$.link', series.labels ->> '$.device', series.labels ->> '$.target'), '') as part_name,
        nullif(coalesce(series.labels ->> '$.pod_uid', series.labels ->> '$.uid'), '') as pod_uid,
        nullif(coalesce(series.labels ->> '$.pod', series.labels ->> '$.pod_name'), '') as pod_name,
        nullif(coalesce(series.labels ->> '$.job_uid', series.labels ->> '$.job_id', series.labels ->> '$.slurm_job_id', series.labels ->> '$.jobid'), '') as job_uid,
        try_cast(series.labels ->> '$.rank' as bigint) as rank_id,
        coalesce(series.labels ->> '$.cluster_queue', series.labels ->> '$.queue') as queue_name,
        nullif(coalesce(series.labels ->> '$.instance', series.target), '') as endpoint
    from telemetry_series as series
),

mapped as (
    select
        labelled.*,
        known.metric,
        known.unit,
        conversion.factor,
        known.kind,
        known.scope
    from labelled
    left join telemetry_metric as known
        on
            known.source = labelled.source
            and known.source_metric = case
                when known.kind = 'histogram' then regexp_replace(labelled.source_metric, '_(bucket|sum|count)$', '')
                else labelled.source_metric
            end
    left join telemetry_unit as conversion
        on
            conversion.unit = known.unit
            and conversion.source_unit = coalesce(known.source_unit, lower(labelled.stated_unit))
)

select
    mapped.artifact_manifest_digest,
    mapped.series_number,
    mapped.raw_path,
    mapped.source,
    mapped.source_metric,
    mapped.labels,
    if(mapped.factor is null, null, mapped.metric) as metric,
    if(mapped.factor is null, null, mapped.unit) as unit,
    if(mapped.component = 'count' and mapped.kind = 'histogram', 1, mapped.factor) as factor,
    mapped.kind,
    if(mapped.kind = 'histogram', mapped.component, null) as component,
    if(mapped.kind = 'histogram', mapped.bucket_at_most, null) as bucket_at_most,
    if(mapped.kind = 'histogram', json_merge_patch(mapped.labels, '{"le": null}')::varchar, mapped.labels) as group_labels,
    case
        when mapped.scope = 'gpu' and mapped.source_metric like '%NVLINK%' and mapped.part_name is not null then 'link'
        else mapped.scope
    end as scope,
    case mapped.scope
        when 'gpu' then concat_ws(
            ' ', coalesce(mapped.gpu_uuid, concat_ws(' gpu ', mapped.node_name, mapped.gpu_index)), 'instance ' || mapped.gpu_instance,
            if(mapped.source_metric like '%NVLINK%', 'link ' || mapped.part_name, null)
        )
        when 'server' then concat_ws(' ', coalesce(mapped.pod_name, mapped.endpoint), mapped.labels ->> '$.engine')
        when 'pod' then mapped.pod_name
        when 'queue' then mapped.queue_name
        when 'rank' then mapped.rank_id::varchar
        when 'process' then concat_ws(
            ' ', coalesce(mapped.labels ->> '$.command', mapped.labels ->> '$.process_name'), 'group ' || (mapped.labels ->> '$.process_group'),
            'pid ' || (mapped.labels ->> '$.pid')
        )
        else concat_ws(' ', mapped.node_name, mapped.part_name)
    end as scope_name,
    mapped.run_id,
    mapped.node_name,
    mapped.gpu_uuid,
    mapped.pod_uid,
    mapped.job_uid,
    mapped.rank_id,
    mapped.clock,
    coalesce(sampled.sample_count, 0) as sample_count,
    sampled.first_at,
    sampled.last_at,
    sampled.sampling_interval_s
from mapped
left join sampled
    on
        sampled.artifact_manifest_digest = mapped.artifact_manifest_digest
        and sampled.series_number = mapped.series_number
