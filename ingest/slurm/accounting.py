"""`sacct -P`: a header, then a line a job or step. A comment may hold line breaks, so that a record goes on until it has all its cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from warehouse.landing.readers.records import Flag
from warehouse.landing.readers.text import Data, Report

from . import values
from .bundles import delimiter_of

_MAX_LINES = 200  # of one record: a longer comment is damage
_MOMENTS = {"submitted": "Submit", "eligible": "Eligible", "started": "Start", "ended": "End"}


class Cells(NamedTuple):
    """A record: its place, and its cells by column; the first one for a column that occurs twice."""

    offset: int
    length: int
    line_number: int
    cells: dict[str, str]


class _Line(NamedTuple):
    number: int
    offset: int
    data: bytes


def records(data: Data, report: Report) -> Iterator[Cells]:
    """The records behind the header. One with too many cells, or too few when the next whole line begins, is reported and left out."""
    lines = _lines(data)
    header = next(lines, _Line(1, 0, b"")).data.removeprefix(b"\xef\xbb\xbf").strip()
    delimiter = delimiter_of(header)
    if delimiter is None:
        report("no-header", "the first line names no columns of sacct", 0, len(header), 1, "error")
        return
    names = [name.decode() for name in header.removesuffix(delimiter).split(delimiter)]
    trailing = header.endswith(delimiter)  # sacct -p
    wanted = len(names) - 1 + trailing
    whole: list[_Line] = []  # a record that has all its cells; its last one may go on in lines without a delimiter
    held: list[_Line] = []  # one that has not
    for line in lines:
        found = line.data.count(delimiter)
        if line.data.strip() == header:  # the output of several calls, one after another
            continue
        if held and (found == wanted or len(held) >= _MAX_LINES):
            _tell(held, delimiter, wanted, report)
            held = []
        if not held and not line.data.strip():
            continue
        if not held and not found and 0 < len(whole) < _MAX_LINES:
            whole.append(line)
            continue
        held.append(line)
        total = sum(each.data.count(delimiter) for each in held)
        if total < wanted:
            continue
        if total > wanted:
            _tell(held, delimiter, wanted, report)
        else:
            yield from _finished(whole, names, delimiter, report)
            whole = held
        held = []
    yield from _finished(whole, names, delimiter, report)
    if held:
        _tell(held, delimiter, wanted, report)


def _finished(lines: list[_Line], names: list[str], delimiter: bytes, report: Report) -> Iterator[Cells]:
    if lines:
        first, length = lines[0], lines[-1].offset + len(lines[-1].data) - lines[0].offset
        text = b"\n".join(each.data for each in lines)
        yield Cells(first.offset, length, first.number, _named(names, text, delimiter, first, report))


def job_columns(record: Cells, flag: Flag) -> dict[str, Any] | None:
    """A record's columns; None where it names no job."""
    cells = record.cells
    displayed, step = _split(values.stated(cells.get("JobID")))
    raw, raw_step = _split(values.stated(cells.get("JobIDRaw")))
    if (job_id := raw or displayed) is None:
        flag("no-job-id", "the record names no job")
        return None
    state, cancelled_by = values.state(cells.get("State"))
    row: dict[str, Any] = {
        "source": "sacct", "job_id": job_id, "displayed_id": displayed or job_id, "step": step or raw_step, "state": state,
        "cancelled_by": cancelled_by, "line_number": record.line_number,
        "cluster": values.stated(cells.get("Cluster")), "job_name": values.stated(cells.get("JobName")),
        "user_name": values.stated(cells.get("User")), "account": values.stated(cells.get("Account")),
        "partition": values.stated(cells.get("Partition")), "qos": values.stated(cells.get("QOS")),
        "state_reason": values.stated(cells.get("Reason")), "nodes": values.present(cells.get("NodeList")),
        "node_count": values.count_in(cells.get("AllocNodes") or cells.get("NNodes"), flag, "AllocNodes"),
        "cpu_count": values.count_in(cells.get("AllocCPUS") or cells.get("NCPUS"), flag, "AllocCPUS"),
        "gpu_count": values.gpus(cells.get("AllocTRES"), cells.get("AllocGRES"), flag),
        "restarts": values.count_in(cells.get("Restarts"), flag, "Restarts"),
        "elapsed_s": values.duration(cells.get("ElapsedRaw") or cells.get("Elapsed"), flag, "Elapsed"),
        "suspended_s": values.duration(cells.get("Suspended"), flag, "Suspended"),
        **values.exit_columns(cells.get("ExitCode"), flag),
    }
    assumed: dict[str, bool | None] = {}
    for name, column in _MOMENTS.items():
        row[f"{name}_text"] = values.stated(cells.get(column))
        row[f"{name}_at"], assumed[name] = values.moment(cells.get(column), flag, column)
    zones = set(assumed.values()) - {None}
    row["is_zone_assumed"] = any(zones) if zones else None
    if assumed["started"] == assumed["ended"]:
        values.settle_times(row, flag, is_local=bool(assumed["started"]))
    return row


def _split(text: str | None) -> tuple[str | None, str | None]:
    """A job and its step: `8012944_24093.batch`."""
    if text is None:
        return None, None
    job, _, step = text.partition(".")
    return job or None, step or None


def _lines(data: Data) -> Iterator[_Line]:
    """Every line, also a blank one: only a newline ends one."""
    position, number = 0, 1
    while position < len(data):
        stop = data.find(b"\n", position)
        stop = len(data) if stop < 0 else stop
        yield _Line(number, position, bytes(data[position:stop]).rstrip(b"\r"))
        position, number = stop + 1, number + 1


def _named(names: list[str], text: bytes, delimiter: bytes, first: _Line, report: Report) -> dict[str, str]:
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        report("invalid-utf8", f"{error.reason} at byte {error.start} of the record", first.offset, len(text), first.number)
        decoded = text.decode(errors="surrogateescape")
    found: dict[str, str] = {}
    for name, cell in zip(names, decoded.split(delimiter.decode()), strict=False):
        found.setdefault(name, cell)
    return found


def _tell(held: list[_Line], delimiter: bytes, wanted: int, report: Report) -> None:
    first, last = held[0], held[-1]
    cells = sum(line.data.count(delimiter) for line in held) + 1
    length = last.offset + len(last.data) - first.offset
    report("malformed-row", f"{cells} cells, the header has {wanted + 1}", first.offset, length, first.number, "error")
