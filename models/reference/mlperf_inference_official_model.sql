/*
description: >
  One row per folder name that differs from the official model's name. For a folder that is not here, the folder name
  is the official name. Source: the submission checker's model mapping and the official results tables (UsedModel
  beside Model).
grain: [benchmark]
columns:
  benchmark: {type: varchar, description: "Benchmark folder, lower case", tests: [not_null, unique]}
  model: {type: varchar, description: "Official model name", tests: [not_null]}
*/
select
    benchmark,
    model
from (
    values
    ('resnet50', 'resnet'),
    ('ssd-mobilenet', 'ssd-small'),
    ('ssd-resnet34', 'ssd-large'),
    ('llama3_1-405b', 'llama3.1-405b'),
    ('llama3_1-8b', 'llama3.1-8b'),
    ('llama3_1-8b-edge', 'llama3.1-8b-edge')
) as mapping (benchmark, model)
