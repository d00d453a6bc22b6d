/*
description: >
  One row per suite, round, official model and scenario whose latency its submission checker limits. Sources: as in
  mlperf_inference_round (latency-constraint, LLM_LATENCY_LIMITS). MLPerf Automotive limits none.
grain: [round, model, scenario]
columns:
  round: {type: varchar, description: "Round", tests: [not_null]}
  model: {type: varchar, description: "Official model name", tests: [not_null]}
  scenario: {type: varchar, description: "Server or Interactive", tests: [not_null]}
  latency_ms: {type: double, unit: ms, description: "Limit of the target latency, before v2.0 of the p99; NULL: none"}
  ttft_ms: {type: double, unit: ms, description: "Limit of the p99 of the time to first token; NULL: none"}
  tpot_ms: {type: double, unit: ms, description: "Limit of the p99 of the time per output token; NULL: none"}
*/
select
    unnest(rounds) as round,
    model,
    scenario,
    latency_ms::double as latency_ms,
    ttft_ms::double as ttft_ms,
    tpot_ms::double as tpot_ms
from (
    values
    (['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1', 'v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'resnet', 'Server', 15, null, null),
    (['v0.7', 'v1.0', 'v1.1', 'v2.0'], 'ssd-large', 'Server', 100, null, null),
    (['v2.1', 'v3.0', 'v3.1', 'v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'retinanet', 'Server', 100, null, null),
    (['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1', 'v4.0'], 'rnnt', 'Server', 1000, null, null),
    (['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1', 'v4.0', 'v4.1'], 'bert-99', 'Server', 130, null, null),
    (['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1', 'v4.0', 'v4.1'], 'bert-99.9', 'Server', 130, null, null),
    (['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0'], 'dlrm-99', 'Server', 30, null, null),
    (['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0'], 'dlrm-99.9', 'Server', 30, null, null),
    (['v3.1', 'v4.0', 'v4.1', 'v5.0', 'v5.1'], 'dlrm-v2-99', 'Server', 60, null, null),
    (['v3.1', 'v4.0', 'v4.1', 'v5.0', 'v5.1'], 'dlrm-v2-99.9', 'Server', 60, null, null),
    (['v3.1', 'v4.0', 'v4.1', 'v5.0'], 'gptj-99', 'Server', 20000, null, null),
    (['v3.1', 'v4.0', 'v4.1', 'v5.0'], 'gptj-99.9', 'Server', 20000, null, null),
    (['v3.1'], 'gpt3-99', 'Server', 20000, null, null),
    (['v3.1'], 'gpt3-99.9', 'Server', 20000, null, null),
    (['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'stable-diffusion-xl', 'Server', 20000, null, null),
    (['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'llama2-70b-99', 'Server', 20000, 2000, 200),
    (['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'llama2-70b-99.9', 'Server', 20000, 2000, 200),
    (['v5.1', 'v6.0'], 'llama2-70b-99', 'Interactive', 20000, 450, 40),
    (['v5.1', 'v6.0'], 'llama2-70b-99.9', 'Interactive', 20000, 450, 40),
    (['v5.0'], 'llama2-70b-interactive-99', 'Server', 20000, 450, 40),
    (['v5.0'], 'llama2-70b-interactive-99.9', 'Server', 20000, 450, 40),
    (['v4.1'], 'mixtral-8x7b', 'Server', null, 2000, 200),
    (['v5.0', 'v5.1', 'v6.0'], 'mixtral-8x7b', 'Server', 20000, 2000, 200),
    (['v5.0', 'v5.1', 'v6.0'], 'llama3.1-405b', 'Server', 60000, 6000, 175),
    (['v5.1', 'v6.0'], 'llama3.1-405b', 'Interactive', 60000, 4500, 80),
    (['v5.1', 'v6.0'], 'llama3.1-8b', 'Server', 20000, 2000, 100),
    (['v5.1', 'v6.0'], 'llama3.1-8b', 'Interactive', 20000, 500, 30),
    (['v5.1', 'v6.0'], 'deepseek-r1', 'Server', 60000, 2000, 80),
    (['v5.1', 'v6.0'], 'deepseek-r1', 'Interactive', 60000, 1500, 15),
    (['v6.0'], 'gpt-oss-120b', 'Server', 60000, 3000, 80),
    (['v6.0'], 'gpt-oss-120b', 'Interactive', 60000, 2000, 15),
    (['v6.0'], 'qwen3-vl-235b-a22b', 'Server', 60000, null, null),
    (['v6.0'], 'dlrm-v3', 'Server', 60000, null, null)
) as bound (rounds, model, scenario, latency_ms, ttft_ms, tpot_ms)
