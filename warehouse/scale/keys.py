"""Keys by partition: the proof that partitions hold all that belongs together, and which part a key is in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warehouse.digest import memo_digest
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.incremental.changed_keys import KeyPath
from warehouse.transform.inputs.landing_tables import path_literal


def path_id(path: KeyPath) -> str:
    """A way from an input to a key, the same on every machine."""
    return memo_digest("wh/key-path/1", [path.leaf, [[list(item) for item in layer] for layer in path.layers]])[:16]


def shared_paths(files: Sequence[Path]) -> set[str]:
    """The ways by which two partitions, each of which has a file of its keys, lead to the same key."""
    from warehouse.transform.sql.duck import asking

    if len(files) < 2:
        return set()
    con = asking()
    try:
        read = f"read_parquet([{', '.join(path_literal(str(path)) for path in files)}])"
        shared = f"select path from {read} group by path, key having count(*) > 1"
        return {path for (path,) in con.execute(f"select distinct path from ({shared})").fetchall()}
    finally:
        con.close()


def kept_models(models: Sequence[str], checked: CheckedProject, shared: set[str]) -> list[str]:
    """Of models in build order those for which partitions hold all that belongs together, and whose inputs do so too."""
    kept: list[str] = []
    left: set[str] = set()
    for name in models:
        paths = checked.key_plans[name].paths
        if any(path_id(path) in shared or path.leaf in left for path in paths):
            left.add(name)
        else:
            kept.append(name)
    return kept

