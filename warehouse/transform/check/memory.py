"""What an earlier check found sound, so that the next one binds only what an edit can have touched.

A model is known by all that binding it depends on: its own text and promises, and the columns of what it reads. The memory
lies beside the builds and may be deleted; with another version of the engine it is as if it were not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from warehouse.digest import memo_digest
from warehouse.evidence.memory_file import read_memory_file, write_memory_file
from warehouse.transform.finished.builds import FORM
from warehouse.transform.incremental.changed_keys import KeyPath, KeyPlan
from warehouse.transform.incremental.locality import KeyedInput
from warehouse.transform.sql.duck import engine_version
from warehouse.transform.sql.functions import TABLE_VERSION
from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.project.project import Project

_FILE = ".checked.json"
_KINDS = ("models", "calls", "plans", "tests", "passed")


class CheckMemory:
    """Findings by kind and name, each under the key of what it depends on. What is asked for and kept is what will be
    remembered; the rest is forgotten."""

    def __init__(self, known: Mapping[str, Mapping[str, Sequence[Any]]] | None = None) -> None:
        self._known = known or {}
        self._now: dict[str, dict[str, list[Any]]] = {kind: {} for kind in _KINDS}

    def recall(self, kind: str, name: str, key: str) -> Any:
        """What was kept under this very key; None when nothing was. An empty key matches nothing."""
        found = self._known.get(kind, {}).get(name)
        if found and key and found[0] == key:
            self._now[kind][name] = list(found)
            return found[1]
        return None

    def keep(self, kind: str, name: str, key: str, value: Any) -> None:
        self._now[kind][name] = [key, value]

    def knows(self, kind: str, name: str) -> bool:
        """Whether anything of that name was sound."""
        return name in self._known.get(kind, {})

    def write(self, project: "Project") -> None:
        """Remember, beside the builds."""
        if self._now != self._known:
            write_memory_file(project.builds / _FILE, _made_by(), json.dumps(self._now).encode())


def read_memory(project: "Project") -> CheckMemory:
    """What is remembered of a project; nothing when it was made otherwise or cannot be read."""
    text = read_memory_file(project.builds / _FILE, _made_by())
    return CheckMemory(json.loads(text)) if text else CheckMemory()


def key_of(*parts: Any) -> str:
    """A key for what `parts` (JSON) say."""
    return memo_digest("wh/check/2", parts)


def plan_as_json(plan: KeyPlan) -> dict[str, Any]:
    return {
        "inputs": [asdict(found) for found in plan.inputs],
        "paths": [[path.leaf, path.layers] for path in plan.paths],
        "whole": sorted(plan.whole),
        "whole_because": plan.whole_because,
        "is_gathered": plan.is_gathered,
    }


def plan_from_json(document: Mapping[str, Any]) -> KeyPlan:
    """What `plan_as_json` wrote."""
    inputs = tuple(
        KeyedInput(**{**entry, "key": tuple(entry["key"]), "columns": tuple(entry["columns"])})
        for entry in document["inputs"]
    )
    paths = tuple(
        KeyPath(leaf, tuple(tuple((sql, name) for sql, name in layer) for layer in layers))
        for leaf, layers in document["paths"]
    )
    return KeyPlan(inputs, paths, frozenset(document["whole"]), document["whole_because"], document["is_gathered"])


def _made_by() -> str:
    return key_of(FORM, __version__, engine_version(), TABLE_VERSION)
