"""What a declaration says of a run, in the warehouse's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BENCHMARK_RUN, WORKLOAD_SPEC = "BenchmarkRun", "WorkloadSpec"  # the kinds of declarations
PUBLICATION, REALISM = "publication_grade", "realism_grade"


@dataclass(frozen=True)
class Terms:
    """Columns of `benchmark_run_fact` and `workload_dim`; None where the declaration does not say. `grade_reason` says why
    `benchmark_grade` is less than what was declared."""

    intent: str | None = None
    cadence: str | None = None
    benchmark_grade: str | None = None
    grade_reason: str | None = None
    scheduler_path: str | None = None
    model: str | None = None
    precision: str | None = None
    protocol: str | None = None
    deployment_model: str | None = None
    batching_policy: str | None = None
    concurrency_point: int | None = None
    prompt_distribution: str | None = None
    completion_distribution: str | None = None


def cadence_of(stated: str) -> str:
    """A cadence by its one name: the contract writes `preRelease` beside `pre_release`."""
    return "pre_release" if stated.casefold().replace("-", "_") in ("prerelease", "pre_release") else stated


def grade_reason(lost: Sequence[str]) -> str:
    """Why a run that was declared publication-grade is realism-grade: a run without the guarantees of its grade is not to go
    on as if it had them (the contract's Kubernetes service, *Publication-Grade Mode*)."""
    return f"declared {PUBLICATION}, without its guarantees: {'; '.join(lost)}"
