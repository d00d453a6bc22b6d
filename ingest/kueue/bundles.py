"""Finds Kueue's objects by their kind. A file is a bundle."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.kubernetes import kinds_of

KINDS = frozenset({"Workload", "ClusterQueue", "LocalQueue", "ProvisioningRequest"})
_GROUPS = (b"kueue.x-k8s.io/", b"autoscaling.x-k8s.io/")


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a file."""
    for path, file in tree.files.items():
        if KINDS & kinds_of(tree, path) and any(group in tree.head(path, 1 << 20) for group in _GROUPS):
            media_type = "application/json" if path.endswith(".json") else "application/yaml"
            yield BundleDraft((DraftFile(path.rpartition("/")[2], file, media_type, "objects"),))
