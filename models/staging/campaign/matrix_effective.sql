/*
description: >
  One row per run of a campaign of wh matrix and factor: the value that was asked for, and the value that the run had by its recording. A package's
  version is that of the Python that ran the command, and PyTorch's backend is the local part of its version; an option's value is the one that a
  server or an engine said it uses, where it said so, else what the command line has. A recording does not say the package index.
grain: [run_id, artifact_manifest_digest, factor]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The run's evidence bundle", tests: [not_null]}
  factor: {type: varchar, description: "The factor", tests: [not_null]}
  requested: {type: varchar, description: "The value that the cell asks for"}
  effective: {type: varchar, description: "The value that the run had; NULL: its recording does not say"}
  is_as_requested: {type: boolean, description: "Whether both are the same; NULL: the recording does not say"}
*/
with first as (
    select *
    from matrix_campaign
    qualify row_number() over (partition by campaign_id order by artifact_manifest_digest) = 1
),

campaign as (
    select
        campaign_id,
        unnest(from_json(
            case when json_valid(spec) then json_extract(spec, '$.factors') end, '[{"name":"VARCHAR","kind":"VARCHAR","target":"VARCHAR"}]'
        )) as factor
    from first
),

asked as (
    select
        slot.run_id,
        slot.artifact_manifest_digest,
        campaign.factor.name as factor,
        campaign.factor.kind as kind,
        campaign.factor.target as target,
        map_extract(slot.factors::json::map(varchar, varchar), campaign.factor.name)[1] as requested
    from recorded_slot as slot
    inner join campaign
        on campaign.campaign_id = slot.campaign
    where campaign.factor.name is not null
),

installed as (
    select
        run_id,
        artifact_manifest_digest,
        regexp_replace(component, '[-_.]+', '-', 'g') as package,
        min(version) as version
    from recorded_package_component
    group by all
),

-- A server's own word: one value of an option, or none where it has two.
used as (
    select
        run_id,
        artifact_manifest_digest,
        lower(replace(name, '-', '_')) as option,
        min(value) as value
    from recorded_setting_stated
    where is_effective
    group by all
    having count(distinct value) = 1
),

found as (
    select
        asked.*,
        case asked.kind
            when 'package' then installed.version
            when 'python' then regexp_extract(run.python_version, '^[0-9.]+')
            when 'driver' then run.gpu_driver_version
            when 'environment' then map_extract(run.environment_settings::json::map(varchar, varchar), asked.target)[1]
            when 'torch_backend' then nullif(split_part(installed.version, '+', 2), '')
            when 'command' then case when starts_with(array_to_string(from_json(run.command, '["VARCHAR"]'), ' '), asked.requested) then asked.requested end
            when 'image' then case when contains(run.command, asked.requested) then asked.requested end
            when 'argument' then
                coalesce(used.value, case when list_contains(from_json(run.command, '["VARCHAR"]'), replace(asked.target, '{}', asked.requested)) then asked.requested end)
        end as effective
    from asked
    inner join recorded_run as run
        on
            run.run_id = asked.run_id
            and run.artifact_manifest_digest = asked.artifact_manifest_digest
    left join installed
        on
            installed.run_id = asked.run_id
            and installed.artifact_manifest_digest = asked.artifact_manifest_digest
            and installed.package = case asked.kind
                when 'package' then regexp_replace(lower(split_part(asked.target, '[', 1)), '[-_.]+', '-', 'g')
                when 'torch_backend' then 'torch'
            end
    left join used
        on
            used.run_id = asked.run_id
            and used.artifact_manifest_digest = asked.artifact_manifest_digest
            and used.option = replace(regexp_extract(lower(asked.target), '^--?([a-z0-9_-]+)', 1), '-', '_')
            and asked.kind = 'argument'
)

select
    run_id,
    artifact_manifest_digest,
    factor,
    requested,
    effective,
    case
        when effective is null then null
        else
            lower(effective) = lower(requested)
            or coalesce(try_cast(effective as double) = try_cast(requested as double), false) and kind in ('argument', 'environment')
            or kind = 'python' and starts_with(effective, requested || '.')
            -- A version without its local part, as torch 2.9.0 of a build for CUDA, and 2.1 beside 2.1.0 (PEP 440).
            or kind = 'package' and regexp_replace(split_part(effective, '+', 1), '(\.0)+$', '') = regexp_replace(requested, '(\.0)+$', '')
    end as is_as_requested
from found
