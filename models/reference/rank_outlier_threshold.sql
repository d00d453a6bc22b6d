/*
description: >
  One row per least number of ranks: from which robust z a rank counts as slow. The rule is the Hampel identifier (Davies and
  Gather 1993, The identification of multiple outliers, JASA 88), one-sided: in normal samples of as many ranks, the
  greatest (x - median) / (1.4826 * MAD) exceeds the threshold in at most 4 % of samples. The thresholds are quantiles of
  400,000 simulated samples each, which tests/test_rank_score.py repeats. A rank must also be slower than the median by
  at least min_excess_pct, for among very even ranks a difference without consequence is an outlier, too. A project with a
  model of the same name replaces this one.
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
    (3, 13.8),
    (4, 5.4),
    (5, 6.5),
    (6, 4.8),
    (7, 5.2),
    (8, 4.4),
    (9, 4.6),
    (11, 4.3),
    (13, 4.1),
    (17, 3.9),
    (33, 3.7),
    (129, 3.75),
    (257, 3.9),
    (513, 4.0),
    (1025, 4.15),
    (2049, 4.35),
    (4097, 5.0)
) as known (from_ranks, threshold)
