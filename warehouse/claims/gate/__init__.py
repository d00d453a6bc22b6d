"""The gate: whether a number means what it claims, by a policy that is data.

| module | holds |
|---|---|
| `policy` | policies: files in `queries/policies/`, their rules and bounds |
| `evidence` | what a judgement is about: a number's observations, the runs that were left out, the looks at it |
| `checks` | what rules look at, each with a figure and the rows that it comes from |
| `judgement` | `judge`: a policy applied to the evidence of one number |
| `observed` | reads observations from a build, or from a replay |
| `accounting` | the runs that were launched and are in no number, each with the reason |
| `looks` | what changed in the runs of a number since earlier looks at it, as the ledger has them |
| `frozen` | judgements as a publication holds them |

`judge` is a pure function of what a publication records, so `wh verify` judges again.
"""
