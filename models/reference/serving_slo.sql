/*
description: >
  One row per service level objective (SLO): limits that each request must meet together, and the share of requests that must. A limit is of
  the column of request_fact with its name; NULL: no limit. Add SLOs with a model of your own that feeds serving_slo.
grain: [slo]
collects: serving_slo
role: slos
columns:
  slo: {type: varchar, description: "Its name", tests: [not_null, unique]}
  model_pattern: {type: varchar, description: "Regular expression that the whole name of a served model matches, in any case; NULL: all models"}
  ttft_ms: {type: double, unit: ms, description: "Longest time to first token"}
  tpot_ms: {type: double, unit: ms, description: "Longest time per output token after the first"}
  itl_mean_ms: {type: double, unit: ms, description: "Longest inter-token latency, mean over the request's gaps"}
  e2e_ms: {type: double, unit: ms, description: "Longest end-to-end latency"}
  target: {type: double, description: "Share of requests that must meet all limits", tests: [not_null, {range: {min: 0, max: 1}}]}
  source: {type: varchar, description: "Who states it, and where", tests: [not_null]}
*/
select *
from feed.serving_slo
