"""Whether the rows that are about to be published are what their evidence gives: it is parsed and the query run on it, as `wh verify` will.

The rows come from a build, and that from landing tables: whoever changed one of these, or a fault of an update, would be found only later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warehouse.claims.publish.guarantees import YES
from warehouse.claims.publish.publication import ROWS, PublishedRow, read_row
from warehouse.claims.verify.completeness import difference
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.run_decisions import named_decisions
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.trace.determinism import EXACT, Determinism, equals

if TYPE_CHECKING:
    from warehouse.claims.publish.freezing import FrozenRows

_BUILD_AGAIN = "delete the folder landing of the store and the project's builds, then run: wh build"


def check_reproduced(
    project: Project, specification: Mapping[str, Any], frozen: "FrozenRows", determined: Mapping[str, Determinism],
    guarantees: Mapping[str, Any], decisions: Sequence[Mapping[str, str]], built: frozenset[str], place: str,
) -> None:
    """Replay a query from the bundles of its rows and, where other evidence may have kept rows away, from all that is `built`, until one
    of them gives its rows. Raises WH303 where none does, WH309 where ingestors have changed since the build."""
    from warehouse.claims.verify.parsed import Parsed
    from warehouse.claims.verify.replay import Replayer

    def is_same(form: Any, cell: Any) -> bool:
        return equals(form, cell.form, Determinism(EXACT) if cell.is_exact else determined[cell.column]) is not None

    grain = specification["document"]["contract"]["grain"]
    found: str | WarehouseError = ""
    with closing(Parsed(project)) as parsed:
        try:
            replayer = Replayer(project, specification, parsed, named_decisions(open_store(project).objects, decisions)[0])
            changed = replayer.changed_parsers(frozen.bundles)
        except WarehouseError as error:
            raise WarehouseError(error.code, error.message, error.place, "run: wh build") from error
        if changed:
            raise WarehouseError("WH309", f"{', '.join(changed)}: the ingestor has changed since the build", place, "run: wh build")
        for bundles in _evidence(frozen, guarantees, built):
            try:
                found = difference(_rows(frozen), replayer.replay(bundles, grain).rows, is_same) or ""
            except WarehouseError as error:  # over so few rows the SQL may fail where it did not
                found = error
            if not found:
                return
    if isinstance(found, WarehouseError):
        raise found
    raise WarehouseError(
        "WH303", f"the build's rollup is not what a replay of its evidence gives, which has {found}", place, _BUILD_AGAIN
    )


def _evidence(frozen: "FrozenRows", guarantees: Mapping[str, Any], built: frozenset[str]) -> Iterator[frozenset[str]]:
    if frozen.bundles:
        yield frozen.bundles
    if not frozen.bundles or guarantees["G3"]["holds"] != YES:
        yield built


def _rows(frozen: "FrozenRows") -> Iterator[PublishedRow]:
    no_runs: defaultdict[str, tuple[Any, ...]] = defaultdict(tuple)  # runs are not compared
    return (read_row(line, no_runs) for line in BytesIO(frozen.content[ROWS]))
