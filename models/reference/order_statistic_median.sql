/*
description: >
  One row per sample size up to 1,000: the ranks of the distribution-free 95 % interval of a median. The interval
  [x(lower_rank), x(upper_rank)] of n sorted independent values covers the median with probability
  1 - 2 * sum over k < lower_rank of C(n, k) / 2^n; lower_rank is the largest for which that is at least 0.95. Below
  n = 6 there is none. (Order-statistic intervals: Hahn and Meeker, Statistical Intervals, section 5.)
grain: [n]
columns:
  n: {type: bigint, description: "Sample size", tests: [not_null, unique]}
  lower_rank: {type: bigint, description: "Rank of the lower end, from 1", tests: [not_null]}
  upper_rank: {type: bigint, description: "Rank of the upper end", tests: [not_null]}
  coverage: {type: double, description: "The probability that the interval covers the median", tests: [not_null]}
*/
with term as (
    select
        sample.n,
        below.k,
        exp(lgamma(sample.n + 1) - lgamma(below.k + 1) - lgamma(sample.n - below.k + 1) - sample.n * ln(2)) as probability
    from range(6, 1001) as sample (n)
    inner join range(0, 500) as below (k)
        on below.k < sample.n / 2
),

tail as (
    select
        n,
        k + 1 as lower_rank,
        1 - 2 * sum(probability) over (partition by n order by k rows between unbounded preceding and current row) as coverage
    from term
)

select
    n::bigint as n,
    max(lower_rank)::bigint as lower_rank,
    (n + 1 - max(lower_rank))::bigint as upper_rank,
    round(min(coverage), 6) as coverage
from tail
where coverage >= 0.95
group by n
