/*
description: >
  One row per recorded run: the options of its command, its settings of the environment, and its limits.
grain: [run_id, artifact_manifest_digest]
feeds: run_setting
*/
select
    run_id,
    artifact_manifest_digest,
    command_options::json::map(varchar, varchar) as options,
    environment_settings::json::map(varchar, varchar) as environment,
    if(
        environment_settings is null,
        null,
        map_from_entries(
            list_filter(
                [
                    {key: 'visible_gpu_count', value: visible_gpu_count::varchar},
                    -- A limit at or above what the machine has limits nothing.
                    {key: 'cpu_limit_cores', value: if(cgroup_cpu_limit_cores >= logical_cores, null, cgroup_cpu_limit_cores)::varchar},
                    {key: 'allowed_cores', value: if(allowed_cores >= logical_cores, null, allowed_cores)::varchar},
                    {key: 'niceness', value: nullif(niceness, 0)::varchar}
                ],
                lambda entry : entry.value is not null
            )
        )
    ) as limits
from recorded_run
where coalesce(command_options, environment_settings) is not null
