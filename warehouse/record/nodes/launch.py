"""A command on several nodes: a launcher starts it once on each of them, and each node leaves a recording beside the launcher's.

`record` of the launcher makes the run. `warehouse.record.nodes.node` is what the launcher starts on a node: it records the command there, as a part
of that run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import counted

NODES = "nodes"  # the folder of the nodes' recordings, in that of the launcher's
# How launchers number what they start: Slurm, Open MPI, PMIx, MPICH and Intel MPI, torchrun, Kubernetes' indexed jobs. They start one on each node.
_RANKS = ("SLURM_NODEID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "GROUP_RANK", "NODE_RANK", "RANK", "JOB_COMPLETION_INDEX")
_HIGHEST_RANK = 10**6


@dataclass(frozen=True)
class Launch:
    """How a command is started on several nodes: `argv` is the whole command line that starts it, `launcher` its beginning, without what records each
    node. `nodes` must leave a recording each."""

    argv: tuple[str, ...]
    launcher: tuple[str, ...]
    nodes: int


@dataclass(frozen=True)
class PartOf:
    """The run that the recording of a node is a part of, and the rank of the node in it; None: the launcher states none."""

    run_id: str
    node_rank: int | None


def node_rank(environment: Mapping[str, str]) -> int | None:
    """The rank of this node, by the first variable of a launcher that states one."""
    for name in _RANKS:
        value = environment.get(name, "")
        if value.isascii() and value.isdigit() and int(value) < _HIGHEST_RANK:
            return int(value)
    return None


def missing_nodes(folder: Path, nodes: int) -> str | None:
    """How the recordings of nodes in the folder of a launcher's recording are not one for each of them; None: they are."""
    found = len(list((folder / NODES).glob("*/run-*/run.json")))
    if found == nodes:
        return None
    return f"{found} of {counted(nodes, 'node')} left a recording" + (": the launcher must start one on each" if found > nodes else "")


def ended_on_nodes(folder: Path) -> str | None:
    """Which limit ended the command on a node, and where; None: on no node."""
    for path in sorted((folder / NODES).glob("*/run-*/run.json")):
        ended_by = json.loads(path.read_text(encoding="utf-8")).get("ended_by_limit")
        if ended_by:
            host = json.loads((path.parents[1] / "machine.json").read_text(encoding="utf-8")).get("hostname")
            return f"ended by its limit of {ended_by} on {host}"
    return None
