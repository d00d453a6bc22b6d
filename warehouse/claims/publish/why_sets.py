"""The why-sets of a publication: each set of runs once, as a bitmap over the publication's dictionary of runs.

    runs.jsonl    the dictionary: one line a run that any row or cell depends on, sorted by run id; a run's ordinal is its line's, from 0
    why.jsonl     one line a set, sorted by digest: `why_digest`, and `runs`, the ordinals as a Roaring bitmap in its portable
                  serialisation (https://github.com/RoaringBitmap/RoaringFormatSpec), base64

A `why_digest` is of the set itself, of its runs with their workload and bundle digests: it knows neither of ordinals nor of the
encoding, so the same set has the same digest in every publication.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from warehouse.digest import canonical_json, domain_digest

WHY_SET_DOMAIN = "wh/why-set/1"

_DIGEST = slice(-66, -2)  # where a line of canonical JSON has its why_digest, which is its last key
# A run as its document: `run_id` and, where a table of runs tells, `workload_spec_digest` and `artifact_manifest_digest`.
Run = Mapping[str, Any]


def why_digest(runs: Sequence[Run]) -> str:
    """The digest of a set of runs, given in any order."""
    return domain_digest(WHY_SET_DOMAIN, [dict(run) for run in sorted(runs, key=_run_id)])


class WhySetWriter:
    """Collects the sets of a publication, whose `runs` are known beforehand: every run by its id."""

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self._runs = {run_id: runs[run_id] for run_id in sorted(runs)}
        self._ordinals = {run_id: ordinal for ordinal, run_id in enumerate(self._runs)}
        self._digests: dict[tuple[str, ...], str] = {}
        self._bitmaps: dict[str, str] = {}

    def add(self, run_ids: tuple[str, ...]) -> str:
        """The `why_digest` of the set of these runs, which the publication has from now on."""
        from pyroaring import BitMap

        if run_ids not in self._digests:
            digest = self._digests[run_ids] = why_digest([self._runs[run_id] for run_id in run_ids])
            bitmap = BitMap(self._ordinals[run_id] for run_id in run_ids)
            bitmap.run_optimize()
            self._bitmaps[digest] = b64encode(bitmap.serialize()).decode()
        return self._digests[run_ids]

    def encoded(self) -> tuple[bytes, bytes]:
        """What `runs.jsonl` and `why.jsonl` hold."""
        lines = ({"why_digest": digest, "runs": runs} for digest, runs in sorted(self._bitmaps.items()))
        return _jsonl(self._runs.values()), _jsonl(lines)


class WhySets(Mapping[str, tuple[Run, ...]]):
    """The sets by their digest, each sorted by run id. Each is read, with the runs in it, and checked against its digest when it is asked
    for: one number needs one of them. Raises ValueError when a set is not what its digest is of, TypeError, IndexError or KeyError for
    what `encoded` never wrote."""

    def __init__(self, runs: bytes, why: bytes) -> None:
        self._dictionary = runs.splitlines()
        self._runs: dict[int, Run] = {}
        self._lines = {line[_DIGEST]: line for line in why.splitlines()}
        self._found: dict[str, tuple[Run, ...]] = {}

    def __getitem__(self, digest: str) -> tuple[Run, ...]:
        if digest not in self._found:
            self._found[digest] = self._decoded(digest)
        return self._found[digest]

    def _decoded(self, digest: str) -> tuple[Run, ...]:
        from pyroaring import BitMap

        line = json.loads(self._lines[digest.encode()])
        if line["why_digest"] != digest:
            raise KeyError(digest)
        ordinals = BitMap.deserialize(b64decode(line["runs"], validate=True))
        found = tuple(map(self._run, ordinals))
        if why_digest(found) != digest:
            raise ValueError(f"the why-set {digest[:12]} differs from its digest")
        return found

    def _run(self, ordinal: int) -> Run:
        if ordinal not in self._runs:
            self._runs[ordinal] = json.loads(self._dictionary[ordinal])
        return self._runs[ordinal]

    def __iter__(self) -> Iterator[str]:
        return (digest.decode() for digest in self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _run_id(run: Run) -> str:
    return str(run["run_id"])


def _jsonl(documents: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(canonical_json(dict(document)) + b"\n" for document in documents)
