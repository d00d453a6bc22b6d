/*
description: >
  One row per member of a campaign and run of it; a member without a run in the evidence has one row without a run.
materialized: view
grain: [campaign_key, member, run_id]
columns:
  campaign: {type: varchar, description: "Its name"}
  member: {type: varchar, description: "The member, by the name under which it was scheduled"}
  run_id: {type: varchar, description: "The run; NULL: the evidence has none"}
  benchmark_case_id: {type: varchar, description: "What the run measured"}
  has_stated_packages: {type: boolean, description: "Whether the run had the packages that the campaign chose; NULL where one of them is not stated"}
*/
with matched as (
    select
        member.campaign_key,
        member.member,
        run.run_id
    from campaign_member as member
    inner join benchmark_run_fact as run
        on run.run_id = member.run_id
    union
    select
        member.campaign_key,
        member.member,
        run.run_id
    from campaign_member as member
    inner join benchmark_run_fact as run
        on run.scheduler_run_id = member.scheduler_run_id
)

select
    member.campaign_key,
    campaign.name as campaign,
    member.member,
    run.run_id,
    run.benchmark_case_id,
    run.status,
    software.packages_digest = member.packages_digest as has_stated_packages,
    member.score
from campaign_member as member
inner join campaign_dim as campaign
    on campaign.campaign_key = member.campaign_key
left join matched
    on
        matched.campaign_key = member.campaign_key
        and matched.member = member.member
left join benchmark_run_fact as run
    on run.run_id = matched.run_id
left join software_version_dim as software
    on software.software_version_key = run.software_version_key
