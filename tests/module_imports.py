"""Which modules of the checkout a file imports, read from its text."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def imported(path: Path) -> set[tuple[str, int]]:
    """Every module of ours that a file imports, wherever in the file, and the line. `from warehouse import x` counts as
    an import of `warehouse.x` when there is such a module; a relative import is written out."""
    return {(module, line) for module, line in all_imported(path) if module.split(".")[0] in ("warehouse", "ingest")}


@cache
def all_imported(path: Path) -> set[tuple[str, int]]:
    """The same of all modules, whoever's they are."""
    package = path.relative_to(REPOSITORY).with_suffix("").parts[:-1]
    found: set[tuple[str, int]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, node.lineno) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            names = [f"{module}.{alias.name}" for alias in node.names]
            found |= {(name if file_of(name) else module, node.lineno) for name in names}
    return found


def file_of(module: str) -> Path | None:
    """The file or folder of a module of ours; a test finds the modules in `tests` by their bare names."""
    for base in (REPOSITORY, REPOSITORY / "tests"):
        path = base.joinpath(*module.split("."))
        if path.with_suffix(".py").is_file():
            return path.with_suffix(".py")
        if path.is_dir():
            return path
    return None
