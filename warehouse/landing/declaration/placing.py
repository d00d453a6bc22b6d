"""Puts declarations into the bundles of the evidence that they lie with.

A declaration in a folder is of everything in and below it; where several of one kind are, the nearest counts. So a bundle
gets those of its own folders and, of each kind, the nearest above. What an ingestor claims itself stays where it put it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from warehouse.evidence.tree import TreeFile
from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.declaration.terms import BENCHMARK_RUN, WORKLOAD_SPEC

ROLE = "run_declaration"
MEDIA_TYPE = "application/yaml"
_NAME = re.compile(r"benchmark[-_]?run\.ya?ml|(?P<spec>(?:.+[-_])?workload[-_]spec\.ya?ml)", re.IGNORECASE)
_BENCHMARK_RUN = re.compile(rb"^kind\s*:\s*[\"']?BenchmarkRun[\"']?\s*(?:#.*)?$", re.MULTILINE)


def is_named_as_declaration(path: str) -> bool:
    return bool(_NAME.fullmatch(path.rpartition("/")[2]))


def kind_by_name(path: str) -> str:
    """Which kind of declaration a file is, before it is read."""
    named = _NAME.fullmatch(path.rpartition("/")[2])
    return WORKLOAD_SPEC if named and named["spec"] else BENCHMARK_RUN


def find_declarations(tree: Tree, paths: Iterable[str]) -> list[str]:
    """Those of the paths that are declarations: by their names, or YAML that says that it is a BenchmarkRun."""
    return [path for path in paths if is_named_as_declaration(path) or _says_so(tree, path)]


def _says_so(tree: Tree, path: str) -> bool:
    return path.casefold().endswith((".yaml", ".yml")) and bool(_BENCHMARK_RUN.search(tree.head(path)))


def with_declarations(draft: BundleDraft, declarations: Sequence[TreeFile]) -> BundleDraft:
    """The draft with those of the declarations that are of its files."""
    nearest: dict[tuple[str, str], dict[str, TreeFile]] = {}
    for (folder, kind), same in groupby(sorted(declarations, key=_nearer), key=lambda file: (_folder(file), kind_by_name(file.path))):
        raw_folder = _raw_folder(draft.files, folder)
        if raw_folder is not None:
            nearest[raw_folder, kind] = {raw_folder + file.path.removeprefix(folder): file for file in same}
    found = _free({path: file for files in nearest.values() for path, file in files.items()}, draft.files)
    added = (DraftFile(raw_path, file, MEDIA_TYPE, ROLE) for raw_path, file in sorted(found.items()))
    return replace(draft, files=(*draft.files, *added))


def _folder(file: TreeFile) -> str:
    return file.path[: file.path.rfind("/") + 1]


def _nearer(file: TreeFile) -> tuple[int, str, str, str]:
    """Sorts those of deeper folders last, and those of one folder and kind together."""
    return file.path.count("/"), _folder(file), kind_by_name(file.path), file.path


def _raw_folder(files: Iterable[DraftFile], folder: str) -> str | None:
    """How a bundle of these files calls a folder of the tree, with its closing slash: empty where all of the bundle lies in
    it, None where nothing does or that is not known."""
    names = set()
    is_all = True
    for file in files:
        if not file.file.path.startswith(folder):
            is_all = False
            continue
        below = file.file.path.removeprefix(folder)
        names.add(file.raw_path.removesuffix(below) if file.raw_path.endswith(f"/{below}") else "")
    if is_all:
        return ""
    return names.pop() if len(names) == 1 and "" not in names else None


def _free(found: Mapping[str, TreeFile], files: Iterable[DraftFile]) -> dict[str, TreeFile]:
    """Without those whose place in the bundle another file has, or that the bundle has already."""
    taken, held = {file.raw_path for file in files}, {file.file.path for file in files}
    return {path: file for path, file in found.items() if path not in taken and file.path not in held}
