"""Files that seem to be one run, by their names and times, and are several: the folders that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.evidence.tree import Tree

SEARCHED_BYTES = 1 << 20  # of a file that may be another one's copy


def folders_apart(tree: Tree, above: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """For files that would be one run, by their paths, the folders that tell them apart, as few as it takes and each with its closing
    slash; nothing if all are copies of one. `above` has the names of the folders above each."""
    if len(above) < 2 or len({tree.head(path, SEARCHED_BYTES) for path in above}) < 2:
        return {}
    depths = range(1, max(map(len, above.values())) + 1)
    depth = next((depth for depth in depths if len({parts[-depth:] for parts in above.values()}) == len(above)), None)
    return {} if depth is None else {path: "".join(f"{part}/" for part in parts[-depth:]) for path, parts in above.items()}
