"""The rules of a workload spec, the contract's freeze document: few, since those in use deviate freely from its template; and
what one says of a run. What a filled spec leaves empty is not stated."""

from __future__ import annotations

from typing import Any

from warehouse.landing.declaration.part import Part
from warehouse.landing.declaration.terms import PUBLICATION, REALISM, Terms, grade_reason

SECTIONS = (
    "run_metadata", "comparison_axis", "workload", "execution", "measurement_policy", "metrics", "diagnosis_policy", "artifacts",
)
_GRADES = {"publication": PUBLICATION, "realism": REALISM, PUBLICATION: PUBLICATION, REALISM: REALISM}
# What each use is for, and how often it is made.
_USES: dict[str, tuple[str, str | None]] = {
    "engineering_debug": ("exploratory", None), "canary": ("validation", "canary"), "nightly": ("validation", "nightly"),
    "release_gate": ("validation", "pre_release"), "rfp": ("publication", None), "analyst_briefing": ("publication", None),
    "publication": ("publication", None),
}
NO_GUARANTEES = f"a workload spec has none: put them in a BenchmarkRun beside it that is {PUBLICATION}"


def check(document: Part) -> None:
    """Tell every rule that the document breaks."""
    metadata = document["run_metadata"].mapping()
    metadata["benchmark_layer"].choice(("micro", "component", "end_to_end"))
    metadata["benchmark_grade"].choice(tuple(_GRADES))
    metadata["use_case"].choice(tuple(_USES))
    document["workload"].mapping()["type"].choice(("training", "inference", "mixed"))
    for section in SECTIONS:
        if document[section].value is not None and section not in ("run_metadata", "workload"):
            document[section].mapping()
    trials = document["measurement_policy"]["trials"]
    if trials.value is not None:
        trials.integer(1)


def terms(document: Part) -> Terms:
    """What a document without faults says of a run; of a publication grade, what it says by itself."""
    metadata, workload, execution = document["run_metadata"], document["workload"], document["execution"]
    intent, cadence = _USES[metadata["use_case"].value]
    is_publication = _GRADES[metadata["benchmark_grade"].value] == PUBLICATION
    lengths, serving, scheduler = workload["input_distribution"], workload["serving_contract"], execution["scheduler_path"]
    points = workload["concurrency_model"]["values"].value
    point = points[0] if isinstance(points, list) and len(points) == 1 else None
    return Terms(
        intent=intent,
        cadence=cadence,
        benchmark_grade=REALISM,
        grade_reason=grade_reason([NO_GUARANTEES]) if is_publication else None,
        scheduler_path=_text(scheduler["control_plane_path"]) or _text(scheduler["platform"]),
        model=_text(workload["model"]["name"]),
        precision=_text(workload["model"]["precision"]),
        protocol=_text(serving["protocol"]),
        deployment_model=_text(serving["deployment_model"]),
        batching_policy=_text(workload["batching_policy"]["mode"]),
        concurrency_point=point if isinstance(point, int) and not isinstance(point, bool) and 0 < point < 2**53 else None,
        prompt_distribution=_lengths(lengths["prompt_tokens"].value) or _lengths(lengths["sequence_length_mix"].value),
        completion_distribution=_lengths(lengths["completion_tokens"].value),
    )


def _text(part: Part) -> str | None:
    return part.value or None if isinstance(part.value, str) else None


def _lengths(stated: Any) -> str | None:
    """Token counts by quantile as in `p50=128, p95=512`, or a list of them."""
    if isinstance(stated, dict):
        return ", ".join(f"{key}={value}" for key, value in stated.items() if isinstance(value, int | float | str)) or None
    if isinstance(stated, list):
        return ", ".join(str(value) for value in stated if isinstance(value, int | float | str)) or None
    return str(stated) if isinstance(stated, int | float | str) and stated != "" else None
