"""Project Thoth: inspections that Amun ran, campaigns of Dependency Monkey, and documents of Thoth's analysers.

An inspection is a build and N executions of one script, by `thoth-station/amun-api`: `build/{specification,log,Dockerfile}` and
`results/N/{result,hwinfo,log}`. A result is a run. Its script prints a performance indicator, as recordings do.
Not read: security indicators (bandit, cloc), the Dockerfile, and logs of results, which are empty.
"""

from __future__ import annotations

from warehouse.landing.family import Family

from .tables import TABLES

INGESTOR = Family(
    package=__name__, name="thoth", version=2, tables=TABLES,
    formats=(
        "Amun inspections: specification, build log and results with usage, hwinfo and a performance indicator",
        "Dependency Monkey: reports and inputs of campaigns (dependency_monkey_report.json, scheduled.txt, specification.json)",
        "thoth-adviser, thoth-solver and thoth-package-extract: result documents",
        "thoth-package-extract: lists of packages from logs of pip, yum and dnf",
    ),
)
