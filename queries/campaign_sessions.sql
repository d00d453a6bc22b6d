/*
description: >
  Stacks of campaigns, session by session: one row per cell of a campaign of wh matrix, metric and session, with the geometric mean over the runs of
  the session that count. wh advise computes its comparisons from these values and nothing else, and computes them again from a publication of them
  (wh advise CAMPAIGN --from PUBLICATION).
grain: [campaign_key, cell, benchmark_case_id, workload, point, metric, session]
claim:
  what: the value of each metric that a stack had in one session of one campaign, a block of the comparison of stacks
  population: the runs of each cell that count by the campaign's spec, admitted, without conflict, succeeded
  unit_of_replication: the run, one execution of the command; sessions are those of the spec
  policy: exploratory
columns:
  campaign_key: {type: varchar, description: "The campaign, as in campaign_dim"}
  cell: {type: varchar, description: "The cell: its number in the product of the factors"}
  factors: {type: varchar, description: "The cell's values by factor, JSON"}
  is_baseline: {type: boolean, description: "Whether the others are compared with this cell"}
  is_added: {type: boolean, description: "Whether the session was added after the plan, by who had seen results"}
  unlike: {type: varchar, description: "Factors of which a run had another value than was asked for, with commas; empty: none"}
  stack_digest: {type: varchar, description: "What was installed: a digest of names, versions and hashes"}
  benchmark_case_id: {type: varchar, description: "What is measured"}
  workload: {type: varchar, description: "Digest of the frozen workload document"}
  point: {type: varchar, description: "Which point of the workload; empty where a run has one"}
  metric: {type: varchar, description: "What is compared"}
  session: {type: varchar, description: "The session, as the campaign's spec has them"}
  unit: {type: varchar, description: "Unit of the metric"}
  better: {type: varchar, description: "Which direction is better"}
  run_count: {type: bigint, description: "Runs that count"}
  disturbed_run_count: {type: bigint, description: "Those of them that other work, a limit or heat held back, as far as is known"}
  session_value: {type: double, description: "Geometric mean over the runs of the session, in the metric's unit"}
*/
select
    campaign_key,
    cell,
    benchmark_case_id,
    workload,
    point,
    metric,
    session,
    min(factors) as factors,
    bool_or(is_baseline) as is_baseline,
    bool_or(is_added) as is_added,
    max(unlike) as unlike,
    min(stack_digest) as stack_digest,
    min(unit) as unit,
    min(better) as better,
    count(*) as run_count,
    count(*) filter (where is_host_saturated or is_throttled) as disturbed_run_count,
    exp(avg(ln(value))) as session_value
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
    metric,
    session
