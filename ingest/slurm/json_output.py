"""What Slurm's commands print with --json: jobs of the controller or of accounting (`sacct`), nodes, groups of nodes (`sinfo`), statistics of
the controller (`sdiag`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from warehouse.landing.readers.json_stream import JsonStream, Pair
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Data, Place, Report, clean

from . import values

JOBS, NODES, GROUPS, STATISTICS = "jobs", "nodes", "sinfo", "statistics"
_SECTIONS = (JOBS, NODES, GROUPS)
_ASKED = "last_update"  # since 23.11: when the controller was asked; it is behind the records
_MOMENTS = frozenset({"req_time", "req_time_start", "job_states_ts", "bf_when_last_cycle", _ASKED})


class Item(NamedTuple):
    """A record of a section, or a pair of the statistics (`key` is its name)."""

    section: str
    offset: int
    length: int
    record: Record
    key: str = ""


def items(data: Data, report: Report) -> Iterator[Item]:
    """The records of all sections in the order of the file."""
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key in _SECTIONS:
                for offset, length, record in stream.objects():
                    yield Item(pair.key, offset, length, record)
            elif pair.key == STATISTICS:
                for inner in stream.pairs():
                    yield _statistic(stream, inner, report)
            elif pair.key == _ASKED:
                yield _statistic(stream, pair, report)


def _statistic(stream: JsonStream, pair: Pair, report: Report) -> Item:
    value = stream.value()
    place = Place(pair.offset, stream.offset - pair.offset, stream.line_number(pair.offset))
    return Item(STATISTICS, place.offset, place.length, Record({pair.key: value}, report.flag(place)), pair.key)


def job_columns(record: Record) -> dict[str, Any] | None:
    """The columns of a job."""
    found, flag = record.values, record.flag
    job_id = values.count(found.get("job_id"), flag, "job_id")
    if job_id is None:
        flag("no-job-id", "the record names no job")
        return None
    if isinstance(found.get("time"), dict):
        return _accounted(record, job_id)
    array = values.count(found.get("array_job_id"), flag, "array_job_id")
    task = values.count(found.get("array_task_id"), flag, "array_task_id")
    return {
        "source": "squeue", "cluster": values.text_of(found, "cluster"), "job_id": str(job_id),
        "displayed_id": _displayed(job_id, array, task, values.text_of(found, "array_task_string")),
        "job_name": values.text_of(found, "name"), "user_name": values.text_of(found, "user_name"),
        "account": values.text_of(found, "account"), "partition": values.text_of(found, "partition"),
        "qos": values.text_of(found, "qos"), "state": values.words(found.get("job_state")),
        "state_reason": values.text_of(found, "state_reason"),
        "nodes": values.long_text(found, "nodes"),
        "submitted_at": values.epoch(found.get("submit_time"), flag, "submit_time"),
        "eligible_at": values.epoch(found.get("eligible_time"), flag, "eligible_time"),
        "started_at": values.epoch(found.get("start_time"), flag, "start_time"),
        "ended_at": values.epoch(found.get("end_time"), flag, "end_time"), "is_zone_assumed": False,
        "node_count": values.count(found.get("node_count"), flag, "node_count"),
        "cpu_count": values.count(found.get("cpus"), flag, "cpus"),
        "gpu_count": values.gpus(values.long_text(found, "tres_alloc_str"), None, flag),
        "restarts": values.count(found.get("restart_cnt"), flag, "restart_cnt"),
        **values.exit_of(found.get("exit_code"), flag),
    }


def _accounted(record: Record, job_id: int) -> dict[str, Any]:
    """The columns of a job in `sacct --json` (data_parser's JOB of slurmdbd). Its steps are not read."""
    found, flag = record.values, record.flag
    array, time, state = record.within("array").values, record.within("time").values, record.within("state").values
    allocated = record.within("tres").values.get("allocated")
    task = values.count(array.get("task_id"), flag, "array/task_id")
    suspended = time.get("suspended")
    row = {
        "source": "sacct", "cluster": values.text_of(found, "cluster"), "job_id": str(job_id),
        "displayed_id": _displayed(job_id, values.count(array.get("job_id"), flag, "array/job_id"), task, values.text_of(array, "task")),
        "job_name": values.text_of(found, "name"), "user_name": values.text_of(found, "user"), "account": values.text_of(found, "account"),
        "partition": values.text_of(found, "partition"), "qos": values.text_of(found, "qos"), "state": values.words(state.get("current")),
        "cancelled_by": values.text_of(found, "kill_request_user"), "state_reason": values.text_of(state, "reason"),
        "nodes": values.long_text(found, "nodes"),
        "submitted_at": values.epoch(time.get("submission"), flag, "time/submission"),
        "eligible_at": values.epoch(time.get("eligible"), flag, "time/eligible"),
        "started_at": values.epoch(time.get("start"), flag, "time/start"),
        "ended_at": values.epoch(time.get("end"), flag, "time/end"), "is_zone_assumed": False,
        "elapsed_s": values.number(time.get("elapsed"), flag, "time/elapsed"),
        "suspended_s": values.number(suspended.get("seconds") if isinstance(suspended, dict) else suspended, flag, "time/suspended"),
        "node_count": values.count(found.get("allocation_nodes"), flag, "allocation_nodes"),
        "cpu_count": values.resource(allocated, "cpu", "", flag), "gpu_count": values.resource(allocated, "gres", "gpu", flag),
        "restarts": values.count(found.get("restart_cnt"), flag, "restart_cnt"),
        **values.exit_of(found.get("exit_code"), flag),
    }
    values.settle_times(row, flag, is_local=False)
    return row


def _displayed(job_id: int, array: int | None, task: int | None, waiting: str | None) -> str:
    """A job as Slurm shows it: of tasks of an array that still wait ARRAY_[TASKS]."""
    name = str(task) if task is not None else f"[{waiting}]" if waiting else None
    return f"{array}_{name}" if array and name is not None else str(job_id)


def node_columns(record: Record) -> dict[str, Any] | None:
    """The columns of a node."""
    found, flag = record.values, record.flag
    if (name := values.text_of(found, "name", "hostname")) is None:
        flag("no-node-name", "the record names no node")
        return None
    partitions = found.get("partitions")
    flags = found.get("state_flags")
    state = found.get("state")
    states = [state, *flags] if isinstance(flags, list) and isinstance(state, str) else state
    gres = values.long_text(found, "gres")
    return {
        "source": "sinfo", "listing": 0, "node_name": name, "state": values.words(states), "reason": values.text_of(found, "reason"),
        "partitions": values.stated(",".join(each for each in partitions if isinstance(each, str))) if isinstance(partitions, list) else None,
        "reason_at": values.epoch(found.get("reason_changed_at"), flag, "reason_changed_at"), "is_zone_assumed": False,
        "cpu_count": values.count(found.get("cpus"), flag, "cpus"),
        "allocated_cpu_count": values.count(found.get("alloc_cpus"), flag, "alloc_cpus"), "gpu_type": values.gpu_type(gres),
        "gpu_count": values.gpus(values.long_text(found, "tres"), gres, flag),
        "allocated_gpu_count": values.gpus(values.long_text(found, "tres_used"), values.long_text(found, "gres_used"), flag),
    }


def group_columns(record: Record) -> dict[str, Any] | None:
    """The columns of a group of equal nodes of a partition: what `sinfo --json` prints since 23.02."""
    found, flag = record.values, record.flag
    partition = found.get("partition")
    name = values.text_of(partition, "name") if isinstance(partition, dict) else values.text_of(found, "partition")
    if name is None:
        flag("no-partition-name", f"the record names no partition: {shown(partition)}")
        return None
    node, nodes = record.within("node"), record.within("nodes")
    available = record.within("partition", "partition").values.get("state")
    names = nodes.values.get("nodes")
    return {
        "source": "sinfo", "listing": 0, "partition": name, "availability": (values.words(available) or "").lower() or None,
        "node_state": values.words(node.values.get("state")), "node_count": values.count(nodes.values.get("total"), flag, "nodes/total"),
        "nodes": values.stated(clean(",".join(each for each in names if isinstance(each, str)))) if isinstance(names, list) else None,
    }


def statistic_columns(item: Item) -> dict[str, Any] | None:
    """The columns of a statistic; None of what is no number."""
    value, flag = item.record.values[item.key], item.record.flag
    name = clean(item.key)[:MAX_KEY_CHARACTERS]
    if isinstance(value, (list, str, bool)) or (isinstance(value, dict) and "number" not in value):
        if isinstance(value, str):
            flag("not-a-number", f"{name}: {shown(value)}")
        return None
    if name in _MOMENTS:
        return {"key": name, "value_at": values.epoch(value, flag, name)}
    return {"key": name, "value_number": values.number(value, flag, name)}
