"""The spec of a published query as the store keeps it: read whole, checked against its digest down to the leaves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow, spec_key
from warehouse.digest import canonical_document, number_id
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.check.digests import document_digest, is_query_spec, parents_of
from warehouse.transform.project.claim import claim_of

_OF_A_STATISTIC = ("interval_low", "interval_high", "minimum", "maximum")  # columns that are in the unit of the statistic beside them
_COLUMN = re.compile(r"observation\.(\w+)")


@dataclass(frozen=True)
class Specification:
    """A query's spec: its digest, the document of `transform.check.digests.specification`, and the (name, digest) of every model
    under it, nearest first."""

    digest: str
    document: Mapping[str, Any]
    models: tuple[tuple[str, str], ...]
    place: str

    def check_number(self, row: PublishedRow, cell: PublishedCell) -> None:
        """A number id commits to its cell and value, and a cell without a value has none: one that does otherwise was not made
        by `publish`. Raises WH307."""
        query = str(self.document["document"]["name"]).partition(".")[2]
        try:
            grain = [row.grain_forms[name] for name in self.document["document"]["contract"]["grain"]]
        except KeyError as error:
            raise self._torn(f"a row has no {error}") from error
        sql = self.document["document"]["sql"]
        committed = None if cell.form is None else number_id(query, sql, grain, cell.column, cell.form)
        if committed != cell.number_id:
            raise self._torn(f"{cell.number_id} does not commit to the value {cell.value!r} beside it")

    def _torn(self, message: str) -> WarehouseError:
        return _torn(message, self.place)


def read_specification(project: Project, publication: PublishedRollup) -> Specification:
    """The spec that a publication names. Raises WH307 when it is missing, is not what its digest is of, or is another query's."""
    specification = stored_specification(project, str(publication.record["query_spec_digest"]))
    made = specification.document["document"]
    if f"rollup.{publication.query}" != made["name"]:
        raise _torn(f"it is of {publication.query!r}, and its spec of {made['name']!r}", specification.place)
    engine = publication.record.get("engine", {})
    if any(engine.get(part) != said for part, said in made["engine"].items()):
        raise _torn("it was made on another engine than its spec", specification.place)
    return specification


def stored_specification(project: Project, digest: str) -> Specification:
    """A spec that was published, by its digest. Raises WH307."""
    objects = open_store(project).objects
    place = f"{objects.url}/{spec_key(digest)}"
    try:
        return parse_specification(objects.read(spec_key(digest)), digest, place)
    except FileNotFoundError as error:
        raise WarehouseError(
            "WH307", "the query's spec is missing", place, "publish the query again, or restore the store from a copy",
            ExitCode.MISSING,
        ) from error
    except OSError as error:
        raise _torn(str(error), place) from error


@dataclass(frozen=True)
class Units:
    """The units of a query's columns: those that its spec declares, and else what each row states. `statistics` are the columns in the unit of
    the metric that a row is of, `claimed` the columns of observations that claimed numbers are statistics of."""

    declared: Mapping[str, str] = field(default_factory=dict)
    statistics: frozenset[str] = frozenset()
    claimed: Mapping[str, str] = field(default_factory=dict)

    def of(self, column: str, row: Mapping[str, Any]) -> str | None:
        """The unit of a column in a row of values: for `performance_result` what `performance_result_unit` or `performance_unit` holds,
        for a number claimed of `performance` what `performance_unit` holds, and for a statistic what `unit` holds."""
        of = (column, column.rpartition("_")[0], self.claimed.get(column, column))
        holders = [*(f"{name}_unit" for name in of), *(["unit"] if column in self.statistics else [])]
        return self.declared.get(column) or next((str(row[name]) for name in holders if isinstance(row.get(name), str)), None)

    def of_cell(self, column: str, row: PublishedRow) -> str | None:
        return self.of(column, {**{name: cell.value for name, cell in row.cells.items()}, **row.grain})


def units_of(specification: Mapping[str, Any]) -> Units:
    """The units of a query by its spec."""
    document = specification["document"]
    claimed = claim_of(document["claim"]).numbers
    # A row with statistics of several figures does not say which of them its one unit belongs to.
    statistics = frozenset([*claimed, *_OF_A_STATISTIC]) if len({number.of for number in claimed.values()}) == 1 else frozenset()
    of = {name: column[1] for name, number in claimed.items() if (column := _COLUMN.fullmatch(number.of))}
    return Units({str(name): str(unit) for name, _, unit in document["contract"]["columns"] if unit}, statistics, of)


@lru_cache(maxsize=8)  # a number's spec is asked for by several; who gets it does not change it
def parse_specification(data: bytes, digest: str, place: str) -> Specification:
    """The spec in `data`, of which its digest covers every byte. Raises WH307 for any other bytes."""
    try:
        document = canonical_document(data)
        models = tuple(_models(document, digest))
        if document != {"query_spec_digest": digest, "document": document["document"], "models": document["models"]}:
            raise ValueError("it has keys that a spec does not have")
        if document["models"].keys() != {model for _, model in models}:
            raise ValueError("it has models that the query does not read")
        return Specification(digest, document, models, place)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _torn(str(error), place) from error


def _torn(message: str, place: str) -> WarehouseError:
    return WarehouseError(
        "WH307", f"the publication and its spec contradict each other: {message}", place, exit_code=ExitCode.TAMPERED
    )


def _models(specification: dict[str, Any], digest: str) -> list[tuple[str, str]]:
    if not document_digest(specification["document"]) == digest == specification["query_spec_digest"]:
        raise ValueError("the document differs from its digest")
    if not is_query_spec(specification["document"]):
        raise ValueError("the document is a model's, not a query spec's")
    listed: dict[str, str] = {}
    pending = parents_of(specification["document"])
    while pending:
        parent = pending.pop(0)
        document = specification["models"][parent["digest"]]
        if document_digest(document) != parent["digest"]:
            raise ValueError(f"model {parent['name']} differs from its digest")
        if parent["name"] not in listed:
            listed[parent["name"]] = parent["digest"]
            pending += parents_of(document)
    return list(listed.items())

