"""What changed: comparisons of runs, numbers and builds, and changes of series over time. It reads a finished build and writes only
marks on findings, into the ledger.

Two tables, found by their roles, are all that is read of a project: `measurements` (one row per run and metric, with the digests that
say what is comparable) and `conditions` (what each run ran on and with, in long form).

| module | answers |
|---|---|
| `measurements` | the rows of a build, as values |
| `labels` | what people call a series |
| `sides` | which runs a person means |
| `conditions` | what differs between two sets of runs |
| `comparison` | what a comparison of two sides is made of: design, effect, verdict |
| `compare` | `wh compare`: all metrics of two sets of runs |
| `series` | series over time: the detector's state of each, kept beside the builds |
| `succession` | variants of a case that replaced each other, and runs that stand out among few |
| `changes` | `wh changes`: findings, what else changed there, and whether it is still so |
| `marks` | decisions on findings, in the ledger |
| `diff` | `wh diff`: two numbers, two builds |
| `drawing` | sparklines and SVG |

Rules that hold everywhere: a run is one value; the runs of one session are no replicates of sessions, so nothing is *confirmed* by one
session a side; a comparison in which more than one thing differs is exploratory, and is never confirmed.
"""
