/*
description: >
  One row per value of a run of MLflow: its status and end once it has ended, parameters, and each line of a metric's
  history, to which MLflow appends. Tags and the experiment's description may be edited at any time: their files are listed without
  a value.
grain: [run_id, artifact_manifest_digest, name]
feeds: run_statement
*/
with stated as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        file.raw_path,
        'file ' || file.raw_path as name,
        cast(null as varchar) as value
    from mlflow_run as run
    inner join evidence_file as file
        on
            file.artifact_manifest_digest = run.artifact_manifest_digest
            and file.role in ('meta', 'experiment', 'param', 'tag', 'metric')
    union all
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'status' as name,
        if(status <> 'unknown', status, null) as value
    from mlflow_run
    union all
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'start_time' as name,
        epoch_us(started_at)::varchar as value
    from mlflow_run
    union all
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'end_time' as name,
        epoch_us(ended_at)::varchar as value
    from mlflow_run
    where status <> 'unknown'
    union all
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'parameter ' || key as name,
        value
    from mlflow_entry
    where kind = 'param'
    union all
    select
        run_id,
        artifact_manifest_digest,
        raw_path,
        'metric ' || key || ', line ' || line_number as name,
        concat_ws(' ', value_text, 'at step ' || step, 'at ' || epoch_us(logged_at)) as value
    from mlflow_metric
)

select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    name,
    max(value) as value
from stated
group by
    run_id,
    artifact_manifest_digest,
    name
