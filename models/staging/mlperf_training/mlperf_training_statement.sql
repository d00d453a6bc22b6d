/*
description: >
  One row per run, bundle and parameter: what the log states about the whole run, from the first line that states it.
grain: [run_id, artifact_manifest_digest, key]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  key: {type: varchar, description: "The parameter", tests: [not_null]}
  value: {type: varchar, description: "As written"}
  value_number: {type: double, description: "The value where it is a number"}
*/
with first_line as (
    select
        run_id,
        artifact_manifest_digest,
        key,
        min(line_number) as line_number
    from mlperf_training_event
    where
        key in (
            'submission_benchmark', 'submission_org', 'submission_division', 'submission_status', 'submission_platform',
            'seed', 'global_batch_size', 'local_batch_size', 'gradient_accumulation_steps', 'max_sequence_length',
            'train_samples', 'eval_samples', 'epoch_count', 'max_steps', 'target_accuracy', 'init_checkpoint_step',
            'lora_rank', 'lora_alpha', 'number_of_nodes', 'accelerators_per_node', 'number_of_ranks',
            'micro_batch_size', 'config_filename'
        )
        or starts_with(key, 'opt_')
        or starts_with(key, 'lowest_numerical_precision')
        or ends_with(key, '_parallelism')
    group by
        run_id,
        artifact_manifest_digest,
        key
)

select
    event.run_id,
    event.artifact_manifest_digest,
    event.key,
    event.value,
    event.value_number
from mlperf_training_event as event
inner join first_line
    on
        first_line.run_id = event.run_id
        and first_line.artifact_manifest_digest = event.artifact_manifest_digest
        and first_line.key = event.key
        and first_line.line_number = event.line_number
