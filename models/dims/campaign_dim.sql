/*
description: >
  One row per campaign: a set of runs that were launched together to explore configurations. A campaign that several
  bundles state is read from the first of them by digest.
grain: [campaign_key]
collects: campaign
columns:
  campaign_key: {type: varchar, description: "The campaign", tests: [not_null, unique]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file that states it"}
  name: {type: varchar, description: "The campaign's name, where it has one"}
  kind: {type: varchar, description: "What made it: dependency_monkey, sweep, ...", tests: [not_null]}
  started_at: {type: timestamptz, unit: UTC, description: "Start"}
  ended_at: {type: timestamptz, unit: UTC, description: "End"}
  is_zone_assumed: {type: boolean, description: "Whether the times' zone was assumed, not stated"}
  tool_version: {type: varchar, description: "The tool that ran it, with its version"}
  status: {type: varchar, description: "How it ended", tests: [{accepted_values: [succeeded, failed, unknown]}]}
  status_reason: {type: varchar, description: "The evidence's own words for the status"}
  requested_count: {type: bigint, description: "Members that were asked for; NULL where the evidence does not say"}
  parameters: {type: varchar, description: "Its parameters, JSON"}
*/
select *
from feed.campaign
qualify row_number() over (partition by campaign_key order by artifact_manifest_digest, raw_path) = 1
