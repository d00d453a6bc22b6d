/*
description: >
  One row per suite, round and official model: how many samples a performance run must draw from, and how many an Offline
  query must have. Sources: as in mlperf_inference_round (performance-sample-count, OFFLINE_MIN_SPQ_SINCE_V4).
grain: [benchmark_suite, round, model]
columns:
  benchmark_suite: {type: varchar, description: "inference or automotive", tests: [not_null]}
  round: {type: varchar, description: "Round", tests: [not_null]}
  model: {type: varchar, description: "Official model name", tests: [not_null]}
  performance_sample_count: {type: double, description: "Samples to draw from", tests: [not_null]}
  offline_sample_count: {type: double, description: "Samples of an Offline query; NULL: mlperf_inference_round has it, or there is no such scenario"}
*/
select
    benchmark_suite,
    unnest(rounds) as round,
    model,
    performance_sample_count::double as performance_sample_count,
    offline_sample_count::double as offline_sample_count
from (
    values
    ('inference', ['v0.5'], 'mobilenet', 1024, null),
    ('inference', ['v0.5', 'v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1'], 'resnet', 1024, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'resnet', 1024, 24576),
    ('inference', ['v0.5', 'v0.7', 'v1.0', 'v1.1', 'v2.0'], 'ssd-small', 256, null),
    ('inference', ['v0.5', 'v0.7', 'v1.0', 'v1.1', 'v2.0'], 'ssd-large', 64, null),
    ('inference', ['v0.5'], 'gnmt', 3903900, null),
    ('inference', ['v2.1', 'v3.0', 'v3.1'], 'retinanet', 64, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'retinanet', 64, 24576),
    ('inference', ['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1'], 'rnnt', 2513, null),
    ('inference', ['v4.0'], 'rnnt', 2513, 2513),
    ('inference', ['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1'], 'bert-99', 10833, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'bert-99', 10833, 10833),
    ('inference', ['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0', 'v3.1'], 'bert-99.9', 10833, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'bert-99.9', 10833, 10833),
    ('inference', ['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0'], 'dlrm-99', 204800, null),
    ('inference', ['v0.7', 'v1.0', 'v1.1', 'v2.0', 'v2.1', 'v3.0'], 'dlrm-99.9', 204800, null),
    ('inference', ['v3.1'], 'dlrm-v2-99', 204800, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1'], 'dlrm-v2-99', 204800, 24576),
    ('inference', ['v3.1'], 'dlrm-v2-99.9', 204800, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1'], 'dlrm-v2-99.9', 204800, 24576),
    ('inference', ['v0.7', 'v1.0', 'v1.1'], '3d-unet-99', 16, null),
    ('inference', ['v0.7', 'v1.0', 'v1.1'], '3d-unet-99.9', 16, null),
    ('inference', ['v2.0'], '3d-unet-99', 42, null),
    ('inference', ['v2.0'], '3d-unet-99.9', 42, null),
    ('inference', ['v2.1', 'v3.0', 'v3.1'], '3d-unet-99', 43, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], '3d-unet-99', 43, 43),
    ('inference', ['v2.1', 'v3.0', 'v3.1'], '3d-unet-99.9', 43, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], '3d-unet-99.9', 43, 43),
    ('inference', ['v3.1'], 'gptj-99', 13368, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0'], 'gptj-99', 13368, 13368),
    ('inference', ['v3.1'], 'gptj-99.9', 13368, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0'], 'gptj-99.9', 13368, 13368),
    ('inference', ['v3.1'], 'gpt3-99', 13368, null),
    ('inference', ['v3.1'], 'gpt3-99.9', 13368, null),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'llama2-70b-99', 24576, 24576),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'llama2-70b-99.9', 24576, 24576),
    ('inference', ['v5.0'], 'llama2-70b-interactive-99', 24576, 24576),
    ('inference', ['v5.0'], 'llama2-70b-interactive-99.9', 24576, 24576),
    ('inference', ['v4.0', 'v4.1', 'v5.0', 'v5.1', 'v6.0'], 'stable-diffusion-xl', 5000, 5000),
    ('inference', ['v4.1', 'v5.0', 'v5.1', 'v6.0'], 'mixtral-8x7b', 15000, 15000),
    ('inference', ['v5.0', 'v5.1', 'v6.0'], 'llama3.1-405b', 8313, 8313),
    ('inference', ['v5.0', 'v5.1', 'v6.0'], 'rgat', 788379, 788379),
    ('inference', ['v5.0', 'v5.1', 'v6.0'], 'pointpainting', 1024, 6636),
    ('inference', ['v5.1', 'v6.0'], 'llama3.1-8b', 13368, 13368),
    ('inference', ['v5.1', 'v6.0'], 'llama3.1-8b-edge', 5000, 5000),
    ('inference', ['v5.1', 'v6.0'], 'deepseek-r1', 4388, 4388),
    ('inference', ['v5.1', 'v6.0'], 'whisper', 1633, 1633),
    ('inference', ['v6.0'], 'gpt-oss-120b', 6396, 6396),
    ('inference', ['v6.0'], 'qwen3-vl-235b-a22b', 48289, 48289),
    ('inference', ['v6.0'], 'wan-2.2-t2v-a14b', 50, 50),
    ('inference', ['v6.0'], 'dlrm-v3', 349823, 349823),
    ('inference', ['v6.0'], 'yolo-95', 64, 1525),
    ('inference', ['v6.0'], 'yolo-99', 64, 1525),
    ('automotive', ['v0.5', 'v1.0'], 'bevformer', 256, null),
    ('automotive', ['v0.5', 'v1.0'], 'deeplabv3plus', 128, null),
    ('automotive', ['v0.5', 'v1.0'], 'ssd', 128, null),
    ('automotive', ['v1.0'], 'llama3.1-8b', 8192, null),
    ('automotive', ['v1.0'], 'uniad', 256, null)
) as rule (benchmark_suite, rounds, model, performance_sample_count, offline_sample_count)
