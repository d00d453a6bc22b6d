/*
description: >
  One row per campaign and member: a configuration that the campaign chose, by the name under which it was scheduled.
  mart.campaign_run joins members to their runs.
grain: [campaign_key, member]
collects: campaign_member
columns:
  campaign_key: {type: varchar, description: "The campaign", tests: [not_null, {relationships: main.campaign_dim.campaign_key}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  member: {type: varchar, description: "The member, unique in its campaign", tests: [not_null]}
  run_id: {type: varchar, description: "Its run, where the evidence names one run"}
  scheduler_run_id: {type: varchar, description: "The scheduler's name for its runs, as in benchmark_run_fact"}
  stack_key: {type: varchar, description: "The software stack that it was to run, as in mart.advised_stack"}
  packages_digest: {type: varchar, description: "sha256 of the stack's sorted package list, as in software_version_dim"}
  score: {type: double, description: "The score that the campaign gave the stack before it ran"}
  stated_in: {type: varchar, description: "Which of the campaign's files name it"}
*/
select member.*
from feed.campaign_member as member
inner join campaign_dim
    on
        campaign_dim.campaign_key = member.campaign_key
        and campaign_dim.artifact_manifest_digest = member.artifact_manifest_digest
