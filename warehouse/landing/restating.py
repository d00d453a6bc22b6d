"""Which drafts are left, once a family has proved that files of another only restate its own measurements, or are parts of them.

A measurement is one run: InferenceX writes a record of what AIPerf measured, and both tools' files are evidence of one run. A suite
that ran nccl-tests wrote the results down, and they are evidence of the suite's run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from warehouse.landing.contract import BundleDraft

RECORDS = "records"  # of a bundle's identity: by raw_path, the numbers of a file's records that the bundle is about

_Restated = Mapping[str, set[int]]  # by path: the numbers of the records that are restatements


def without_restatements(claims: list[tuple[str, BundleDraft]], preferred: str | None = None) -> list[tuple[str, BundleDraft]]:
    """The claims without the records that another family's draft takes for restatements of its own measurement, and without
    the drafts that are then about nothing, or about files alone that another family's draft is the sole one of. Those of `preferred`
    stay whole."""
    by_family: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    sole: dict[str, str] = {}
    for family, draft in claims:
        for file in draft.files:
            if file.is_sole:
                sole[file.file.path] = family
            if file.is_restatement and file.records is not None:
                by_family[family][file.file.path].update(file.records)
    found = []
    for family, draft in claims:
        for other, restated in by_family.items():
            if other != family != preferred:
                draft = _without(draft, restated)
        is_anothers = all(sole.get(file.file.path, family) != family for file in draft.files)
        if draft.files and (family == preferred or not is_anothers):
            found.append((family, draft))
    return found


def _without(draft: BundleDraft, restated: _Restated) -> BundleDraft:
    about = [(file, number) for file in draft.files if not file.is_restatement for number in file.records or ()]
    left = [(file, number) for file, number in about if number not in restated.get(file.file.path, ())]
    if len(left) == len(about):
        return draft
    if not left:
        return BundleDraft(())
    numbers = {file.raw_path: tuple(number for other, number in left if other is file) for file, _ in about}
    files = tuple(
        replace(file, records=numbers.get(file.raw_path, file.records))
        for file in draft.files if numbers.get(file.raw_path) != ()
    )
    records = {raw_path: list(kept) for raw_path, kept in numbers.items() if kept}
    runs = tuple(run for run, item in zip(draft.runs, about, strict=True) if item in left) if len(draft.runs) == len(about) else draft.runs
    return replace(draft, files=files, identity={**draft.identity, RECORDS: records}, runs=runs)
