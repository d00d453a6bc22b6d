/*
description: One row per stack that a campaign resolved and package that its lock has, with the hashes that it is installed by.
grain: [stack_digest, package]
columns:
  stack_digest: {type: varchar, description: "The stack, as in campaign_cell_fact", tests: [not_null]}
  package: {type: varchar, description: "The package, as package indexes spell it: lower case, with -", tests: [not_null]}
  version: {type: varchar, description: "Its version; NULL: the lock states none, as of a folder or a repository"}
  sha256s: {type: varchar, description: "The sha256 of each file that may be installed, JSON"}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle with the lock", tests: [not_null]}
*/
select
    stack.stack_digest,
    lower(regexp_replace(package.package, '[-_.]+', '-', 'g')) as package,
    package.version,
    package.sha256s,
    package.artifact_manifest_digest
from matrix_locked_package as package
inner join matrix_stack as stack
    on
        stack.campaign_id = package.campaign_id
        and stack.stack = package.stack
        and stack.artifact_manifest_digest = package.artifact_manifest_digest
where stack.stack_digest is not null
qualify row_number() over (
    partition by stack.stack_digest, lower(regexp_replace(package.package, '[-_.]+', '-', 'g'))
    order by package.artifact_manifest_digest, package.package, package.version
) = 1
