"""What numbers mean: intervals, comparisons and change points. Pure functions of numbers; nothing else of the project is used here.

The units of replication are *session* (a host, a job allocation, a day), *run* and *request*. Requests are no replicates of a run,
and runs of one session are no replicates of sessions: every interval states the levels whose variation it covers.
A question that the observations cannot answer gets `NotSupported`, with how many are needed; never a number.

| module | answers |
|---|---|
| `interval` | `Interval`, `NotSupported`: what the other modules return |
| `means` | `mean_interval`, `median_interval`: over runs, or over sessions of runs |
| `quantiles` | `quantile_interval`: within one run. `quantile_bound`, `fewest_for_interval`, `fewest_for_bound` |
| `levels` | `typical_quantile_interval`: a percentile over runs and sessions. `variance_components` |
| `summaries` | `olympic_mean`, `total_rate`, `geometric_mean`, `variation`, `robust_spread` |
| `comparisons` | `shift_interval`, `ratio_interval`: head against base, also paired. `smallest_p`, `least_detectable_ratio` |
| `effects` | `judge`: an interval against a practical threshold |
| `scans` | `benjamini_hochberg`, `benjamini_yekutieli`: many tests at once |

Values are sequences or arrays of finite floats; NaN is refused with ValueError, since dropping a value is the caller's decision.
scipy takes a third of a second to import, so the command line imports these modules where it needs them.
"""
