/*
description: >
  Collective communication, test by test: one row per run of a fabric check that states an average bus bandwidth or
  failed. Pairs of nodes are the rows with node_count 2.
grain: [run_id]
claim:
  what: the average bus bandwidth of one collective test on the nodes that took part
  population: every run of nccl-tests and rccl-tests in the warehouse, failed ones too, admitted, without conflict
  unit_of_replication: the run, one execution of one test
  policy: exploratory
columns:
  run_id: {type: varchar, description: "The run whose log the result comes from"}
  test: {type: varchar, description: "The collective's program; NULL where the evidence does not say, or contradicts itself"}
  gpu_model: {type: varchar, description: "The GPUs' model"}
  workload_spec_digest: {type: varchar, description: "The workload: sizes, steps, iterations, types"}
  status: {type: varchar, description: "measured, reduced (not up to the size asked for), failed, or unknown (the unit of the bus bandwidth is not known)"}
  avg_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth, as the log states it; NULL: the test failed, or its evidence states no average"}
  same_figures_count: {type: bigint, description: "Other runs here that state the same figures at every size, and may be the same measurement; NULL: the test failed"}
*/
with
admitted as (
    select
        run_id,
        workload_spec_digest,
        cluster_region_key,
        hardware_topology_key,
        software_version_key
    from benchmark_run_fact
    where
        state = 'admitted'
        and not has_conflict
),

alike as (
    select
        outcome.figures_digest,
        count(*) as runs
    from fabric_outcome_fact as outcome
    inner join admitted
        on admitted.run_id = outcome.run_id
    where
        outcome.scope = 'test'
        and outcome.tool in ('nccl-tests', 'rccl-tests')
    group by outcome.figures_digest
)

select
    outcome.run_id,
    cluster_region_dim.cluster,
    outcome.test,
    outcome.nodes,
    outcome.node_count,
    outcome.rank_count,
    hardware_topology_dim.gpu_model,
    software_version_dim.nccl_version,
    run.workload_spec_digest,
    outcome.status,
    outcome.status_reason,
    outcome.avg_bus_bandwidth_gb_per_s,
    outcome.peak_bus_bandwidth_gb_per_s,
    alike.runs - 1 as same_figures_count
from fabric_outcome_fact as outcome
inner join admitted as run
    on run.run_id = outcome.run_id
left join cluster_region_dim
    on cluster_region_dim.cluster_region_key = run.cluster_region_key
left join hardware_topology_dim
    on hardware_topology_dim.hardware_topology_key = run.hardware_topology_key
left join software_version_dim
    on software_version_dim.software_version_key = run.software_version_key
left join alike
    on alike.figures_digest = outcome.figures_digest
where
    outcome.scope = 'test'
    and outcome.tool in ('nccl-tests', 'rccl-tests')
