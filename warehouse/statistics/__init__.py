"""What numbers mean: intervals, comparisons, judgements, changes. Pure functions of numbers that use nothing else of the project.

The units of replication are *session* (a host, a job allocation, a day), *run* and *request*. Requests are no replicates of a run, and
the runs of one session are no replicates of sessions: every interval states in `n` the levels whose variation it covers. A question
that the observations cannot answer gets `NotSupported`, which says how many are needed, and never a number.

| module | answers |
|---|---|
| `interval` | `Interval`, `NotSupported`: what the others return |
| `means` | `mean_interval`, `median_interval`, `geometric_interval`: over runs, or over sessions of runs where these are given; `olympic_interval` |
| `sessions` | `session_interval`: about a statistic of all runs, over their sessions, by what others of the testbed show (`Pool`, `expected`) |
| | `variance_components`: what sessions and runs each add to the variance |
| `summaries` | `olympic_mean`, `geometric_mean`, `variation` |
| `comparisons` | head against base: `ratio_interval`, `shift_interval`, `paired_ratio_interval` |
| | what the sizes allow: `least_detectable_ratio` |
| `effects` | `judge`: the interval of a ratio against a practical threshold |
| `shape` | `two_levels_p`, `trend_p`: whether repeats lie about one level, and come in no order, within sessions where these are given |
| `scans` | many tests at once: `benjamini_hochberg` |
| `changes` | `advance`: takes the next points of a series and says whether its level changed; `SeriesState` is what it keeps |

Values are sequences or arrays of finite floats. NaN is refused with ValueError: to leave a value out is the caller's decision, and is
counted there. What is random is seeded by the values, so the same values give the same answer again.
Importing these modules loads scipy, so a command imports them only where it needs them.
"""
