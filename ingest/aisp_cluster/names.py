"""What the name of a structured file says: the test, and of which node, GPU and round. `r1_node2_cluster_perf_fp4_smoke`,
`node1_gpu0_mamf`, `health_suite_extended_node1node2_nccl_all_reduce_perf`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ROUND = re.compile(r"r(\d{1,4})_")
_GPU = re.compile(r"(?:^|_)gpu(\d{1,4})(?=_|$)")


@dataclass(frozen=True)
class Part:
    """A part of a cluster run. `node` is None where the name has no label, or several."""

    test: str
    node: str | None = None
    gpu: int | None = None
    repeat_index: int | None = None

    def run_id(self, cluster_run_id: str) -> str:
        gpu = f"gpu{self.gpu}" if self.gpu is not None else None
        repeat = f"r{self.repeat_index}" if self.repeat_index is not None else None
        return "/".join(filter(None, (cluster_run_id, self.test, self.node, gpu, repeat)))


def part_of(stem: str, labels: Iterable[str]) -> Part:
    """The part that a file's name without run id and ending is about."""
    repeat = _ROUND.match(stem)
    rest = stem[repeat.end() :] if repeat else stem
    node = None
    known = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True) if label)
    if known and (found := re.search(rf"(?:^|_)((?:{known})+)(?=_|$)", rest)):
        node = found[1] if re.fullmatch(known, found[1]) else None
        rest = rest[: found.start()] + rest[found.end() :]
    gpu = _GPU.search(rest)
    if gpu:
        rest = rest[: gpu.start()] + rest[gpu.end() :]
    return Part(rest.strip("_") or stem, node, int(gpu[1]) if gpu else None, int(repeat[1]) if repeat else None)
