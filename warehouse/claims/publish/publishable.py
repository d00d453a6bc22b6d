"""What builds but could not be published: found in the SQL alone, before anything is run.

A query and every model under it, also one whose table is empty today, are annotated as a trace would annotate them. What is
found traceable is remembered beside the builds, so that only what an edit touched is looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from warehouse.claims.publish.non_evidence import BESIDE_EVIDENCE, beside_evidence_fault, refuse_beside_evidence
from warehouse.claims.publish.tie_probe import check_triable, cuts
from warehouse.errors import WarehouseError, by_place, printable
from warehouse.trace.catalog import BuiltModel, Catalog, catalog_of, rollup_columns
from warehouse.trace.empty_tables import EmptyTables
from warehouse.trace.inlined_views import Expansion, expanded
from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.provenance.syntax.refusals import MAX_QUOTED_CHARACTERS, REASONS, Refusal
from warehouse.trace.provenance.values import cells_read
from warehouse.trace.trace_step import row_tokens
from warehouse.transform.check.text_facts import TextFacts

if TYPE_CHECKING:
    from warehouse.project.project import Project
    from warehouse.transform.check.checked_project import CheckedProject

_SHOWN_QUERIES = 3
_Cells = list[list[str]]  # tables and columns; of ties, places and clauses


class Publishability(NamedTuple):
    """What `wh publish` would refuse, by place: with a WH306 at the first clause of each query, and of each model under one, whatever
    the evidence is; and with one at each clause of `notes` if rows tie there."""

    faults: list[WarehouseError]
    notes: list[WarehouseError]


def publishability(project: "Project", checked: "CheckedProject") -> Publishability:
    """Whether the queries of a project can be published, as far as their SQL tells."""
    from warehouse.transform.inputs.landing_tables import project_landing_types

    catalog = catalog_of(checked, project_landing_types(project))
    queries = [name for name, model in catalog.models.items() if model.schema == "rollup"]
    facts = TextFacts(project)
    static = _Static(catalog, facts)
    faults = sorted(_unpublishable(project, checked, static, queries), key=by_place)
    if not faults:
        for query in queries:  # so that publishing one of them asks nothing again
            facts.recall("publishable", catalog.meaning_of(query), lambda: True)
    facts.write()
    return Publishability(faults, sorted(_notes(static, queries), key=by_place))


def _notes(static: "_Static", queries: Sequence[str]) -> Iterator[WarehouseError]:
    for name, clauses in static.cuts.items():
        model = static.catalog.models[name]
        reading = [query for query in queries if query == name or model in static.catalog.under(query)]
        for offset, clause in clauses:
            quoted = clause[:MAX_QUOTED_CHARACTERS] + "..." * (len(clause) > MAX_QUOTED_CHARACTERS)
            message = f"{_listed(reading)} can be published only if no tie decides which rows are kept: {printable(quoted)}"
            refusal = Refusal("WH306", message, hint=REASONS["E_TIE"], offset=int(offset) if offset else None)
            yield static.expanded(model).fault(refusal)


def _unpublishable(
    project: "Project", checked: "CheckedProject", static: "_Static", queries: Sequence[str]
) -> Iterator[WarehouseError]:
    faults = _untraceable(static, queries, tries_ties=True)
    for name, fault in faults.items():
        # Each query alone: of a model under several, a column that cannot be traced stops only those that read it.
        stopped = [name] if name in queries else [q for q in queries if name in _untraceable(static, [q], tries_ties=True)]
        yield replace(fault, message=f"{_listed(stopped)} cannot be published: {fault.message}")
    yield from _depending_on_no_evidence(project, checked, static.catalog, queries)


def refuse_unpublishable(facts: TextFacts, catalog: Catalog, query: str, specification: Mapping[str, Any]) -> None:
    """Raise the WH306 of the first clause of a query, or of a model under it, that no trace could follow or that gives another
    answer each time; also of one that only decides which rows there are. Then that of a column that depends on what is not evidence."""
    name = f"rollup.{query}"

    def found() -> bool:
        for fault in _untraceable(_Static(catalog, facts), [name], tries_ties=False).values():
            raise fault
        refuse_beside_evidence(query, specification, catalog.landing_types, catalog.models[name].place)
        return True

    facts.recall("publishable", catalog.meaning_of(name), found)


def _listed(queries: Sequence[str]) -> str:
    names = [query.removeprefix("rollup.") for query in queries]
    more = len(names) - _SHOWN_QUERIES
    return ", ".join(names[:_SHOWN_QUERIES]) + (f" and {more} more" if more > 0 else "")


def _depending_on_no_evidence(
    project: "Project", checked: "CheckedProject", catalog: Catalog, queries: Sequence[str]
) -> Iterator[WarehouseError]:
    from warehouse.transform.lineage.columns import column_graph

    reading = [
        query for query in queries
        if any(BESIDE_EVIDENCE.keys() & set(model.reads) for model in (catalog.models[query], *catalog.under(query)))
    ]
    if not reading:
        return
    graph = column_graph(checked, catalog.landing_types, project.root)
    for query in reading:
        model = catalog.models[query]
        if fault := beside_evidence_fault(model.name, graph, model.place):
            yield replace(fault, message=f"{model.name} cannot be published: {fault.message}")


# --- tracing without data -----------------------------------------------------------------------------------------


def _untraceable(static: "_Static", queries: Sequence[str], *, tries_ties: bool) -> dict[str, WarehouseError]:
    """The faults of queries and of the models under them, by model. A view is in what reads it. Values of a model below one
    with a fault are not checked: which ones would be read is not known."""
    catalog = static.catalog
    under = {*queries, *(model.qualified for query in queries for model in catalog.under(query))}
    values = {query: set(rollup_columns(catalog, catalog.models[query])) - {*catalog.models[query].grain} for query in queries}
    faults: dict[str, WarehouseError] = {}
    for model in reversed(list(catalog.models.values())):
        if model.qualified in under and model.has_rows:
            try:
                written = static.expanded(model)
                cells = static.cells(written, sorted(values.get(model.qualified, ())))
                if tries_ties:
                    static.try_ties(model, written)
            except Refusal as refusal:
                faults[model.qualified] = written.fault(refusal)
            except WarehouseError as fault:
                faults[model.qualified] = fault
            else:
                for table, column in cells:
                    values.setdefault(table, set()).add(column)
    return faults


class _Static:
    """SQL annotated and bound on a catalog's tables without their rows, unless the memory has it."""

    def __init__(self, catalog: Catalog, facts: TextFacts) -> None:
        # Which tables have rows today is nothing that a text says.
        self.catalog, self._facts = replace(catalog, empty=frozenset()), facts
        self._tokens = row_tokens(self.catalog)
        self._written: dict[str, Expansion] = {}
        self.cuts: dict[str, list[list[str]]] = {}  # by model: place and SQL of each clause

    def expanded(self, model: BuiltModel) -> Expansion:
        if model.qualified not in self._written:
            self._written[model.qualified] = expanded(model, self.catalog)
        return self._written[model.qualified]

    def cells(self, written: Expansion, values: Sequence[str]) -> _Cells:
        """The columns of tables that the cells of `values` can be of. Raises `Refusal`."""

        def found() -> _Cells:
            annotated = annotate(written.text, self.catalog.by_any_name, self._tokens, values, is_cut=False)
            return sorted([self.catalog.resolve(table), column] for table, column in cells_read(annotated))

        return self._facts.recall("cells", [*self._meaning(written), *values], found)

    def try_ties(self, model: BuiltModel, written: Expansion) -> None:
        """Find the `cuts` of a model. Raises `Refusal` where no one could try whether ties decide the answer."""

        def found() -> _Cells:
            check_triable(self._empty.reading(model), written.text)
            return [["" if offset is None else str(offset), clause] for offset, clause in cuts(written.text, model.grain)]

        self.cuts[model.qualified] = self._facts.recall("cuts", [*model.grain, *self._meaning(written)], found)

    def _meaning(self, written: Expansion) -> list[Any]:
        """A text and the columns of all that it reads."""
        tables = sorted({table for piece in written.pieces for table in piece.model.reads})
        return [written.text, [[table, list(self.catalog.types_of(table).items())] for table in tables]]

    @cached_property
    def _empty(self) -> EmptyTables:
        return EmptyTables(self.catalog)
