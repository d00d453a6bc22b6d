/*
description: >
  One row per recorded run and setting that took effect, beside what was asked for: settings of an engine, as its log states them, and the SM clock of
  each GPU, as it was set and as it was reached at most. What was asked for is the option of the run's command, else what the server says that it was
  given. An engine names some settings otherwise than its options do; those are compared under the option's name.
grain: [run_id, artifact_manifest_digest, setting]
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  setting: {type: varchar, description: "The setting, with underscores; of a clock with the GPU", tests: [not_null]}
  requested: {type: varchar, description: "What was asked for; NULL: nothing, so that the default holds"}
  effective: {type: varchar, description: "What took effect", tests: [not_null]}
  is_applied: {type: boolean, description: "Whether what was asked for took effect; NULL: nothing was asked for, or the engine was to choose"}
  raw_path: {type: varchar, description: "The file that states what took effect", tests: [not_null]}
*/
with command as (
    select
        run_id,
        artifact_manifest_digest,
        command_options::json::map(varchar, varchar) as options
    from recorded_run
    where command_options is not null
),

stated as (
    select
        run_id,
        artifact_manifest_digest,
        is_effective,
        case
            when not is_effective then name
            when name = 'max_seq_len' then 'max_model_len'
            else name
        end as name,
        min(value) as value,
        min(raw_path) as raw_path
    from recorded_setting_stated
    group by
        run_id,
        artifact_manifest_digest,
        is_effective,
        case
            when not is_effective then name
            when name = 'max_seq_len' then 'max_model_len'
            else name
        end
),

compared as (
    select
        effective.run_id,
        effective.artifact_manifest_digest,
        effective.name as setting,
        coalesce(command.options['--' || replace(effective.name, '_', '-')], command.options['--' || effective.name], given.value) as requested,
        effective.value as effective,
        effective.raw_path
    from stated as effective
    left join command
        on
            command.run_id = effective.run_id
            and command.artifact_manifest_digest = effective.artifact_manifest_digest
    left join stated as given
        on
            given.run_id = effective.run_id
            and given.artifact_manifest_digest = effective.artifact_manifest_digest
            and given.name = effective.name
            and not given.is_effective
    where effective.is_effective
),

-- torch.bfloat16 is bfloat16, 1.0 is 1, and an option without a value is True.
judged as (
    select
        *,
        lower(regexp_replace(requested, '^torch[.]', '')) as asked,
        lower(regexp_replace(effective, '^torch[.]', '')) as got
    from compared
)

select
    run_id,
    artifact_manifest_digest,
    setting,
    requested,
    effective,
    case
        when requested is null or asked in ('auto', 'none') then null
        when asked = got or asked = '' and got = 'true' then true
        when try_cast(asked as double) is not null and try_cast(got as double) is not null then try_cast(asked as double) = try_cast(got as double)
        -- Words that may name one thing in two ways, such as the path of a model, show nothing.
        when try_cast(asked as double) is null and asked not in ('true', 'false', '') and setting not in ('dtype', 'quantization', 'kv_cache_dtype') then null
        else false
    end as is_applied,
    raw_path
from judged
union all
select
    gpu.run_id,
    gpu.artifact_manifest_digest,
    'sm_clock_mhz ' || gpu.gpu_uuid as setting,
    gpu.application_sm_clock_mhz::varchar as requested,
    round(max(slice.value_max))::bigint::varchar as effective,
    max(slice.value_max) >= 0.98 * gpu.application_sm_clock_mhz as is_applied,
    min(gpu.raw_path) as raw_path
from recorded_gpu as gpu
inner join telemetry_slice_fact as slice
    on
        slice.run_id = gpu.run_id
        and slice.gpu_uuid = gpu.gpu_uuid
        and slice.metric = 'gpu_sm_clock_mhz'
        and slice.window_kind = 'run'
        and slice.value_max is not null
group by
    gpu.run_id,
    gpu.artifact_manifest_digest,
    gpu.gpu_uuid,
    gpu.application_sm_clock_mhz
