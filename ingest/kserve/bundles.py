"""Finds KServe's services by their kind. A file is a bundle."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.kubernetes import kinds_of

KINDS = frozenset({"InferenceService", "LLMInferenceService"})


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a file."""
    for path, file in tree.files.items():
        if KINDS & kinds_of(tree, path) and b"serving.kserve.io/" in tree.head(path, 1 << 20):
            media_type = "application/json" if path.endswith(".json") else "application/yaml"
            yield BundleDraft((DraftFile(path.rpartition("/")[2], file, media_type, "objects"),))
