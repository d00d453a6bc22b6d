/*
description: >
  One row per round, official model and scenario that the official results table labels Tokens/s. Every other row is
  labelled Samples/s (Offline), Queries/s (Server and Interactive) or Latency (ms) (SingleStream and MultiStream),
  whatever unit the value really has. The labels of a round that is not here are not known. Source: the unit tables of
  the submission checker of each round.
grain: [round, model, scenario]
columns:
  round: {type: varchar, description: "Round, e.g. v5.1", tests: [not_null]}
  model: {type: varchar, description: "Official model name", tests: [not_null]}
  scenario: {type: varchar, description: "Scenario", tests: [not_null]}
*/
with labelled as (
    select
        round,
        model,
        scenarios
    from (
        values
        ('v4.1', 'llama2-70b-99', ['Offline', 'Server']),
        ('v4.1', 'llama2-70b-99.9', ['Offline', 'Server']),
        ('v4.1', 'mixtral-8x7b', ['Offline', 'Server']),
        ('v5.1', 'llama2-70b-99', ['Offline', 'Server', 'Interactive']),
        ('v5.1', 'llama2-70b-99.9', ['Offline', 'Server', 'Interactive']),
        ('v5.1', 'mixtral-8x7b', ['Offline', 'Server', 'Interactive']),
        ('v5.1', 'llama3.1-405b', ['Offline', 'Server', 'Interactive']),
        ('v5.1', 'llama3.1-8b', ['Offline', 'Server']),
        ('v5.1', 'llama3.1-8b-edge', ['Offline']),
        ('v5.1', 'deepseek-r1', ['Offline', 'Server', 'Interactive'])
    ) as token_label (round, model, scenarios)
)

select
    round,
    model,
    unnest(scenarios) as scenario
from labelled
