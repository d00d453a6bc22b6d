/*
description: >
  One row per latency constraint of MLPerf Inference's Server scenario on time to first token and time per output token, of its models in
  their normal and interactive variant. MLPerf asks that the 99th percentile of each time is within its limit; an SLO asks that 99 % of the
  requests are within both, which is at least as strict. Source: loadgen/mlperf.conf of mlcommons/inference, commit 001712e9.
grain: [slo]
feeds: serving_slo
columns:
  slo: {type: varchar, description: "mlperf- and MLPerf's name of the benchmark"}
  model_pattern: {type: varchar, description: "Names under which the model is served"}
  ttft_ms: {type: double, unit: ms, description: "Server.ttft_latency"}
  tpot_ms: {type: double, unit: ms, description: "Server.tpot_latency"}
  target: {type: double, description: "Server.target_latency_percentile"}
  source: {type: varchar, description: "File and commit"}
*/
select
    'mlperf-' || benchmark as slo,
    '(.*/)?(meta-)?' || model || '(-(instruct|chat|hf|v0\.1|0528|fp8|fp4|nvfp4|mxfp4|awq|gptq|int8|int4|dynamic|kv))*' as model_pattern,
    ttft_ms::double as ttft_ms,
    tpot_ms::double as tpot_ms,
    0.99::double as target,
    'MLPerf Inference, loadgen/mlperf.conf, mlcommons/inference 001712e9' as source
from (
    values
    ('llama2-70b', 'llama-2-70b', 2000, 200),
    ('llama2-70b-interactive', 'llama-2-70b', 450, 40),
    ('mixtral-8x7b', 'mixtral-8x7b', 2000, 200),
    ('llama3_1-405b', 'llama-3\.1-405b', 6000, 175),
    ('llama3_1-405b-interactive', 'llama-3\.1-405b', 4500, 80),
    ('llama3_1-8b', 'llama-3\.1-8b', 2000, 100),
    ('llama3_1-8b-interactive', 'llama-3\.1-8b', 500, 30),
    ('deepseek-r1', 'deepseek-r1', 2000, 80),
    ('deepseek-r1-interactive', 'deepseek-r1', 1500, 15)
) as limits (benchmark, model, ttft_ms, tpot_ms)
