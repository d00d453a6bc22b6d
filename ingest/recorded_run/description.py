"""The columns that all runs of a recording share: the command, the machine and the software."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.settings import names_this_host, options, settings, visible_gpus
from warehouse.landing.rows import RowBuffer

from .bundles import MACHINE, RECORDING, SOFTWARE
from .files import clean, document_in, rejecter, shown, typed_columns
from .tables import GIT_FIELDS, GPU_FIELDS, MACHINE_FIELDS, RECORDING_FIELDS, SOFTWARE_FIELDS

_RECORDING_ID = re.compile(r"[0-9A-Z]{26}")  # a ULID
_RUN_ID = re.compile(r"recorded_run/[0-9A-Z]{26}/run-[0-9]{2,9}")


def shared_columns(bundle: Bundle, buffer: RowBuffer) -> dict[str, Any]:
    """What all runs of a recording share, by column name; and `recording_id`, `argv`, `repeats`, `gpus_by_uuid` and `part_of` (the run of several
    nodes that it is a part of; empty where it names none), which are not columns."""
    recording, machine, software = (document_in(bundle, path, buffer) or {} for path in (RECORDING, MACHINE, SOFTWARE))
    argv = recording.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(element, str) for element in argv):
        argv = None
    reject = rejecter(buffer, RECORDING)
    identity = recording.get("recording_id")
    return {
        "recording_id": identity if isinstance(identity, str) and _RECORDING_ID.fullmatch(identity) else None,
        "argv": argv,
        "repeats": recording.get("repeats"),
        "command": json.dumps(argv) if argv else None,
        "program": clean(argv[0].rpartition("/")[2]) if argv else None,
        **typed_columns(RECORDING_FIELDS, recording, reject),
        **typed_columns(MACHINE_FIELDS, machine, rejecter(buffer, MACHINE)),
        **_numa_columns(machine.get("numa_nodes")),
        **_gpu_columns(machine.get("gpus")),
        "gpus_by_uuid": _gpus_by_uuid(machine.get("gpus"), rejecter(buffer, MACHINE)),
        "unread": _unread(recording.get("unread")),
        **typed_columns(SOFTWARE_FIELDS, software, rejecter(buffer, SOFTWARE)),
        **_python_columns(software.get("python")),
        **_git_columns(recording.get("git"), reject),
        **_setting_columns(argv, recording, machine),
        **_node_columns(recording, reject),
    }


def _node_columns(recording: dict[str, Any], reject: Callable[[str, str], None]) -> dict[str, Any]:
    part_of = recording.get("part_of")
    stated = part_of if isinstance(part_of, dict) else {}
    run_id = stated.get("run_id")
    return {
        "launched_nodes": typed_columns((("nodes", pa.int64()),), recording, reject)["nodes"],
        "part_of": None if part_of is None else run_id if isinstance(run_id, str) and _RUN_ID.fullmatch(run_id) else "",
        **typed_columns((("node_rank", pa.int64()),), stated, reject),
    }


def _numa_columns(nodes: Any) -> dict[str, Any]:
    """The number of nodes, and a layout such as `node0=0-15,32-47;node1=16-31,48-63`."""
    known = _dicts(nodes)
    layout = ";".join(f"node{shown(node.get('node'))}={shown(node.get('cpus'))}" for node in known)
    return {"numa_nodes": len(known) or None, "numa_layout": layout or None}


def _gpu_columns(gpus: Any) -> dict[str, Any]:
    known = _dicts(gpus)
    joined = {
        key: " + ".join(sorted({clean(gpu[key]) for gpu in known if isinstance(gpu.get(key), str)})) or None
        for key in ("name", "driver_version")
    }
    # An empty list is a driver without GPUs, null is a host without a driver.
    count = len(known) if isinstance(gpus, list) else None
    return {"gpu_model": joined["name"], "gpu_count": count, "gpu_driver_version": joined["driver_version"]}


def _gpus_by_uuid(gpus: Any, reject: Callable[[str, str], None]) -> dict[str, dict[str, Any]]:
    known = {clean(gpu["uuid"]): gpu for gpu in _dicts(gpus) if isinstance(gpu.get("uuid"), str) and gpu["uuid"]}
    return {uuid: typed_columns(GPU_FIELDS, known[uuid], reject) for uuid in sorted(known)}


def _unread(stated: Any) -> str | None:
    if not isinstance(stated, dict):
        return None
    return json.dumps({clean(name): clean(reason) for name, reason in sorted(stated.items()) if isinstance(reason, str)})


def _python_columns(python: Any) -> dict[str, Any]:
    python = python if isinstance(python, dict) else {}
    version, packages = python.get("version"), python.get("packages")
    is_list = isinstance(packages, list) and all(isinstance(package, str) for package in packages)
    return {
        "python_version": clean(version) if isinstance(version, str) else None,
        "packages": json.dumps(sorted(packages)) if is_list else None,
    }


def _setting_columns(argv: list[str] | None, recording: dict[str, Any], machine: dict[str, Any]) -> dict[str, Any]:
    """What of the command and its environment makes another configuration; NULL where an earlier recorder did not write it."""
    environment = recording.get("environment")
    known = {clean(name): clean(value) for name, value in environment.items() if isinstance(value, str)} if isinstance(environment, dict) else None
    named = recording.get("script") if recording.get("script_sha256") else None
    script, hostname = (clean(each) if isinstance(each, str) else None for each in (named, machine.get("hostname")))
    return {
        "command_options": json.dumps(options([clean(argument) for argument in argv], script, hostname)) if argv else None,
        "environment_settings": None if known is None else json.dumps(settings(known)),
        "visible_gpu_count": None if known is None else visible_gpus(known, len(_dicts(machine.get("gpus"))) or None),
        "is_server_on_host": names_this_host(argv) if argv else None,
    }


def _git_columns(git: Any, reject: Callable[[str, str], None]) -> dict[str, Any]:
    columns = typed_columns(GIT_FIELDS, git if isinstance(git, dict) else {}, reject)
    return {f"git_{name}": value for name, value in columns.items()}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
