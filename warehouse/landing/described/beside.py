"""Telemetry that lies beside results: InferenceX writes `gpu_metrics.csv` into the folder of the run that it sampled.

Such a file names no node and no run; that it was copied together with the results is all that is known. Its bundle states this, by the sha256 and
the names that the result files have in their bundles, because local paths are in no manifest. So the bundles of the results do not depend on
whether telemetry lay beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from warehouse.digest import file_digest
from warehouse.landing.contract import BundleDraft, DraftFile

BESIDE = "beside"  # of a bundle's identity
_MOST_BESIDE = 64  # files of results in a folder: with more, the file is of the folder, and of none of its runs


def with_results_beside(claims: Iterable[tuple[str, BundleDraft]], telemetry: frozenset[str]) -> list[tuple[str, BundleDraft]]:
    """The claims, where those of the families of `telemetry` name the files of results in their folder."""
    claims = list(claims)
    results: dict[str, dict[str, DraftFile]] = defaultdict(dict)
    if any(family in telemetry for family, _ in claims):
        for family, draft in claims:
            first = draft.files[0]
            if family not in telemetry:
                results[_folder(first.file.path)][first.file.path] = first
    return [(family, _with(draft, results.get(_folder(draft.files[0].file.path), {})) if family in telemetry else draft) for family, draft in claims]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _with(draft: BundleDraft, results: dict[str, DraftFile]) -> BundleDraft:
    if not 0 < len(results) <= _MOST_BESIDE:
        return draft
    try:
        digests = sorted({f"{file_digest(file.file.source)} {file.raw_path}" for file in results.values()})
    except OSError:  # what cannot be read is told when it is copied
        return draft
    return replace(draft, identity={**draft.identity, BESIDE: digests})
