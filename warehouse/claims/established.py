"""What is established of a query by its SQL alone: its guarantees, the clauses at which ties are tried, how exactly each
column is determined, and which tables under it have no rows where evidence of some kinds is all there is.

It takes as long as a replay and is the same for every number of a query, so it is remembered by the query's spec. The memory
lies beside the builds and may be deleted; with another version of wh or of the engine it is as if it were not there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from warehouse import __version__
from warehouse.claims.guarantees import guarantees
from warehouse.claims.operations import determinism_of
from warehouse.claims.tie_probe import tied_clauses
from warehouse.evidence.durable import replace_durably
from warehouse.transform.builds import FORM
from warehouse.transform.duck import engine_version

if TYPE_CHECKING:
    from warehouse.claims.catalog import Catalog
    from warehouse.project import Project

_FILE = ".established.json"


@dataclass(frozen=True)
class Established:
    """The documents that a publication has of its query: its guarantees, the clauses tried for ties by table, and the
    exactness of some columns."""

    guarantees: Mapping[str, Any]
    ties_tried: Mapping[str, int]
    columns: Mapping[str, Any]


def establish(catalog: "Catalog", query: str, tolerances: Mapping[str, float], columns: Collection[str]) -> Established:
    """What the SQL of a query, and of every table under it, tells of these columns. Reads no data."""
    exactness = determinism_of(catalog, query, tolerances, columns)
    return Established(
        guarantees(catalog, catalog.models[f"rollup.{query}"]), tied_clauses(catalog, query),
        {name: column.document() for name, column in exactness.items()},
    )


class EstablishedMemory:
    """What was established in a project before, by `query_spec_digest`."""

    def __init__(self, project: "Project") -> None:
        self._folder = project.builds
        self._known: dict[str, Established] = {}
        self._without_rows: dict[str, list[tuple[list[str], list[str]]]] = {}  # by spec, landing tables with rows and the models
        self._read()

    def knows(self, query_spec_digest: str) -> bool:
        """Whether anything is known of a query: then its SQL was sound."""
        return query_spec_digest in self._known

    def recall(self, query_spec_digest: str, columns: Collection[str]) -> Established | None:
        """What is known of a query, if it is known of all these columns."""
        found = self._known.get(query_spec_digest)
        return found if found and found.columns.keys() >= set(columns) else None

    def keep(self, query_spec_digest: str, established: Established) -> None:
        """Remember, beside the builds if these can be written; more columns of a query are added to those known."""
        before = self._known.get(query_spec_digest)
        more = replace(established, columns={**(before.columns if before else {}), **established.columns})
        if more != before:
            self._known[query_spec_digest] = more
            self._write()

    def recall_without_rows(self, query_spec_digest: str, landing: Collection[str]) -> frozenset[str] | None:
        """The models under a query that are known to have no rows where none but these landing tables have any."""
        for tables, models in self._without_rows.get(query_spec_digest, ()):
            if set(landing) <= set(tables):
                return frozenset(models)
        return None

    def keep_without_rows(self, query_spec_digest: str, landing: Collection[str], models: Collection[str]) -> None:
        """Remember what has no rows where none but these landing tables have any."""
        self._without_rows.setdefault(query_spec_digest, []).append((sorted(landing), sorted(models)))
        self._write()

    def _write(self) -> None:
        if self._folder.is_dir():
            known = {digest: asdict(found) for digest, found in self._known.items()}
            document = {"made_by": _made_by(), "known": known, "without_rows": self._without_rows}
            with suppress(OSError):  # on a disk that is full or only read, or while another thread writes: the verdict stands
                replace_durably(self._folder / _FILE, json.dumps(document).encode())

    def _read(self) -> None:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            document = json.loads((self._folder / _FILE).read_bytes())
            if document["made_by"] == _made_by():
                known = {digest: Established(**found) for digest, found in document["known"].items()}
                self._known = {digest: found for digest, found in known.items() if all(isinstance(part, dict) for part in vars(found).values())}
                self._without_rows = {
                    digest: [([*map(str, tables)], [*map(str, models)]) for tables, models in found]
                    for digest, found in document["without_rows"].items()
                }


def _made_by() -> list[Any]:
    return [FORM, __version__, engine_version()]
