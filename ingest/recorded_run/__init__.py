"""Recordings made by `wh record`: one command, N runs, each with its resource usage, its host and its output.

A value that the recorder could not know is NULL, a run that failed is a row with that status.
"""

from __future__ import annotations

from warehouse.landing.family import Family

from .tables import TABLES

INGESTOR = Family(
    package=__name__, name="recorded_run", version=13, tables=TABLES,
    formats=(
        "recordings of wh record: a command's runs with output, resource usage, samples of host, processes and GPUs",
        "performance indicators in standard output: Thoth's JSON objects with @parameters and @result",
    ),
)
