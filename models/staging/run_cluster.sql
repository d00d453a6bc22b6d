/*
description: >
  One row per run and bundle that states where it ran. The key is a digest of what is stated.
grain: [run_id, artifact_manifest_digest]
collects: cluster_region
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  cluster: {type: varchar, description: "Who or what runs the machines: a submitter, a cluster, a host"}
  region: {type: varchar, description: "Region"}
  availability_zone: {type: varchar, description: "Availability zone"}
  node_pool: {type: varchar, description: "Node pool, platform or system category"}
  scheduler_path: {type: varchar, description: "How runs are scheduled there"}
  resource_flavor: {type: varchar, description: "Resource flavor"}
  queue: {type: varchar, description: "Queue"}
  tenant_mode: {type: varchar, description: "Dedicated or shared"}
  cluster_region_key: {type: varchar, description: "Digest of the columns above; NULL when nothing is stated", feed: false}
*/
select
    *,
    case
        when
            coalesce(
                cluster, region, availability_zone, node_pool, scheduler_path, resource_flavor, queue, tenant_mode
            ) is not null
            then left(sha256(to_json([
                cluster, region, availability_zone, node_pool, scheduler_path, resource_flavor, queue, tenant_mode
            ])::varchar), 32)
    end as cluster_region_key
from feed.cluster_region
