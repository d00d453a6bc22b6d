/*
description: >
  One row per training benchmark whose model has a documented size, from which model FLOP per second are computed.
  Model FLOP are 2 per parameter and token for the forward pass and 4 for the backward pass (Kaplan et al. 2020,
  section 2.1), without the products of attention and without recomputation. Of the 4, 2 are for the gradients of
  weights, which frozen weights do not have.
grain: [benchmark]
columns:
  benchmark: {type: varchar, description: "Benchmark", tests: [not_null, unique]}
  parameter_count: {type: double, description: "Parameters, as the model's paper states them", tests: [not_null]}
  flop_per_parameter_token: {type: double, description: "Model FLOP per parameter and token", tests: [not_null]}
  sequence_length: {type: bigint, description: "Tokens per sample where the rules fix it; NULL: the log states it"}
  source: {type: varchar, description: "Where these are documented", tests: [not_null]}
*/
select
    benchmark,
    parameter_count::double as parameter_count,
    flop_per_parameter_token::double as flop_per_parameter_token,
    sequence_length::bigint as sequence_length,
    source
from (
    values
    ('gpt3', 175e9, 6, 2048, 'Brown et al. 2020, table 2.1; mlcommons/training large_language_model'),
    ('llama2_70b_lora', 70e9, 4, 8192, 'Touvron et al. 2023, Llama 2; mlcommons/training llama2_70b_lora: frozen weights, samples packed to 8192 tokens'),
    ('llama31_405b', 405e9, 6, null, 'Grattafiori et al. 2024, The Llama 3 Herd of Models'),
    ('llama31_8b', 8e9, 6, null, 'Grattafiori et al. 2024, The Llama 3 Herd of Models')
) as model (benchmark, parameter_count, flop_per_parameter_token, sequence_length, source)
