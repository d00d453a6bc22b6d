/*
description: >
  One row per unique combination of cluster, region, zone and scheduler that a run states.
grain: [cluster_region_key]
columns:
  cluster_region_key: {type: varchar, description: "Digest of the columns below", tests: [not_null, unique]}
  cluster: {type: varchar, description: "Who or what runs the machines: a submitter, a cluster, a host"}
  region: {type: varchar, description: "Region"}
  availability_zone: {type: varchar, description: "Availability zone"}
  node_pool: {type: varchar, description: "Node pool, platform or system category"}
  scheduler_path: {type: varchar, description: "How runs are scheduled there"}
  resource_flavor: {type: varchar, description: "Resource flavor"}
  queue: {type: varchar, description: "Queue"}
  tenant_mode: {type: varchar, description: "Dedicated or shared"}
*/
select
    cluster_region_key,
    cluster,
    region,
    availability_zone,
    node_pool,
    scheduler_path,
    resource_flavor,
    queue,
    tenant_mode
from run_cluster
where cluster_region_key is not null
group by all
