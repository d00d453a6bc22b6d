/*
description: >
  One row per unique combination of cluster, region, zone and scheduler that a run states.
grain: [cluster_region_key]
columns:
  cluster_region_key: {type: varchar, description: "Digest of the columns below", tests: [not_null, unique]}
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
