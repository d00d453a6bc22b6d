"""What is wrong with a description that only its samples show: a sample that is not recognised, and a path that leads nowhere in any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from warehouse.errors import WarehouseError, printable
from warehouse.landing.described.expressions import Expression, Scope
from warehouse.landing.described.forms.nodes import Node
from warehouse.landing.described.forms.sources import JSON, XML
from warehouse.landing.described.layout import Description, Layout, Metric
from warehouse.landing.described.reading import runs_of, tree_of
from warehouse.landing.described.recognition import HEAD_BYTES, missing, recognised
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

_MOST_BYTES = 4 << 20  # of a sample
_NO_SAMPLE = (".toml", ".py", ".md")


def _first(data: bytes, limit: int) -> bytes:
    return data[:limit]


def samples_of(description: Description, folder: Path) -> list[Path]:
    """The samples beside a description: all files that its `files` names, and `sample*`."""
    beside = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith(".") and path.suffix not in _NO_SAMPLE]
    return [
        path for path in beside
        if path.stat().st_size <= _MOST_BYTES and (path.name.startswith("sample") or any(fnmatchcase(path.name, each) for each in description.files))
    ]


def description_faults(description: Description, folder: Path, place: str) -> Iterator[WarehouseError]:
    """Faults by the samples beside a description. Without a sample there are none."""
    samples = samples_of(description, folder)
    sampled: dict[tuple[str, str], list[tuple[Metric, bool]]] = {}  # series, and whether a sample has a value of it
    read: dict[int, list[tuple[Node, list[Scope]]]] = {}
    for sample in samples:
        data = sample.read_bytes()
        found = recognised(description, data[:HEAD_BYTES], len(data), partial(_first, data))
        if found is None:
            yield WarehouseError("WH121", f"{printable(sample.name)} is not recognised: {_lacks(description, data)}", place)
            continue
        report = Report(RowBuffer({}, ""), sample.name, None)
        root = tree_of(description, description.layouts[found.layout], found.form, data, report)
        layout = description.layouts[found.layout]
        scopes = [] if root is None else [scope for run in runs_of(layout, root, report) for scope in run]
        moments: list[Scope] = [] if root is None or layout.telemetry is None else list(layout.telemetry.each.scopes(Scope(root, "")))
        for series in layout.telemetry.series if layout.telemetry else ():
            sampled.setdefault((series.name.text, series.value.text), []).append((series, _has_value(series, moments)))
        if (root is None or not scopes) and not (moments and not layout.has_runs):
            where = f" where {layout.where.text}" if layout.where else ""
            yield WarehouseError("WH121", f"{printable(sample.name)}: no record in {layout.each.text}{where}", place)
        elif root is not None and scopes:
            read.setdefault(found.layout, []).append((root, scopes))
    yield from (_fault(name, found[0][0].value, place) for (name, _), found in sampled.items() if not any(has_value for _, has_value in found))
    used = [scope for each in read.values() for _, scopes in each for scope in scopes]
    for number, layout in enumerate(description.layouts):
        if number in read:
            scopes = [scope for _, each in read[number] for scope in each]
            yield from _missing(layout, scopes, used, place)


def _lacks(description: Description, data: bytes) -> str:
    """What a sample lacks of what is required: of several layouts and forms, of the nearest."""
    head, is_whole = data[:HEAD_BYTES], len(data) <= HEAD_BYTES
    parts = {form: data if form in (JSON, XML) else head for form in description.forms}
    lacking = min((missing(description, layout, form, part, is_whole) for layout in description.layouts for form, part in parts.items()), key=len)
    if not lacking:
        return f"no file of the form {' or '.join(description.forms)}"
    return f"it has no {', '.join(each.text for each in lacking[:5])}"


def _missing(layout: Layout, scopes: list[Scope], used: list[Scope], place: str) -> Iterator[WarehouseError]:
    """The metrics, and the case, without a value in any sample of the layout; a metric of another version has one there."""
    case = layout.texts.get("case")
    if case is not None and not any(case.of(scope) for scope in scopes):
        yield _fault("run.case", case, place)
    for metric in (*layout.metrics, *(replace(each, each=rows.each) for rows in (layout.requests, layout.fabric) if rows for each in rows.numbers)):
        if not _has_value(metric, [*scopes, *used]):
            yield _fault(metric.name.text, metric.value, place)


def _has_value(metric: Metric, scopes: list[Scope]) -> bool:
    """Whether a metric has a value anywhere; one with a condition, but of elements, may have none."""
    if metric.each is not None:
        return any(metric.value.of(each) for scope in scopes for each in metric.each.scopes(scope))
    return metric.when is not None or any(metric.value.of(scope) for scope in scopes)


def _fault(what: str, expression: Expression, place: str) -> WarehouseError:
    return WarehouseError("WH121", f"{what}: {expression.text} has no value in any sample", place, "correct the path, or add a sample that has it")
