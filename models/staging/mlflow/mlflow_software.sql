/*
description: >
  One row per run of MLflow with tags: the framework and platform, as lightgbm-benchmark names them, and the commit of the
  source.
grain: [run_id, artifact_manifest_digest]
feeds: software_version
*/
select
    run_id,
    artifact_manifest_digest,
    lower(framework) as framework,
    framework_version,
    coalesce(platform, system) as operating_system,
    'commit ' || source_commit as software_stack
from mlflow_tag
