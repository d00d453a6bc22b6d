/*
description: >
  Stacks of campaigns, measured: one row per cell of a campaign of wh matrix and metric, with the geometric mean over the runs that
  count. wh advise compares these, session by session, and names those that may be the best.
grain: [campaign_key, cell, benchmark_case_id, workload, point, metric]
claim:
  what: the geometric mean of each metric over a stack's runs in the sessions of one campaign
  population: the runs of each cell that count by the campaign's spec, admitted, without conflict, succeeded
  unit_of_replication: the run, one execution of the command; sessions are those of the spec
  policy: default
  observations: campaign_measurement
  numbers:
    typical: {statistic: geometric mean, of: observation.value}
  accounted_by: [workload_spec_digest, software_version_key]
  exclusions:
    slot.run_id is not null: a run that no campaign asked for is not in the plan that its spec froze
    "part = 'counted'": warm-up runs, runs that only chose the cells that fresh sessions confirm, and runs whose slot was run again do not count
columns:
  campaign_key: {type: varchar, description: "The campaign, as in campaign_dim"}
  cell: {type: varchar, description: "The cell: its number in the product of the factors"}
  factors: {type: varchar, description: "The cell's values by factor, JSON"}
  is_baseline: {type: boolean, description: "Whether the others are compared with this cell"}
  stack_digest: {type: varchar, description: "What was installed: a digest of names, versions and hashes"}
  benchmark_case_id: {type: varchar, description: "What is measured"}
  workload: {type: varchar, description: "Digest of the frozen workload document"}
  point: {type: varchar, description: "Which point of the workload; empty where a run has one"}
  metric: {type: varchar, description: "What is compared"}
  unit: {type: varchar, description: "Unit of the metric"}
  better: {type: varchar, description: "Which direction is better"}
  session_count: {type: bigint, description: "Sessions with a run that counts"}
  run_count: {type: bigint, description: "Runs that count"}
  typical: {type: double, description: "Geometric mean over runs, in the metric's unit"}
*/
select
    campaign_key,
    cell,
    benchmark_case_id,
    workload,
    point,
    metric,
    min(factors) as factors,
    bool_or(is_baseline) as is_baseline,
    min(stack_digest) as stack_digest,
    min(unit) as unit,
    min(better) as better,
    count(distinct session) as session_count,
    count(*) as run_count,
    exp(avg(ln(value))) as typical
from campaign_measurement
where
    part = 'counted'
    and value > 0
group by
    campaign_key,
    cell,
    benchmark_case_id,
    workload,
    point,
    metric
