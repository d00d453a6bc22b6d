"""`scontrol show job|node|partition`: blocks of key=value, each from its first key to the next block, on one line or on several.

A value may hold blanks (JobName=my job), so it goes on until the next word that is a key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from warehouse.landing.readers.records import Flag
from warehouse.landing.readers.text import Data, Report, clean, decoded, lines

from . import values

JOB, NODE, PARTITION = "JobId", "NodeName", "PartitionName"
_KEY = re.compile(r"(?:^|(?<=\s))([A-Za-z][\w/:.]{0,60})=")
_MOMENTS = {"submitted": "SubmitTime", "eligible": "EligibleTime", "started": "StartTime", "ended": "EndTime"}
_USER = re.compile(r"(.*)\(\d+\)")
_FREE = frozenset({"Comment", "AdminComment", "SystemComment", "SubmitLine", "Command", "Extra"})  # what a user wrote: no key ends it
_OF_GROUP = frozenset({"Nodes", "CPU_IDs", "Mem", "GRES"})  # with --details, of each group of equal nodes
_GPU_INDEXES = re.compile(r"IDX:([\d,-]+)")
_MARKS = re.compile(r"[*~#!%$@^-]")
_REASON_AT = re.compile(r"(.*?)\s*\[[^\[\]]*@([^\[\]]+)\]")


class Block(NamedTuple):
    """A job, node or partition: its place, its values by key, and of a job with details the GPUs of its groups of nodes."""

    offset: int
    length: int
    line_number: int
    values: dict[str, str]
    groups: list[tuple[str, str | None]]
    listing: int  # a node or partition that is stated again begins another

    @property
    def kind(self) -> str:
        return next(iter(self.values))


def blocks(data: Data, report: Report) -> Iterator[Block]:
    """The blocks in order. Text before the first is reported, and a key that occurs twice, which may be two blocks in one."""
    block: Block | None = None
    seen = Counter[tuple[str, str]]()
    for line in lines(data, report):
        text = clean(decoded(line, report))
        pairs = _pairs(text)
        if pairs and pairs[0][0] in (JOB, NODE, PARTITION) and not text[0].isspace():
            if block is not None:
                yield block
            block = Block(line.offset, 0, line.number, {}, [], seen[pairs[0]])
            seen[pairs[0]] += 1
        if block is None or not pairs:
            report.at("stray-text", text.strip()[:120], line, "error" if block is None else "warning")
            continue
        for key, value in pairs:
            if block.values and block.kind == JOB and key in _OF_GROUP:  # several groups of nodes have the same keys
                if key == "Nodes":
                    block.groups.append((value, None))
                elif key == "GRES" and block.groups:
                    block.groups[-1] = (block.groups[-1][0], value)
                continue
            if key in block.values:
                report.at("duplicate-key", key[:80], line)
            block.values[key] = value
        block = block._replace(length=line.offset + len(line.data) - block.offset)
    if block is not None:
        yield block


def job_columns(block: Block, flag: Flag) -> dict[str, Any] | None:
    """The columns of a job."""
    found = block.values
    if (job_id := values.stated(found.get(JOB))) is None:
        flag("no-job-id", "the block names no job")
        return None
    array, task = values.stated(found.get("ArrayJobId")), values.stated(found.get("ArrayTaskId"))
    user = values.stated(found.get("UserId"))
    named = _USER.fullmatch(user) if user else None
    state, cancelled_by = values.state(found.get("JobState"))
    row: dict[str, Any] = {
        "source": "scontrol", "job_id": job_id, "displayed_id": f"{array}_{task}" if array and task else job_id,
        "job_name": values.stated(found.get("JobName")), "user_name": named[1] if named else user, "state": state,
        "account": values.stated(found.get("Account")), "partition": values.stated(found.get("Partition")),
        "qos": values.stated(found.get("QOS")), "cancelled_by": cancelled_by, "state_reason": values.stated(found.get("Reason")),
        "nodes": values.present(found.get("NodeList")), "node_count": _first_count(found.get("NumNodes"), flag, "NumNodes"),
        "cpu_count": _first_count(found.get("NumCPUs"), flag, "NumCPUs"),
        "gpu_count": values.gpus(found.get("AllocTRES") or found.get("TRES"), found.get("JOB_GRES"), flag),
        "restarts": values.count_in(found.get("Restarts"), flag, "Restarts"), "line_number": block.line_number,
        **values.exit_columns(found.get("ExitCode"), flag),
    }
    zones = set()
    for name, key in _MOMENTS.items():
        row[f"{name}_text"] = values.stated(found.get(key))
        row[f"{name}_at"], is_assumed = values.moment(found.get(key), flag, key)
        zones |= {is_assumed} - {None}
    row["is_zone_assumed"] = any(zones) if zones else None
    return row


def gpu_indexes(gres: str | None) -> str | None:
    """Which GPUs of a node a job has: `gpu:ampere:8(IDX:0-7)`."""
    found = _GPU_INDEXES.search(gres or "")
    return found[1] if found else None


def node_columns(block: Block, flag: Flag) -> dict[str, Any] | None:
    """The columns of a node."""
    found = block.values
    if (name := values.stated(found.get(NODE))) is None:
        flag("no-node-name", "the block names no node")
        return None
    reason, at = values.stated(found.get("Reason")), None
    is_assumed = None
    if reason and (marked := _REASON_AT.fullmatch(reason)):
        reason = marked[1] or None
        at, is_assumed = values.moment(marked[2], flag, "Reason")
    return {
        "source": "scontrol", "listing": block.listing, "node_name": name, "partitions": values.stated(found.get("Partitions")),
        "state": _state(found.get("State")), "reason": reason, "reason_at": at, "is_zone_assumed": is_assumed,
        "cpu_count": values.count_in(found.get("CPUTot"), flag, "CPUTot"),
        "allocated_cpu_count": values.count_in(found.get("CPUAlloc"), flag, "CPUAlloc"),
        "gpu_type": values.gpu_type(found.get("Gres")), "gpu_count": values.gpus(found.get("CfgTRES"), found.get("Gres"), flag),
        "allocated_gpu_count": values.gpus(found.get("AllocTRES"), found.get("GresUsed"), flag), "line_number": block.line_number,
    }


def partition_columns(block: Block, flag: Flag) -> dict[str, Any] | None:
    """The columns of a partition, which is all its nodes."""
    found = block.values
    if (name := values.stated(found.get(PARTITION))) is None:
        flag("no-partition-name", "the block names no partition")
        return None
    return {
        "source": "scontrol", "listing": block.listing, "partition": name, "availability": (values.stated(found.get("State")) or "").lower() or None,
        "node_count": values.count_in(found.get("TotalNodes"), flag, "TotalNodes"), "gpu_count": values.gpus(found.get("TRES"), None, flag),
        "nodes": values.stated(found.get("Nodes")), "line_number": block.line_number,
    }


def _pairs(text: str) -> list[tuple[str, str]]:
    marks = list(_KEY.finditer(text))
    pairs: list[tuple[str, str]] = []
    for mark, after in zip_longest(marks, marks[1:]):
        if mark[1] in _FREE:
            return [*pairs, (mark[1], text[mark.end() :].strip())]
        pairs.append((mark[1], text[mark.end() : after.start() if after else len(text)].strip()))
    return pairs


def _first_count(text: str | None, flag: Flag, name: str) -> int | None:
    """A count that may be a range for a job that has not started: 2-4, of which the job has asked for 2."""
    low, dash, high = (text or "").partition("-")
    return None if dash and high.isdigit() and low.isdigit() else values.count_in(text, flag, name)


def _state(text: str | None) -> str | None:
    """IDLE+DRAIN; the marks of a node that does not answer or is powered down (*, ~), each behind its state, are not part of it."""
    found = re.match(r"[A-Za-z_+*~#!%$@^-]+", values.stated(text) or "")
    return _MARKS.sub("", found[0]).upper() or None if found else None
