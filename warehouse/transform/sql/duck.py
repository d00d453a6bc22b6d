"""DuckDB sessions with pinned settings, and how names and values are written for them.

Every session the warehouse opens comes from here, so that what a build was made with is what its record says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from warehouse.transform.sql.engine_faults import translated
from warehouse.transform.sql.text import unended

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.project.model import Model

# Order of rows and of float additions must not depend on the machine: one thread gives one answer
# (sum(double) gave 11 answers in 12 runs on two threads, see benchmarks/README.md).
PINNED_SETTINGS: Mapping[str, Any] = {
    "TimeZone": "UTC",
    "default_null_order": "NULLS_LAST",
    "integer_division": False,
    "preserve_insertion_order": True,
    # Else a join hands on what few rows of one vector it let through after the many of the next: first(), list() and sums of
    # floats would depend on which other rows there are.
    "enable_caching_operators": False,
    # It adds floats in groups before a join where statistics say that this is less work; and DuckDB 2.0.0 fails with it on some correlated
    # aggregates in annotated SQL ("Attempted to access index 0 within vector of size 0").
    "disabled_optimizers": "partial_aggregate_pushdown",
    "threads": 1,
}
# Those that records of former versions lack. They change the last bits of floats, and no other value.
LATER_SETTINGS = frozenset(("disabled_optimizers",))
_OWN_SETTINGS: Mapping[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "errors_as_json": True,
    "enable_progress_bar": False,  # it would go to stdout, which is data
    "python_enable_replacements": False,  # SQL names tables: a Python variable that happens to have the name is not one
}
# For a new database. A table takes several blocks however few its rows: of the engine's own 256 KiB, a thousand small
# tables make 263 MB, of these 66 MB; large tables take the same room (benchmarks/README.md).
_BLOCK_BYTES = 65536
# Else an engine starts a thread a core, only to end them at the first setting: a quarter of its 17 ms on two cores.
_ONE_THREAD: Mapping[str, str] = {"threads": "1"}
_STORAGE_VERSION = "v1.4.0"  # of new files: DuckDB 1.4 and every later one opens them
# `main` last: a build has a view there for every bare name (`other_clients`), and the tables themselves come first.
SEARCH_PATH = "staging,mart,rollup,source,main"
_GLOB = re.compile(r"[*?\[]")


def connect(
    path: Path | None = None, *, read_only: bool = False, files_root: Path | None = None
) -> "duckdb.DuckDBPyConnection":
    """A session on a database file, or in memory, with the pinned settings. It finds files whose path is relative from
    `files_root`."""
    import duckdb

    # A build's own file name never changes its content, so the resolved path is safe to cache by.
    database = str(path.resolve()) if path else ":memory:"
    if path and not read_only and not path.exists():
        _create(database)
    return _with_settings(duckdb.connect(database, read_only=read_only, config={"default_block_size": str(_BLOCK_BYTES), **_ONE_THREAD}), files_root)


def asking(files_root: Path | None = None) -> "duckdb.DuckDBPyConnection":
    """A session in memory for questions, which makes no table and changes no setting that is not its own: those of a process share an engine,
    for to start one takes 15 ms."""
    return _with_settings(_engine().cursor(), files_root)


@contextmanager
def scratch(files_root: Path | None = None) -> "Iterator[duckdb.DuckDBPyConnection]":
    """The same with tables of its own, which go with it."""
    name = f"scratch_{next(_NUMBERS)}"
    with _engine().cursor() as other:
        other.execute(f"attach ':memory:' as {name}")
        try:
            with asking(files_root) as con:
                con.execute(f"use {name}")
                yield con
        finally:
            other.execute(f"detach {name}")


def cursor(con: "duckdb.DuckDBPyConnection") -> "duckdb.DuckDBPyConnection":
    """Another session on the database of a session, which has its tables but temporary ones. Settings such as the time zone are of one session."""
    return _with_settings(con.cursor(), None)


_NUMBERS = count()


_ENGINES: "list[duckdb.DuckDBPyConnection]" = []
_STARTING = Lock()


def _engine() -> "duckdb.DuckDBPyConnection":
    import duckdb

    with _STARTING:  # of threads that ask at once
        if not _ENGINES:
            _ENGINES.append(duckdb.connect(":memory:", config={**_ONE_THREAD}))
    return _ENGINES[0]


def _with_settings(con: "duckdb.DuckDBPyConnection", files_root: Path | None) -> "duckdb.DuckDBPyConnection":
    settings = {**PINNED_SETTINGS, **_OWN_SETTINGS, **({"file_search_path": str(files_root.resolve())} if files_root else {})}
    con.execute(";".join(f"set {name} = {_literal(value)}" for name, value in settings.items()))  # each by itself takes 1 ms more in all
    return con


def _create(database: str) -> None:
    """An empty file. As a setting of the session, the version would change what json_serialize_sql() makes."""
    name = f"created_{next(_NUMBERS)}"
    with _engine().cursor() as con:
        con.execute(f"attach {text_literal(database)} as {name} (storage_version '{_STORAGE_VERSION}', block_size {_BLOCK_BYTES})")
        con.execute(f"detach {name}")


def disable_optimizers(con: "duckdb.DuckDBPyConnection", *names: str) -> None:
    """Run further statements without these passes of the optimizer, and without those that no session has."""
    con.execute(f"set disabled_optimizers = {text_literal(','.join((PINNED_SETTINGS['disabled_optimizers'], *names)))}")


def engine_version() -> str:
    import duckdb

    return duckdb.__version__


def quote(name: str) -> str:
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quoted(qualified: str) -> str:
    """`schema.name` as SQL identifiers."""
    return ".".join(quote(part) for part in qualified.split("."))


def text_literal(value: str) -> str:
    """A SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def path_literal(path: str) -> str:
    """A SQL literal of exactly one path: a folder named `a[b]` is no pattern."""
    return text_literal(_GLOB.sub(lambda match: f"[{match[0]}]", path))


def parquet(files: "Iterable[Path]", *options: str) -> str:
    """SQL for the rows of these Parquet files."""
    return parquet_at((path_literal(str(file)) for file in files), *options)


def parquet_at(literals: "Iterable[str]", *options: str) -> str:
    """The same of literals. Without the option a folder `name=value` above a file would be its column `name`."""
    return f"read_parquet([{', '.join(literals)}], {', '.join(['hive_partitioning = false', *options])})"


def execute(con: "duckdb.DuckDBPyConnection", model: "Model", prefix: str, suffix: str = "") -> None:
    """Run a model's own text after `prefix` and before `suffix`. Raises WH209 at the place in the text."""
    import duckdb

    try:
        con.execute(prefix + (unended(model.text) + suffix if suffix else model.text))
    except duckdb.Error as error:
        raise translated(error, "WH209", model.text, model.place, prefix) from error


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else text_literal(value)
