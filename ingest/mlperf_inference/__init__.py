"""MLPerf Inference submissions: closed, open and network divisions, rounds v0.5 to v6.x; and those of MLPerf Automotive, which has the same
layout and load generator, and rules of its own.

One bundle is one (division, submitter, platform, benchmark, scenario). Landing keeps what the files state, as
written; which key is the result of which scenario is the models' knowledge, not the parser's.
"""

from __future__ import annotations

from warehouse.landing.family import Family

from .tables import TABLES

INGESTOR = Family(
    package=__name__, name="mlperf_inference", version=9, tables=TABLES,
    formats=(
        "MLPerf Inference submissions, rounds v0.5 to v6.x: loadgen logs, accuracy and compliance reports, power logs,"
        " measurements and system descriptions",
        "MLPerf Automotive submissions, rounds v0.5 and v1.0, by their own rules",
    ),
)
