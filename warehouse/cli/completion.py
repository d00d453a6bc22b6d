"""Words that a shell offers for an argument: names of files of the project. No SQL is parsed and no build is opened."""

from __future__ import annotations

from warehouse.errors import WarehouseError


def query_names(incomplete: str) -> list[str]:
    """The query specs whose names begin so."""
    return _names(("queries",), incomplete)


def table_names(incomplete: str) -> list[str]:
    """The models and query specs whose names begin so."""
    return _names(("models", "queries"), incomplete)


def _names(kinds: tuple[str, ...], incomplete: str) -> list[str]:
    from warehouse.project.project import find_project

    try:
        project = find_project()
        stems = {path.stem for kind in kinds for path in project.files(kind, ".sql")}
    except (WarehouseError, OSError):  # a shell that completes has nowhere to show it
        return []
    return sorted(stem for stem in stems if stem.startswith(incomplete) and stem.isidentifier())
