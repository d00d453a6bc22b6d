/*
description: >
  One row per value that a bundle states about a run, for runs that several bundles state. Families feed what their
  files state about a run and its measurement, each under a name that is the same in every bundle of the run. A value
  that is not known yet, such as the status of a running run, is NULL. So are notes, tags, labels, comments and descriptions:
  they may be edited. A file that no family reads statements from states its bytes.
grain: [run_id, artifact_manifest_digest, name]
collects: run_statement
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file that states it", tests: [not_null]}
  name: {type: varchar, description: "What the value is about", tests: [not_null]}
  value: {type: varchar, description: "The value as written; NULL: nothing that was measured or asked for"}
*/
with several as (
    select run_id
    from stated_run
    group by run_id
    having count(*) > 1
),

stated as (
    select
        statement.run_id,
        statement.artifact_manifest_digest,
        statement.raw_path,
        statement.name,
        case
            when not regexp_matches(lower(statement.name), '(?:^|[^a-z])(?:notes?|tags?|labels?|comments?|descriptions?)(?:$|[^a-z])')
                then statement.value
        end as value
    from feed.run_statement as statement
    inner join several
        on several.run_id = statement.run_id
),

stated_file as (
    select distinct
        run_id,
        artifact_manifest_digest,
        raw_path
    from stated
),

file as (
    select
        stated_run.run_id,
        stated_run.artifact_manifest_digest,
        run_file.raw_path,
        -- A run that is one file is the same run under another name of that file.
        'the bytes of ' || if(run_file.raw_path = stated_run.raw_folder, 'its file', run_file.raw_path) as name,
        'sha256 ' || run_file.sha256 as value
    from several
    inner join stated_run
        on stated_run.run_id = several.run_id
    inner join run_file
        on
            run_file.run_id = stated_run.run_id
            and run_file.artifact_manifest_digest = stated_run.artifact_manifest_digest
    left join stated_file
        on
            stated_file.run_id = run_file.run_id
            and stated_file.artifact_manifest_digest = run_file.artifact_manifest_digest
            and stated_file.raw_path = run_file.raw_path
    where stated_file.raw_path is null
),

every as (
    select * from stated
    union all
    select * from file
)

select
    run_id,
    artifact_manifest_digest,
    min(raw_path) as raw_path,
    name,
    string_agg(distinct value, ' | ' order by value) as value
from every
group by
    run_id,
    artifact_manifest_digest,
    name
