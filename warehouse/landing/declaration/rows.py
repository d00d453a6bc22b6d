"""The landing table `evidence_declaration`, the engine's own: one row a declaration in a bundle that holds, and an issue for
each rule that one breaks. So a declaration counts beside the evidence of any family, and no ingestor has to know of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from warehouse.landing.batches import DECLARATION_TABLE
from warehouse.landing.contract import Bundle
from warehouse.landing.declaration.judged import BENCHMARK_RUN, Declaration, judged
from warehouse.landing.declaration.part import Fault
from warehouse.landing.declaration.placing import ROLE, is_named_as_declaration
from warehouse.landing.declaration.terms import PUBLICATION
from warehouse.landing.declaration.workload_spec import NO_GUARANTEES
from warehouse.landing.entries import document
from warehouse.landing.rows import RowBuffer
from warehouse.landing.text import Report, landed_text

_GRADE = "run_metadata.benchmark_grade"


@dataclass(frozen=True)
class _Found:
    raw_path: str
    raw_folder: str
    bytes: int
    report: Report
    declaration: Declaration


def without_declarations(bundle: Bundle) -> Bundle:
    """The bundle as its ingestor cut it."""
    files = tuple(file for file in bundle.manifest.files if file.role != ROLE)
    return bundle if len(files) == len(bundle.manifest.files) else replace(bundle, manifest=replace(bundle.manifest, files=files))


def add_declarations(bundle: Bundle, buffer: RowBuffer) -> None:
    """Add the rows and issues of a bundle's declarations. Raises WH105 or WH106 when their stored bytes are damaged."""
    found = list(_found(bundle, buffer))
    by_place = defaultdict(list)
    for one in found:
        _tell(one)
        if one.declaration.terms is not None:
            by_place[one.declaration.kind, one.raw_folder].append(one)
    guaranteed = {folder for (kind, folder), (one, *_) in by_place.items() if kind == BENCHMARK_RUN and _is_publication(one)}
    for (kind, folder), same in by_place.items():
        if len(same) > 1:
            for one in same:
                one.report("declarations-compete", f"{len(same)} of kind {kind} in one folder: none counts", severity="error")
        else:
            _add(same[0], any(folder.startswith(above) for above in guaranteed), buffer)


def _found(bundle: Bundle, buffer: RowBuffer) -> Iterator[_Found]:
    for file in bundle.manifest.files:
        if file.role == ROLE or is_named_as_declaration(file.raw_path):
            folder, slash, _ = file.raw_path.rpartition("/")
            report = Report(buffer, file.raw_path, None)
            yield _Found(file.raw_path, folder + slash, file.bytes, report, judged(document(bundle, file.raw_path, report)))


def _is_publication(one: _Found) -> bool:
    terms = one.declaration.terms
    return terms is not None and terms.benchmark_grade == PUBLICATION


def _tell(one: _Found) -> None:
    """Issues for the rules that are broken: errors, for nothing of the declaration counts, unless all they cost is its grade."""
    is_lost = one.declaration.terms is None
    for fault in one.declaration.faults:
        if is_lost or not fault.costs_grade:
            one.report("declaration-not-valid", str(fault), 0, 0, fault.line, "error")


def _add(one: _Found, is_guaranteed: bool, buffer: RowBuffer) -> None:
    declaration = one.declaration
    assert declaration.kind and declaration.terms
    terms = declaration.terms
    if declaration.kind != BENCHMARK_RUN and terms.grade_reason and is_guaranteed:
        terms = replace(terms, benchmark_grade=PUBLICATION, grade_reason=None)
    elif terms.grade_reason:
        _tell_grade(one, declaration.faults or (Fault(_GRADE, NO_GUARANTEES, declaration.lines.get(_GRADE)),))
    columns = {name: landed_text(value) if isinstance(value, str) else value for name, value in asdict(terms).items()}
    buffer.add(
        DECLARATION_TABLE, one.raw_path, 0, one.bytes,
        kind=declaration.kind, raw_folder=one.raw_folder, workload_document=declaration.document,
        declared_spec_digest=declaration.digest, **columns,
    )


def _tell_grade(one: _Found, lost: tuple[Fault, ...]) -> None:
    for fault in lost:
        one.report("grade-downgraded", f"{PUBLICATION} to realism_grade: {fault}", 0, 0, fault.line)
