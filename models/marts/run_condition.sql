/*
description: >
  One row per run and condition, in long form: what the run ran on and with, and what the host did meanwhile. Two sets
  of runs can be compared condition by condition. What is not stated has no row.
materialized: view
grain: [run_id, kind, name]
role: conditions
columns:
  run_id: {type: varchar, description: "The run"}
  kind: {type: varchar, description: "software, package, git, option, environment, limit, hardware, testbed, workload, serving, parameter, script, declared, campaign, log, host, telemetry, reported or evidence"}
  name: {type: varchar, description: "The condition: a column of its dimension, a package, a parameter"}
  value_text: {type: varchar, description: "The condition as text"}
  value_number: {type: double, description: "The condition where it is a measured quantity, which differs a little from run to run; NULL for every other"}
*/
with software as (
    select
        run_id,
        'software' as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run.run_id,
            dim.image_digest,
            dim.driver_version,
            dim.cuda_version,
            dim.rocm_version,
            dim.nccl_version,
            dim.framework,
            dim.framework_version,
            dim.runtime_version,
            dim.server_version,
            dim.operating_system,
            dim.kernel_version,
            dim.software_stack
        from benchmark_run_fact as run
        inner join software_version_dim as dim
            on dim.software_version_key = run.software_version_key
    ) as stated
    unpivot (value_text for name in (
            image_digest, driver_version, cuda_version, rocm_version, nccl_version, framework, framework_version,
            runtime_version, server_version, operating_system, kernel_version, software_stack
    ))
),

hardware as (
    select
        run_id,
        'hardware' as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run.run_id,
            dim.system_name,
            dim.node_count::varchar as node_count,
            dim.gpu_model,
            dim.gpu_count::varchar as gpu_count,
            dim.gpus_per_node::varchar as gpus_per_node,
            dim.gpu_memory,
            dim.pcie_layout,
            dim.nvlink_topology,
            dim.gpu_nic_affinity,
            dim.numa_layout,
            dim.nic,
            dim.network_fabric,
            dim.storage_fabric,
            dim.cpu_model,
            dim.cpu_sockets_per_node::varchar as cpu_sockets_per_node,
            dim.cpu_cores_per_socket::varchar as cpu_cores_per_socket,
            dim.cpu_logical_count::varchar as cpu_logical_count,
            dim.host_memory,
            dim.host_memory_bytes::varchar as host_memory_bytes
        from benchmark_run_fact as run
        inner join hardware_topology_dim as dim
            on dim.hardware_topology_key = run.hardware_topology_key
    ) as stated
    unpivot (value_text for name in (
            system_name, node_count, gpu_model, gpu_count, gpus_per_node, gpu_memory, pcie_layout, nvlink_topology,
            gpu_nic_affinity, numa_layout, nic, network_fabric, storage_fabric, cpu_model, cpu_sockets_per_node,
            cpu_cores_per_socket, cpu_logical_count, host_memory, host_memory_bytes
    ))
),

testbed as (
    select
        run_id,
        'testbed' as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run.run_id,
            dim.cluster,
            dim.region,
            dim.availability_zone,
            dim.node_pool,
            dim.resource_flavor,
            dim.queue,
            dim.tenant_mode
        from benchmark_run_fact as run
        inner join cluster_region_dim as dim
            on dim.cluster_region_key = run.cluster_region_key
    ) as stated
    unpivot (value_text for name in (
            cluster, region, availability_zone, node_pool, resource_flavor, queue, tenant_mode
    ))
),

workload as (
    select
        run_id,
        'workload' as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run.run_id,
            dim.workload_spec_digest,
            dim.workload_document
        from benchmark_run_fact as run
        inner join workload_dim as dim
            on dim.workload_spec_digest = run.workload_spec_digest
    ) as stated
    unpivot (value_text for name in (
            workload_spec_digest, workload_document
    ))
),

-- What measurement has as parameters is a parameter here, too, unless an indicator of the run states it.
serving as (
    select
        run_id,
        case when name in ('server_flags', 'input_length', 'output_length') then 'serving' else 'parameter' end as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run_id,
            tensor_parallel_size::varchar as tensor_parallel_size,
            pipeline_parallel_size::varchar as pipeline_parallel_size,
            expert_parallel_size::varchar as expert_parallel_size,
            data_parallel_size::varchar as data_parallel_size,
            precision,
            is_prefix_caching_enabled::varchar as is_prefix_caching_enabled,
            server_flags,
            input_length::varchar as input_length,
            output_length::varchar as output_length
        from serving_configuration_fact
    ) as stated
    unpivot (value_text for name in (
            tensor_parallel_size, pipeline_parallel_size, expert_parallel_size, data_parallel_size, precision,
            is_prefix_caching_enabled, server_flags, input_length, output_length
    ))
    where (run_id, name) not in (select (run_id, key) from performance_indicator_fact where kind = 'parameter')
),

declared as (
    select
        run_id,
        'declared' as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run.run_id,
            run.family,
            run.intent,
            run.cadence,
            run.benchmark_grade,
            run.scheduler_path,
            run.node_name,
            run.gpu_uuid,
            run.job_uid
        from benchmark_run_fact as run
    ) as stated
    unpivot (value_text for name in (
            family, intent, cadence, benchmark_grade, scheduler_path, node_name, gpu_uuid, job_uid
    ))
),

host as (
    select
        run_id,
        'host' as kind,
        name,
        value_number::varchar as value_text,
        value_number
    from (
        select
            run.run_id,
            run.user_cpu_s::double as user_cpu_s,
            run.system_cpu_s::double as system_cpu_s,
            run.max_rss_bytes::double as max_rss_bytes,
            run.voluntary_context_switches::double as voluntary_context_switches,
            run.involuntary_context_switches::double as involuntary_context_switches,
            run.minor_page_faults::double as minor_page_faults,
            run.major_page_faults::double as major_page_faults,
            run.queue_wait_s::double as queue_wait_s,
            run.admission_wait_s::double as admission_wait_s,
            run.involuntary_context_switches / nullif(run.user_cpu_s + run.system_cpu_s, 0) as involuntary_context_switches_per_cpu_s
        from benchmark_run_fact as run
    ) as stated
    unpivot (value_number for name in (
            involuntary_context_switches_per_cpu_s, user_cpu_s, system_cpu_s, max_rss_bytes, voluntary_context_switches, involuntary_context_switches,
            minor_page_faults, major_page_faults, queue_wait_s, admission_wait_s
    ))
),

telemetry as (
    select
        run_id,
        'telemetry' as kind,
        name,
        value_number::varchar as value_text,
        value_number
    from (
        select
            run_id,
            metric as name,
            case when ends_with(metric, '_count') then sum(value_delta) else avg(value_mean) end as value_number
        from telemetry_slice_fact
        where
            metric in (
                'gpu_sm_clock_mhz', 'gpu_util_pct', 'gpu_power_w', 'power_w', 'gpu_temperature_c', 'cpu_util_pct',
                'gpu_sm_active_pct', 'nvlink_crc_flit_error_count', 'nvlink_replay_error_count', 'pcie_replay_count'
            )
            and (window_kind = 'run' or series_number is null)
            and is_supported is not false
            and is_ambiguous is not true
        group by
            run_id,
            metric
    ) as averaged
    where value_number is not null
),

-- Of an indicator's JSON: the parameters, and what it reports beside its results.
reported as (
    select
        run_id,
        case when kind = 'parameter' then 'parameter' else 'reported' end as kind,
        key as name,
        value_text,
        case when kind = 'other' then value_number end as value_number
    from performance_indicator_fact
    where kind in ('parameter', 'other')
),

script as (
    select
        run_id,
        'script' as kind,
        'script_sha256' as name,
        min(script_sha256) as value_text,
        null::double as value_number
    from performance_indicator_fact
    where script_sha256 is not null
    group by run_id
),

package as (
    select
        run.run_id,
        'package' as kind,
        package.component as name,
        string_agg(coalesce(package.version, package.stated_as), ', ' order by package.version, package.stated_as) as value_text,
        null::double as value_number
    from benchmark_run_fact as run
    inner join software_package_dim as package
        on package.software_version_key = run.software_version_key
    group by
        run.run_id,
        package.component
),

source as (
    select
        run_id,
        'git' as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run.run_id,
            revision.git_commit as "commit",
            revision.git_branch as branch,
            revision.is_dirty::varchar as is_dirty,
            revision.git_remote as remote
        from benchmark_run_fact as run
        inner join run_source as revision
            on
                revision.run_id = run.run_id
                and revision.artifact_manifest_digest = run.artifact_manifest_digest
    ) as stated
    unpivot (value_text for name in ("commit", branch, is_dirty, remote))
),

setting as (
    select
        run_id,
        kind,
        unnest(map_entries(stated)).key as name,
        unnest(map_entries(stated)).value as value_text,
        null::double as value_number
    from (
        select
            run.run_id,
            setting.options as option,
            setting.environment,
            setting.limits as "limit"
        from benchmark_run_fact as run
        inner join run_setting as setting
            on
                setting.run_id = run.run_id
                and setting.artifact_manifest_digest = run.artifact_manifest_digest
    ) as stated_of_run
    unpivot (stated for kind in (option, environment, "limit"))
),

fabric as (
    select
        run_id,
        'testbed' as kind,
        'nodes' as name,
        min(nodes) as value_text,
        null::double as value_number
    from fabric_outcome_fact
    where nodes is not null
    group by run_id
),

campaign as (
    select
        run_id,
        'campaign' as kind,
        name,
        value_text,
        null::double as value_number
    from (
        select
            run_id,
            min(replace(campaign_key, 'matrix/', '')) as campaign,
            min(cell) as cell,
            min(stack_digest) as stack
        from campaign_cell_fact
        where run_id is not null
        group by run_id
    ) as stated
    unpivot (value_text for name in (campaign, cell, stack))
),

-- What an engine wrote of a setting while the run ran: a run that says both has both.
log as (
    select
        run_id,
        'log' as kind,
        condition as name,
        string_agg(distinct condition_value, ', ' order by condition_value) as value_text,
        null::double as value_number
    from log_observation
    where condition is not null
    group by
        run_id,
        condition
),

evidence as (
    select
        run_id,
        'evidence' as kind,
        'artifact_manifest_digest' as name,
        artifact_manifest_digest as value_text,
        null::double as value_number
    from benchmark_run_fact
)

select * from software
union all
select * from hardware
union all
select * from testbed
union all
select * from workload
union all
select * from serving
union all
select * from declared
union all
select * from host
union all
select * from telemetry
union all
select * from reported
union all
select * from script
union all
select * from package
union all
select * from source
union all
select * from setting
union all
select * from fabric
union all
select * from campaign
union all
select * from log
union all
select * from evidence
