"""What a comparison of two sides is made of.

| module | holds |
|---|---|
| `design` | how the runs of both sides were laid out in time: pairs, blocks, sessions |
| `judged_sides` | the effect on one metric with its interval, and what it is worth |
| `same_measurement` | which metrics are one measurement |
| `session_noise` | how much sessions of the testbed differ |
"""
