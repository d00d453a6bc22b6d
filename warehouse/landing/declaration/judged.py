"""A declaration's bytes judged: of which kind it is, every rule that it breaks, the frozen document and its digest, and what it
says of a run. The same for `wh validate` and for evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.contract import canonical_json, workload_spec_digest
from warehouse.landing.declaration import benchmark_run, workload_spec
from warehouse.landing.declaration.part import Fault, Part
from warehouse.landing.declaration.reading import read
from warehouse.landing.declaration.terms import BENCHMARK_RUN, WORKLOAD_SPEC, Terms

_OF_A_RUN = ("apiVersion", "kind", "metadata", "spec")
# Seed, host and time are no part of a workload (DESIGN.md, *Words*).
_NOT_WORKLOAD = re.compile(
    r"(?:.*_)?seeds?|hosts?|hostnames?|node_names?|date|time|timestamp|(?:created|updated|started|ended|generated)_at(?:_utc)?"
    r"|creation_timestamp"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Declaration:
    """What a file declares. `kind` is None where it is no declaration that is known. `document` is the frozen workload
    document in canonical JSON, `digest` its `workload_spec_digest`; they and `terms` are None where the file breaks a rule, unless
    all it costs is the grade. `lines` has the line of every part by its path."""

    kind: str | None
    faults: tuple[Fault, ...]
    document: str | None = None
    digest: str | None = None
    terms: Terms | None = None
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)


def judged(data: bytes) -> Declaration:
    """Judge a declaration's file."""
    document = read(data)
    kind = _kind(document)
    rules = benchmark_run if kind == BENCHMARK_RUN else workload_spec
    if kind is not None:
        rules.check(document)
    elif not document.faults.found:
        document.broken("expected a BenchmarkRun (apiVersion, kind, metadata, spec) or a workload spec (run_metadata, workload)")
    faults = document.faults.found
    if not all(fault.costs_grade for fault in faults):
        return Declaration(kind, tuple(faults))
    whole = benchmark_run.frozen(document) if kind == BENCHMARK_RUN else document.value
    frozen = _workload_only(whole)
    try:
        text, digest = canonical_json(frozen).decode(), workload_spec_digest(frozen)
    except (ValueError, RecursionError) as error:  # a number that is not finite or beyond 2**53
        document.broken(f"has no canonical JSON form: {error}")
        return Declaration(kind, tuple(faults))
    return Declaration(kind, tuple(faults), text, digest, rules.terms(document), document.faults.lines)


def _kind(document: Part) -> str | None:
    stated = document.value if isinstance(document.value, dict) else {}
    if any(key in stated for key in _OF_A_RUN):
        return BENCHMARK_RUN
    return WORKLOAD_SPEC if any(key in stated for key in ("run_metadata", "workload")) else None


def _workload_only(value: Any) -> Any:
    """The document without seed, host and time, wherever they occur. No deeper than YAML is read: 500 levels."""
    if isinstance(value, dict):
        return {
            key: _workload_only(item)
            for key, item in value.items()
            if not _NOT_WORKLOAD.fullmatch(_HUMP.sub("_", key).casefold())
        }
    return [_workload_only(item) for item in value] if isinstance(value, list) else value
