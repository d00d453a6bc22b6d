/*
description: >
  Trials of tuning studies, one row per trial that finished: its score beside the mean score of the study's baseline, and its
  place. The best of many trials is the luckiest, too: a configuration is better only if runs that were made to confirm it
  say so.
grain: [run_id]
claim:
  what: the score of one trial of a search for configurations
  population: trials with a score, of runs that are admitted and without conflict
  unit_of_replication: the run, one trial
  policy: exploratory
columns:
  run_id: {type: varchar, description: "The trial"}
  study: {type: varchar, description: "The study's name, else its id"}
  experiment: {type: bigint, description: "The configuration"}
  trial: {type: bigint, description: "Which trial of it"}
  objective: {type: varchar, description: "maximize or minimize"}
  goal: {type: varchar, description: "What the score is: the study's formula over its metrics"}
  score: {type: double, description: "The score"}
  baseline_score: {type: double, description: "Mean score of the trials of the study's baseline"}
  gain_pct: {type: double, unit: "%", description: "How much better the score is than baseline_score; NULL if the study states no objective"}
  score_rank: {type: bigint, description: "Place in the study, the best first, from 1; NULL if the study states no objective"}
*/
with counted as (
    select
        trial.*,
        case trial.objective
            when 'maximize' then 1
            when 'minimize' then -1
        end as sign
    from tuning_trial as trial
    inner join benchmark_run_fact as run
        on
            run.run_id = trial.run_id
            and run.artifact_manifest_digest = trial.artifact_manifest_digest
    where
        trial.score is not null
        and run.state = 'admitted'
        and not run.has_conflict
),

baseline as (
    select
        study_id,
        avg(score) as baseline_score
    from counted
    where is_baseline
    group by study_id
)

select
    counted.run_id,
    coalesce(counted.study_name, counted.study_id) as study,
    counted.experiment,
    counted.trial,
    counted.objective,
    counted.goal,
    counted.score,
    baseline.baseline_score,
    100 * counted.sign * (counted.score / nullif(baseline.baseline_score, 0) - 1) as gain_pct,
    if(counted.sign is null, null, rank() over (partition by counted.study_id order by counted.sign * counted.score desc)) as score_rank
from counted
left join baseline
    on baseline.study_id = counted.study_id
