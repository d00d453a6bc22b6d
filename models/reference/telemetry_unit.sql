/*
description: >
  One row per unit as sources state it and canonical unit: the factor from one to the other. A project adds none: a unit
  that is not here is not converted, and its metric is not mapped.
grain: [source_unit, unit]
columns:
  source_unit: {type: varchar, description: "The unit as a source states it, lower case", tests: [not_null]}
  unit: {type: varchar, description: "The canonical unit", tests: [not_null]}
  factor: {type: double, description: "Canonical value / stated value", tests: [not_null]}
*/
select
    source_unit,
    unit,
    factor::double as factor
from (
    values
    ('%', '%', 1),
    ('percent', '%', 1),
    ('ratio', '%', 100),
    ('ns', 's', 1e-9),
    ('us', 's', 1e-6),
    ('ms', 's', 1e-3),
    ('s', 's', 1),
    ('seconds', 's', 1),
    ('us', 'ms', 1e-3),
    ('ms', 'ms', 1),
    ('s', 'ms', 1e3),
    ('seconds', 'ms', 1e3),
    ('mj', 'J', 1e-3),
    ('j', 'J', 1),
    ('joules', 'J', 1),
    ('w', 'W', 1),
    ('watts', 'W', 1),
    ('mw', 'W', 1e-3),
    ('mhz', 'MHz', 1),
    ('hz', 'MHz', 1e-6),
    ('c', '°C', 1),
    ('celsius', '°C', 1),
    ('bytes', 'bytes', 1),
    ('mib', 'bytes', 1048576),
    ('kib', 'bytes', 1024),
    ('bytes/s', 'bytes/s', 1),
    ('kib/s', 'bytes/s', 1024),
    ('tokens/s', 'tokens/s', 1),
    ('1/s', '1/s', 1),
    ('count', 'count', 1),
    ('code', 'code', 1),
    ('bits', 'bits', 1),
    ('gt/s', 'GT/s', 1)
) as known (source_unit, unit, factor)
