"""Cuts a tree into recordings: a folder whose `recording.json` opens with the recorder's marker, and in it the files
that the recorder writes. What else lies there is not ours."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

RECORDING, MACHINE, SOFTWARE = "recording.json", "machine.json", "software.json"
SLOT, LOCK = "slot.json", "pylock.toml"  # of a campaign
_FORMAT_MARKER = re.compile(rb'\s*\{\s*"format"\s*:\s*"warehouse-recording"')
_OF_THE_RECORDING = r"(?:recording|machine|software|slot)\.json|pylock\.toml"
_OF_A_RUN = r"(?P<run>run-[0-9]{2,9})/(?:run\.json|(?:host|node|processes|servers|numa|gpu|gpu_processes)\.jsonl|(?:stdout|stderr)\.txt)"
_OWN_FILE = re.compile(f"(?P<folder>.*/)?(?:{_OF_THE_RECORDING}|{_OF_A_RUN})", re.DOTALL)
_MEDIA_TYPES = {"json": "application/json", "jsonl": "application/x-ndjson", "txt": "text/plain", "toml": "application/toml"}
_ROLES = {
    RECORDING: "recording", MACHINE: "machine", SOFTWARE: "software", SLOT: "slot", LOCK: "lock", "run.json": "run",
    "host.jsonl": "host_samples", "node.jsonl": "node_samples", "processes.jsonl": "process_samples", "gpu.jsonl": "gpu_samples",
    "gpu_processes.jsonl": "gpu_process_samples", "numa.jsonl": "numa_samples",
    "servers.jsonl": "server_samples", "stdout.txt": "stdout", "stderr.txt": "stderr",
}


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """The recordings in a tree."""
    by_folder: dict[str, list[re.Match[str]]] = {}
    for found in filter(None, map(_OWN_FILE.fullmatch, tree.files)):
        by_folder.setdefault(found["folder"] or "", []).append(found)
    for folder, members in by_folder.items():
        path = folder + RECORDING
        if path in tree.files and _FORMAT_MARKER.match(tree.head(path)):
            yield _draft(tree, folder, members)


def _draft(tree: Tree, folder: str, members: list[re.Match[str]]) -> BundleDraft:
    files = []
    for path in (member.string for member in members):
        base = path.rpartition("/")[2]
        media_type = _MEDIA_TYPES[base.rpartition(".")[2]]
        files.append(DraftFile(path.removeprefix(folder), tree.files[path], media_type, _ROLES[base]))
    runs = {member["run"] for member in members} - {None}
    return BundleDraft(tuple(files), runs=tuple(sorted(runs)))
