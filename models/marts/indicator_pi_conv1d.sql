/*
description: "One row per run of PiConv1D, with its parameters and results."
materialized: view
grain: [run_id]
columns:
  run_id: {tests: [not_null]}
*/
select * exclude (indicator, filter_height, input_height, mini_batch)
from indicator_pi_convolution
where indicator = 'PiConv1D'
