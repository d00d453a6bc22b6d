/*
description: "One row per run of PiConv2D, with its parameters and results."
materialized: view
grain: [run_id]
columns:
  run_id: {tests: [not_null]}
*/
select * exclude (indicator)
from indicator_pi_convolution
where indicator = 'PiConv2D'
