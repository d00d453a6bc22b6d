/*
description: >
  One row per least number of ranks: from which robust z a rank counts as slow. The rule is the Hampel identifier (Davies and
  Gather 1993, The identification of multiple outliers, JASA 88), one-sided: in normal samples of as many ranks, the
  greatest (x - median) / (1.4826 * MAD) exceeds the threshold in about 2 % of samples. Real ranks are not normal, and the
  chance of naming any rank of a healthy run should stay below 5 %. The thresholds are quantiles of simulated samples, which
  tests/test_rank_score.py repeats. A rank must also be slower than the median by at least min_excess_pct, for among very
  even ranks a difference without consequence is an outlier, too. A project with a model of the same name replaces this one.
grain: [from_ranks]
columns:
  from_ranks: {type: bigint, description: "Least number of ranks", tests: [not_null]}
  threshold: {type: double, description: "Robust z above which a rank is slow", tests: [not_null]}
  min_excess_pct: {type: double, unit: "%", description: "Own work beyond that of the median rank", tests: [not_null]}
*/
select
    from_ranks::bigint as from_ranks,
    threshold::double as threshold,
    2::double as min_excess_pct
from (
    values
    (3, 28.0),
    (4, 7.8),
    (5, 9.5),
    (6, 6.3),
    (7, 6.8),
    (8, 5.5),
    (9, 5.7),
    (10, 5.2),
    (12, 4.8),
    (14, 4.65),
    (18, 4.4),
    (25, 4.15),
    (33, 4.05),
    (65, 3.9),
    (129, 3.95),
    (257, 4.05),
    (513, 4.2),
    (1025, 4.3),
    (2049, 4.5),
    (4097, 5.0)
) as known (from_ranks, threshold)
