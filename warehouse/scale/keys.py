"""Keys by partition: the proof that partitions hold all that belongs together, and which part a key is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from warehouse.digest import memo_digest
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.incremental.changed_keys import KeyPath

Ways = frozenset[str]  # by which a model reads its inputs (`path_id`)


def path_id(path: KeyPath, types: Mapping[str, str]) -> str:
    """A way from an input to a key of columns with these types, the same on every machine: hashes depend on types."""
    kinds = [types[name] for _, name in path.layers[-1]]
    return memo_digest("wh/key-path/2", [path.leaf, [[list(item) for item in layer] for layer in path.layers], kinds])[:16]


def ways_of(name: str, checked: CheckedProject) -> Ways:
    """The ways by which a model reads its inputs."""
    return frozenset(path_id(path, checked.columns[name]) for path in checked.key_plans[name].paths)


def divided(files: Sequence[Path], models: Iterable[Ways]) -> set[Ways]:
    """Of models, each given by its ways, those of which a key is in two partitions: by one way, or by one in the first and by another in the
    second. Each partition has a file of its keys; two may have the same."""
    from warehouse.transform.sql.duck import parquet, scratch

    if len(files) < 2:
        return set()
    with scratch() as con:
        names = [str(path) for path in files]
        con.execute("create temp table place as select unnest(?::varchar[]) as filename, unnest(range(?)) as part", [names, len(names)])
        read = f"{parquet(sorted(set(files)), 'filename = true')} join place using (filename)"
        # As a rule all ways lead to a key in one partition, so few keys are left to be looked at model by model.
        con.execute(
            f"create temp table apart as select path, key, part from {read}"
            f" semi join (select key from {read} group by key having min(part) <> max(part)) using (key)"
        )
        found = set()
        for ways in set(models):
            sql = "select 1 from apart where list_contains(?, path) group by key having min(part) <> max(part) limit 1"
            if con.execute(sql, [sorted(ways)]).fetchall():
                found.add(ways)
        return found


def kept_models(models: Sequence[str], checked: CheckedProject, files: Sequence[Path]) -> list[str]:
    """Of models in build order those for which partitions hold all that belongs together, and whose inputs do so too. Each partition has a
    file of its keys."""
    ways = {name: ways_of(name, checked) for name in models}
    not_kept = divided(files, ways.values())
    kept: list[str] = []
    left: set[str] = set()
    for name in models:
        if ways[name] in not_kept or any(path.leaf in left for path in checked.key_plans[name].paths):
            left.add(name)
        else:
            kept.append(name)
    return kept
