/*
description: >
  One row per run and bundle that states how the run was set up, beside its parameters: runs with other settings are of another configuration.
  Seeds, ports, names, places of output and whatever else each run has of its own are in none of the columns.
grain: [run_id, artifact_manifest_digest]
collects: run_setting
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  options: {type: "map(varchar, varchar)", description: "The options of the command by name, its other arguments by place; NULL: not stated"}
  environment: {type: "map(varchar, varchar)", description: "The environment variables that set how fast it can be; NULL: not stated"}
  limits: {type: "map(varchar, varchar)", description: "How many GPUs it could see; where they are below those of the machine, the cores that its CPU limit and its affinity allow; its niceness, if not 0; NULL: not stated"}
*/
select *
from feed.run_setting
