/*
description: >
  One row per official model and scenario that an edge submission must have, and that the rules allow to be inferred
  from another of its runs. Source: the submission checker's required scenarios for edge systems.
grain: [model, scenario]
columns:
  model: {type: varchar, description: "Official model name", tests: [not_null]}
  scenario: {type: varchar, description: "Owed scenario", tests: [not_null, {accepted_values: [Offline, MultiStream]}]}
*/
select
    model,
    scenario
from (
    values
    ('resnet', 'Offline'),
    ('resnet', 'MultiStream'),
    ('retinanet', 'Offline'),
    ('retinanet', 'MultiStream'),
    ('rnnt', 'Offline'),
    ('bert-99', 'Offline'),
    ('bert-99.9', 'Offline'),
    ('3d-unet-99', 'Offline'),
    ('3d-unet-99.9', 'Offline'),
    ('gptj-99', 'Offline'),
    ('gptj-99.9', 'Offline'),
    ('stable-diffusion-xl', 'Offline'),
    ('llama3.1-8b-edge', 'Offline'),
    ('yolo-95', 'Offline'),
    ('yolo-95', 'MultiStream'),
    ('yolo-99', 'Offline'),
    ('yolo-99', 'MultiStream')
) as owed (model, scenario)
