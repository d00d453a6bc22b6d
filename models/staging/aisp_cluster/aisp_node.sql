/*
description: >
  One row per cluster run and node: what commands on the node printed of its hardware and software. What a command does not
  state, or states of several kinds, is NULL.
grain: [artifact_manifest_digest, node]
*/
with printed as (
    select
        artifact_manifest_digest,
        node,
        max(output) filter (where name = 'nvidia_smi_l') as gpu_list,
        max(output) filter (where name = 'nvidia_smi') as gpu_status,
        max(output) filter (where name = 'nvidia_smi_topo') as gpu_topology,
        max(output) filter (where name = 'lscpu') as cpus,
        max(output) filter (where name = 'free') as memory,
        max(output) filter (where name = 'ibstat') as adapters,
        max(output) filter (where name = 'os_release') as os_release,
        max(output) filter (where name = 'uname') as kernel,
        max(output) filter (where name = 'nvcc_version') as nvcc,
        max(output) filter (where name = 'dpkg_nccl') as nccl_packages
    from aisp_command
    where
        node is not null
        and exit_code = 0
    group by
        artifact_manifest_digest,
        node
),

listed as (
    select
        *,
        list_distinct(regexp_extract_all(gpu_list, 'GPU [0-9]+: ([^\n(]+) \(UUID', 1)) as gpu_models,
        list_distinct(regexp_extract_all(gpu_topology, '\bNV[0-9]+\b')) as links,
        list_distinct(regexp_extract_all(adapters, 'Rate: ([0-9]+)', 1)) as rates,
        list_distinct(regexp_extract_all(adapters, 'Link layer: (\w+)', 1)) as layers
    from printed
)

select
    artifact_manifest_digest,
    node,
    gpu_list,
    if(len(gpu_models) = 1, gpu_models[1], null) as gpu_model,
    nullif(len(regexp_extract_all(gpu_list, 'GPU [0-9]+:')), 0) as gpu_count,
    if(len(links) = 1, links[1], null) as nvlink_topology,
    nullif(regexp_extract(cpus, '(?:^|\n)Model name:[ \t]*([^\n]+)', 1), '') as cpu_model,
    try_cast(nullif(regexp_extract(cpus, '(?:^|\n)Socket\(s\):[ \t]*([0-9]+)', 1), '') as bigint) as cpu_sockets,
    try_cast(nullif(regexp_extract(cpus, '(?:^|\n)Core\(s\) per socket:[ \t]*([0-9]+)', 1), '') as bigint) as cpu_cores_per_socket,
    try_cast(nullif(regexp_extract(cpus, '(?:^|\n)CPU\(s\):[ \t]*([0-9]+)', 1), '') as bigint) as cpu_logical_count,
    nullif(regexp_extract(cpus, '(?:^|\n)NUMA node\(s\):[ \t]*([0-9]+)', 1), '') || ' NUMA nodes' as numa_layout,
    nullif(regexp_extract(memory, 'Mem:[ \t]*(\S+)', 1), '') as host_memory,
    if(len(layers) = 1 and len(rates) = 1, layers[1] || ' ' || rates[1] || ' Gbit/s', null) as network_fabric,
    nullif(regexp_extract(gpu_status, 'Driver Version: *([0-9.]+)', 1), '') as driver_version,
    nullif(regexp_extract(nvcc, 'release ([0-9.]+)', 1), '') as cuda_version,
    nullif(regexp_extract(os_release, 'PRETTY_NAME="([^"\n]+)"', 1), '') as operating_system,
    nullif(regexp_extract(kernel, '^Linux \S+ (\S+)', 1), '') as kernel_version,
    nullif(regexp_extract(nccl_packages, '(?:^|\n)libnccl2 (\S+)', 1), '') as nccl_package_version
from listed
