"""Landing tables in a session: their Parquet files, each checked against its digest, in an order that has no history.

In which batches evidence was parsed depends on when it arrived; what a query sees must not, or a sum of floats would.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.landing.batches import LandingFile, check_landing_file
from warehouse.transform.duck import quote, text_literal

if TYPE_CHECKING:
    import duckdb

_GLOB = re.compile(r"[*?\[]")


def open_landing_table(
    con: "duckdb.DuckDBPyConnection", table: str, types: Mapping[str, str], files: Sequence[LandingFile]
) -> None:
    """Give a session one landing table under its name. Raises WH123 when a file is missing or not what its batch says."""
    for file in files:
        check_landing_file(file)
    paths = ", ".join(path_literal(str(file.path)) for file in files)
    if not files:
        columns = ", ".join(f"{quote(name)} {kind}" for name, kind in types.items())
        con.execute(f"create temp table {quote(table)} ({columns})")
    elif len(files) == 1:
        # Within a batch rows are in the order of their manifests' digests already.
        con.execute(f"create temp view {quote(table)} as select * from read_parquet([{paths}])")
    else:
        # A table, not a view: the optimizer may drop a view's order under an aggregate that it takes for insensitive.
        con.execute(
            f"create temp table {quote(table)} as select * exclude (file_row_number) from"
            f" read_parquet([{paths}], file_row_number = true) order by artifact_manifest_digest, file_row_number"
        )


def path_literal(path: str) -> str:
    """A SQL literal of exactly one path: a folder named `a[b]` is no pattern."""
    return text_literal(_GLOB.sub(lambda match: f"[{match[0]}]", path))
