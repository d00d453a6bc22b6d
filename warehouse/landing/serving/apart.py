"""Files that seem to be one run, by their names and times, and are several: the folders that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.evidence.tree import Tree

SEARCHED_BYTES = 1 << 20  # of a file that may be another one's copy


def folders_apart(tree: Tree, above: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """For files that would be one run, by their paths, the folders that tell them apart, as few as it takes and each with its closing
    slash; nothing if all are copies of one, or what it was before it grew. `above` has the names of the folders above each."""
    heads = {path: tree.head(path, SEARCHED_BYTES) for path in above}
    # The file that each is the beginning of: of several, the longest.
    whole = {
        path: max((other for other in above if heads[other].startswith(head)), key=lambda other: (len(heads[other]), other))
        for path, head in heads.items()
    }
    different = {path: above[path] for path in set(whole.values())}
    if len(different) < 2:
        return {}
    depths = range(1, max(map(len, different.values())) + 1)
    depth = next((depth for depth in depths if len({parts[-depth:] for parts in different.values()}) == len(different)), None)
    return {} if depth is None else {path: "".join(f"{part}/" for part in above[whole[path]][-depth:]) for path in above}
