"""The why-sets of a publication: each set of runs once, as a bitmap over the publication's dictionary of runs.

    runs.jsonl    the dictionary: one line a run that any cell rests on, sorted by run id; a run's ordinal is its line's, from 0
    why.jsonl     one line a set, sorted by digest: `why_digest`, and `runs`, the ordinals as a Roaring bitmap in its portable
                  serialisation (https://github.com/RoaringBitmap/RoaringFormatSpec), base64

A `why_digest` is of the set itself, of its runs with their workload and bundle digests: it knows neither of ordinals nor of the
encoding, so the same set has the same digest in every publication.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warehouse.digest import canonical_json, domain_digest

WHY_SET_DOMAIN = "wh/why-set/1"

# A run as its document: `run_id` and, where a table of runs tells, `workload_spec_digest` and `artifact_manifest_digest`.
Run = Mapping[str, Any]


def why_digest(runs: Sequence[Run]) -> str:
    """The digest of a set of runs, given in any order."""
    return domain_digest(WHY_SET_DOMAIN, [dict(run) for run in sorted(runs, key=_run_id)])


def encoded(sets: Iterable[Sequence[Run]]) -> tuple[bytes, bytes]:
    """What `runs.jsonl` and `why.jsonl` hold of these sets."""
    from pyroaring import BitMap

    by_digest = {why_digest(runs): runs for runs in sets}
    dictionary = {run["run_id"]: run for runs in by_digest.values() for run in runs}
    ordinals = {run_id: ordinal for ordinal, run_id in enumerate(sorted(dictionary))}
    lines = []
    for digest, runs in sorted(by_digest.items()):
        bitmap = BitMap(ordinals[run["run_id"]] for run in runs)
        bitmap.run_optimize()
        lines.append({"why_digest": digest, "runs": b64encode(bitmap.serialize()).decode()})
    return _jsonl(dictionary[run_id] for run_id in ordinals), _jsonl(lines)


def decoded(runs: bytes, why: bytes) -> dict[str, tuple[Run, ...]]:
    """The sets by their digest, each sorted by run id. Raises ValueError when a set is not what its digest is of, KeyError,
    TypeError or IndexError for what `encoded` never wrote."""
    from pyroaring import BitMap

    dictionary = [json.loads(line) for line in runs.splitlines()]
    sets: dict[str, tuple[Run, ...]] = {}
    for line in map(json.loads, why.splitlines()):
        found = tuple(dictionary[ordinal] for ordinal in BitMap.deserialize(b64decode(line["runs"], validate=True)))
        if why_digest(found) != line["why_digest"]:
            raise ValueError(f"the why-set {line['why_digest'][:12]} differs from its digest")
        sets[line["why_digest"]] = found
    return sets


def _run_id(run: Run) -> str:
    return str(run["run_id"])


def _jsonl(documents: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(canonical_json(dict(document)) + b"\n" for document in documents)
