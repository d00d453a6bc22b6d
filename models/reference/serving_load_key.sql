/*
description: >
  One row: which keys of a workload document state the load that a serving benchmark drove, or how many requests it sent, as a JSON
  merge patch (RFC 7396) that removes them. What is left is the same for all points of a load curve. The keys are those that the
  ingestors of serving benchmarks write.
grain: [patch]
columns:
  patch: {type: varchar, description: "The keys, each with the value null; in a document with a declaration, those of what its evidence states", tests: [not_null]}
*/
with keys as (
    select
        '"concurrency":null,"max_concurrency":null,"num_concurrent_requests":null,'
        || '"request_rate":null,"stages":null,"loads":null,"phases":null,'
        || '"num_prompts":null,"request_count":null,'
        || '"load":{'
        || '"standardized/concurrency":null,"standardized/rate_qps":null,'
        || '"args/max_concurrency":null,"args/qps_values":null,"args/request_rate":null,"args/num_prompts":null'
        || '}' as listed
)

select '{' || listed || ',"stated":{' || listed || '}}' as patch
from keys
