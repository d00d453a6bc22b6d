/*
description: >
  One row per source file and tracked statistic of MLPerf Training logs whose unit is documented or follows from the
  log itself: what it measures, over what, and how that is known. The logs state no units. A statistic that is not
  here, or comes from another source file, stays in the landing table and is not used. An example is retinanet's
  throughput, which neither the sample counts nor the clock in its log confirm.
grain: [producer, stat]
columns:
  producer: {type: varchar, description: "End of the path of the source file that wrote the line", tests: [not_null]}
  stat: {type: varchar, description: "The statistic's key", tests: [not_null]}
  measure: {type: varchar, description: "What it is, with its unit", tests: [not_null, {accepted_values: [step_time_s, samples_per_s, duration_s]}]}
  phase: {type: varchar, description: "Of which phase", tests: [not_null, {accepted_values: [init, train, eval]}]}
  covers: {type: varchar, description: "One step, the mean over a block of steps between evaluations, or the whole phase so far", tests: [not_null, {accepted_values: [step, block, phase]}]}
  source: {type: varchar, description: "How the unit is known", tests: [not_null]}
*/
select
    producer,
    stat,
    measure,
    phase,
    covers,
    source
from (
    values
    ('mlperf_common/callbacks/logging.py', 'train_step_time', 'step_time_s', 'train', 'block', 'NVIDIA/mlperf-common: perf_counter seconds since the last evaluation / steps'),
    ('mlperf_common/callbacks/logging.py', 'throughput', 'samples_per_s', 'train', 'block', 'throughput * train_step_time of the line = global_batch_size'),
    ('mlperf_common/callbacks/logging.py', 'validation_time', 'duration_s', 'eval', 'block', 'NVIDIA/mlperf-common: perf_counter seconds of an evaluation'),
    ('mlperf_common/callbacks/logging.py', 'warmup_time', 'duration_s', 'init', 'phase', 'NVIDIA/mlperf-common: perf_counter seconds of the warm-up'),
    ('llm/custom_callbacks.py', 'train_step_time', 'step_time_s', 'train', 'step', 'time stamps of lines one step apart'),
    ('llm/callback_logging.py', 'train_step_time', 'step_time_s', 'train', 'step', 'time stamps of a block''s start and of its first step'),
    ('llm/callback_logging.py', 'validation_time', 'duration_s', 'eval', 'block', 'time stamps of eval_start and eval_stop'),
    ('sd/callbacks.py', 'train_step_time', 'step_time_s', 'train', 'block', 'time stamps of the block / its steps'),
    ('sd/callbacks.py', 'throughput', 'samples_per_s', 'train', 'block', 'throughput * train_step_time of the line = global_batch_size'),
    ('ft-llm/custom_callbacks.py', 'throughput', 'samples_per_s', 'train', 'block', 'samples of the block / its time stamps'),
    ('src/callbacks/custom_callbacks.py', 'throughput', 'samples_per_s', 'train', 'block', 'samples of the block / its time stamps'),
    ('src/callbacks.py', 'throughput', 'samples_per_s', 'train', 'block', 'samples of the block / its time stamps'),
    ('dlrm/mlperf_logger/callbacks.py', 'throughput', 'samples_per_s', 'train', 'phase', 'step * train_samples / (run_stop - run_start)'),
    ('gnn/train.py', 'throughput', 'samples_per_s', 'train', 'phase', 'throughput * train_time in minutes = epoch_num * train_samples'),
    ('rgat/train.py', 'throughput', 'samples_per_s', 'train', 'phase', 'throughput * train_time in minutes = epoch_num * train_samples')
) as unit (producer, stat, measure, phase, covers, source)
