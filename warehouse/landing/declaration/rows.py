"""The landing table `evidence_declaration`, the engine's own: one row a declaration in a bundle, and an issue for each rule that
one breaks; such a declaration states nothing, and still takes precedence over those above it. So a declaration counts beside the evidence of
any family, and no ingestor has to know of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from warehouse.landing.contract import Bundle
from warehouse.landing.declaration.judged import Declaration, judged
from warehouse.landing.declaration.part import Fault
from warehouse.landing.declaration.placing import ROLE, is_named_as_declaration, kind_by_name
from warehouse.landing.declaration.terms import BENCHMARK_RUN, PUBLICATION, REALISM, WORKLOAD_SPEC, Terms
from warehouse.landing.declaration.workload_spec import NO_GUARANTEES
from warehouse.landing.parse.batches import DECLARATION_TABLE
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.text import Report, landed_text
from warehouse.landing.rows import RowBuffer

_GRADE = "run_metadata.benchmark_grade"
_NOTHING = Terms()


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
    by_place: dict[tuple[str, str], list[_Found]] = defaultdict(list)
    for one in _found(bundle, buffer):
        by_place[one.declaration.kind or kind_by_name(one.raw_path), one.raw_folder].append(one)
    guaranteed = [
        folder for (kind, folder), same in by_place.items() if kind == BENCHMARK_RUN and _grade(same) == PUBLICATION
    ]
    for (kind, folder), same in by_place.items():
        terms = _told_terms(same, any(folder.startswith(above) for above in guaranteed))
        columns = {name: landed_text(value) if isinstance(value, str) else value for name, value in asdict(terms).items()}
        is_said = terms is not _NOTHING
        buffer.add(
            DECLARATION_TABLE, same[0].raw_path, 0, same[0].bytes, kind=kind, raw_folder=folder,
            workload_document=same[0].declaration.document if is_said else None,
            declared_spec_digest=same[0].declaration.digest if is_said else None, **columns,
        )


def _found(bundle: Bundle, buffer: RowBuffer) -> Iterator[_Found]:
    for file in sorted(bundle.manifest.files, key=lambda file: file.raw_path):
        if file.role == ROLE or is_named_as_declaration(file.raw_path):
            folder, slash, _ = file.raw_path.rpartition("/")
            report = Report(buffer, file.raw_path, None)
            yield _Found(file.raw_path, folder + slash, file.bytes, report, judged(document(bundle, file.raw_path, report)))


def _grade(same: list[_Found]) -> str | None:
    terms = same[0].declaration.terms
    return terms.benchmark_grade if terms and len(same) == 1 else None


def _told_terms(same: list[_Found], is_guaranteed: bool) -> Terms:
    """What the declarations of one kind in one folder say, and issues for what is wrong with them."""
    for one in same:
        if one.declaration.terms is None:
            for fault in one.declaration.faults:
                one.report("declaration-not-valid", str(fault), 0, 0, fault.line, "error")
        if len(same) > 1:
            one.report("declarations-compete", f"{len(same)} of one kind in one folder: all are ignored", severity="error")
    declaration = same[0].declaration
    terms = declaration.terms
    if terms is None or len(same) > 1:
        return _NOTHING
    if terms.grade_reason is None:
        return terms
    if declaration.kind == WORKLOAD_SPEC and is_guaranteed:
        return replace(terms, benchmark_grade=PUBLICATION, grade_reason=None)
    for fault in declaration.faults or (Fault(_GRADE, NO_GUARANTEES, declaration.lines.get(_GRADE)),):
        same[0].report("grade-downgraded", f"{PUBLICATION} to {REALISM}: {fault}", 0, 0, fault.line)
    return terms
