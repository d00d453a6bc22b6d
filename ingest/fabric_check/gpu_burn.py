"""The text of gpu_burn: progress that overwrites itself, then a verdict a GPU. The last progress counts; errors count
whenever they are printed. Source: wilicc/gpu-burn, gpu_burn-drv.cpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.readers.text import MAX_LINE_BYTES, Data, Line, Report, clean, number_in

from .check import Check, Rows, at, endpoint, entry, integer_in, one_test, point, table_integer, table_number
from .streams import Told, told_lines

MARK = re.compile(
    rb"(?<=\d)%\s+proc'd: -?\d+ \(-?[\d.]+ Gflop/s\)"
    rb"|(?:\A|[\r\n])[^\S\n]*(?:\[[^\]\n]{1,60}\](?:<\w+>)?:?|\d{1,6}:)?[^\S\n]*(?:Tested \d+ GPUs:|Burning for \d+ seconds)"
)

_GPU = re.compile(r"GPU (\d{1,6}): ([^:]*?) \(UUID: ([^)]*)\)")
_VERDICT = re.compile(r"GPU (\d{1,6}): (OK|FAULTY)")
_VERDICT_LIKE = re.compile(r": (?:OK|FAULTY)$")
_TESTED = re.compile(r"Tested (\d{1,6}) GPUs:")
_BURNING = re.compile(r"Burning for (\d+) seconds")
_DEVICE = re.compile(r"Initialized device \d+ .*using (FLOATS|DOUBLES)(, using Tensor Cores)?")
_PROGRESS = re.compile(r"\d+(?:\.\d+)?%\s+proc'd: ")
_WORK = re.compile(r"(-?\d+) \((-?[\d.]+|-?inf|-?nan) Gflop/s\)")
_OWN = re.compile(r"GPU \d{1,6}: |Tested \d+ GPUs:|Burning for \d|Initialized device \d|\d%\s+proc'd: ")
_ERROR = re.compile(r"No CUDA devices|No clients are alive|Couldn't init a GPU test|Could not|Error", re.ASCII)
_NOT_FINITE = re.compile(r"\b(?:nan|inf(?:inity)?)\b|\d{300}|\de\d", re.IGNORECASE)
# A line of progress may be the whole run: only its end is read.
_TAIL = 64 << 10


@dataclass
class _Gpu:
    """What the last progress says of a GPU."""

    gflop_per_s: float | None = None
    errors: int | None = None
    most_errors: int = 0
    temperature_c: float | None = None
    power_w: float | None = None
    has_died: bool = False
    verdict: str | None = None


@dataclass
class _State:
    """A run under way."""

    check: Check
    gpus: dict[int, _Gpu] = field(default_factory=dict)
    tested: int | None = None
    uuids: dict[int, str] = field(default_factory=dict)
    progress: Line | None = None
    complaint: str | None = None
    error: str | None = None


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a log: one an execution of gpu_burn."""
    states: dict[str, _State] = {}  # of each process that a launcher tells apart
    for told in told_lines(data, report, longest=MAX_LINE_BYTES):
        state = states.get(told.tag)
        if state is None and "(UUID: " in told.text and not _GPU.fullmatch(told.text):
            report.at("unknown-line", told.text[:200], told.line)
        if state is None and not (_OWN.search(told.text) or not states and _ERROR.search(told.text)):
            continue  # of a script
        if state is None or _begins(told.text, state):
            if state is not None:
                yield from _finished(state)
            state = states[told.tag] = _State(Check("gpu_burn", "gpu_burn", told.line.offset))
        yield from _line(state, told, report)
        state.check.cover(*at(told.line))
    for state in states.values():
        yield from _finished(state)


def _begins(text: str, state: _State) -> bool:
    """Whether a line begins another run than the one under way: with it the last one is over, or was stopped."""
    if _BURNING.search(text):
        return "seconds" in state.check.parameters or state.progress is not None
    has_verdict = any(gpu.verdict for gpu in state.gpus.values())
    return has_verdict and bool(_GPU.fullmatch(text) or _DEVICE.search(text[-_TAIL:]) or _PROGRESS.search(text))


def _line(state: _State, told: Told, report: Report) -> Rows:
    check, text = state.check, told.text
    if match := _GPU.fullmatch(text):
        number = int(match[1])
        state.gpus.setdefault(number, _Gpu())
        model, uuid = clean(match[2])[:256], clean(match[3])[:256]
        if state.uuids.setdefault(number, uuid) != uuid:  # processes that nothing tells apart: whose a number is nothing says
            state.complaint = state.complaint or f"several processes have a GPU {number}"
        yield endpoint(check, told.line, "gpu", number, device=number, model=model, uuid=uuid)
    elif match := _VERDICT.fullmatch(text):
        state.gpus.setdefault(int(match[1]), _Gpu()).verdict = match[2]
        yield entry(check, told.line, f"GPU {int(match[1])}", match[2], 1)
    elif _PROGRESS.search(text):
        _progress(state, told, report)
    elif match := _BURNING.search(text):
        check.parameters["seconds"] = integer_in(match[1])
    elif _ERROR.search(text):
        state.error = state.error or text
    elif match := _TESTED.fullmatch(text):
        state.tested = int(match[1])
    elif "GPU" in text or "(UUID: " in text or _VERDICT_LIKE.search(text):
        report.at("unknown-line", text[:200], told.line)
    if match := _DEVICE.search(text[-_TAIL:]):
        check.parameters |= {"precision": match[1].casefold(), "tensor_cores": match[2] is not None}


def _progress(state: _State, told: Told, report: Report) -> None:
    """Take the last complete progress of a line, and the errors of all that is read."""
    line = told.line
    begin = max(0, len(line.data) - _TAIL)
    text = line.data[begin:].decode("latin-1")
    starts = [match.start() for match in _PROGRESS.finditer(text)]
    if not starts:
        report.at("malformed-progress", "no progress at the line's end", line)
        return
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        work, _, rest = text[start:stop].partition("errors: ")
        errors, _, rest = rest.partition("temps: ")
        temperatures, _, powers = rest.partition("power: ")
        found = _WORK.findall(work)
        if not found or not rest or len(found) != work.count("(") or _NOT_FINITE.search(text[start:stop]):
            report.at("malformed-progress", text[start:stop].strip()[:200], line)
        if not found or not rest or (told.is_cut and stop == len(text)):
            continue  # cut off
        length = len(text[start:stop].rstrip())
        state.progress = Line(line.number, line.offset + begin + start, line.data[begin + start : begin + start + length])
        for number, (processed, rate) in enumerate(found):
            gpu = state.gpus.setdefault(number, _Gpu())
            gpu.has_died = gpu.has_died or processed == "-1"
            gpu.gflop_per_s = None if processed in ("-1", "0") else number_in(rate)  # nothing done is nothing measured
            count = _part(errors, number, line, report, integer=True)
            gpu.errors = None if count is not None and count < 0 else count  # -1 beside DIED
            gpu.most_errors = max(gpu.most_errors, gpu.errors or 0)
            gpu.temperature_c, gpu.power_w = (_part(part, number, line, report) for part in (temperatures, powers))


def _part(text: str, number: int, line: Line, report: Report, *, integer: bool = False) -> Any:
    """The number at the head of a part of `0 - 2  (WARNING!) - 0`; None for `--`, and, reported as an issue, for what is not a number."""
    parts = re.split(r"\s-\s|\s-$", text)
    word = parts[number].split()[:1] if number < len(parts) else []
    if not word or word[0] == "--":
        return None
    return (table_integer if integer else table_number)(word[0], "progress", line, report)


def _finished(state: _State) -> Rows:
    check = state.check
    faults: list[str] = []
    for number, gpu in sorted(state.gpus.items()):
        fault = "FAULTY" if gpu.verdict == "FAULTY" else "DIED" if gpu.has_died else (
            f"{gpu.most_errors} errors" if gpu.most_errors else None
        )
        if fault:
            faults.append(f"GPU {number}: {fault}")
        if state.progress is not None:
            yield point(
                check, state.progress, 1, number + 1, "gpu", scope_name=f"GPU {number}", gpu_number=number,
                status="failed" if fault else "measured", status_reason=fault, gflop_per_s=gpu.gflop_per_s,
                error_count=None if gpu.errors is None else gpu.most_errors,
                temperature_c=gpu.temperature_c, power_w=gpu.power_w,
            )
    verdicts = sum(gpu.verdict is not None for gpu in state.gpus.values())
    reason = state.complaint or (faults[0] if faults else None if verdicts else state.error)
    if reason is None and not verdicts:
        reason = "the log ends before the verdict"
    elif reason is None and state.tested not in (None, verdicts):
        reason = f"the log has verdicts of {verdicts} of {state.tested} GPUs"
    yield from one_test(check, reason)
