/*
description: >
  One row per unit that a serving benchmark states beside a statistic: the kind of quantity, and the factor to
  milliseconds, to a rate per second or to a count. A statistic with a unit that is not here is NULL.
grain: [unit]
columns:
  unit: {type: varchar, description: "As written", tests: [not_null, unique]}
  quantity: {type: varchar, description: "What it measures", tests: [not_null, {accepted_values: [time, rate, count]}]}
  factor: {type: double, description: "To ms, 1/s or one", tests: [not_null]}
*/
select
    unit,
    quantity,
    factor::double as factor
from (
    values
    ('ns', 'time', 1e-6),
    ('us', 'time', 1e-3),
    ('ms', 'time', 1),
    ('s', 'time', 1000),
    ('sec', 'time', 1000),
    ('seconds', 'time', 1000),
    ('ms/token', 'time', 1),
    ('s/token', 'time', 1000),
    ('requests/sec', 'rate', 1),
    ('requests/s', 'rate', 1),
    ('queries/s', 'rate', 1),
    ('tokens/sec', 'rate', 1),
    ('tokens/s', 'rate', 1),
    ('per sec', 'rate', 1),
    ('count', 'count', 1),
    ('requests', 'count', 1)
) as known (unit, quantity, factor)
