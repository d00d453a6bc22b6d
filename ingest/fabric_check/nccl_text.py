"""The text of nccl-tests and rccl-tests, from the first releases (`error` columns, no test's name) to 2.17 (`nccl-tests
version`, per-iteration columns, timestamps). One log holds any number of tests, each a process of its own: a check each.

Columns are read by the table's own header. Source of the formats: NVIDIA/nccl-tests src/common.cu and src/util.cu,
ROCm/rccl-tests src/common.cu.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.readers.text import Data, Line, Report, clean, number_in
from warehouse.landing.severity import NOTE, WARNING

from .check import Check, Row, Rows, at, end, endpoint, entry, integer_in, is_missing, is_row_like, test
from .nccl_table import SAYS_NOTHING, Section, read_columns, table_row
from .streams import Told, told_lines

MARK = re.compile(rb"#\s*(?:nThreads?:?\s+\d+\s+nGpus|nccl-tests version\s|Collective test starting:)")

_VERSION = re.compile(r"#\s*nccl-tests version\s+(\S+)(.*)")
_STARTING = re.compile(r"#\s*Collective test starting:\s*(\S+)")
_HEADER = re.compile(r"#\s*nThreads?:?\s+\d+\s+nGpus")
_PARAMETER = re.compile(
    r"\b(nThreads?|nGpus|nRanks|minBytes|maxBytes|warmup ?iters|agg ?iters|iters|validation|graph|unalign):?\s+(\S+)",
    re.IGNORECASE,
)
_STEP = re.compile(r"\bstep:\s*(\d+)\s*\((\w+)\)")
_RANK = re.compile(
    r"#\s*Rank\s+(\d+)(?:\s+Group\s+\d+)?\s+Pid\s+(\d+)\s+on\s+(\S+)\s+device\s+(\d+)\s+\[([^\]]*)\]\s*(.*)"
)
_GROUP = re.compile(r"\sGroup\s+0*[1-9]")
_REDUCING = re.compile(r"#\s*Reducing maxBytes to\s+(\S+)")
_VERDICT = re.compile(r"#\s*(Out of bounds values|Avg bus bandwidth)\s*:\s*(\S*)\s*(OK|FAILED)?\s*(.*)")
_LIBRARY = re.compile(r"(?:(nccl-headers|nccl-library)=(\S+))")
_SOFTWARE = re.compile(r"(\S{1,20} version|rccl-tests: Version)\s*:?\s*(\S.*)")
_COMMAND = re.compile(r"\b(\w+_perf)(?:_mpi)?(?=\s+-)")  # with MPI, builds are often installed under a second name
_SIZE = re.compile(r"\d+(?!\S)", re.ASCII)
_ROW = re.compile(r"\d+\s+\d+\s+[a-z]\w*\s")
ERROR = re.compile(
    r"Test (?:NCCL |CUDA |MPI )?(?:failure|timeout)|^# error:|NCCL WARN|unhandled (?:system|cuda) error|srun: error"
    r"|slurmstepd: error|mpirun (?:detected|noticed)|DUE TO TIME LIMIT|CANCELLED|Segmentation fault|out of memory|ERROR"
    r"|Invalid number of GPUs|Killed\b|command not found|cannot open shared object"
)
# What a file's name may call a test, the longer names first; the value is the program's name.
_NAMED_TESTS = {
    name.replace("_", ""): f"{name}_perf"
    for name in (
        "reduce_scatter", "all_reduce_bias", "all_reduce", "all_gather", "alltoallv", "alltoall", "sendrecv", "broadcast",
        "hypercube", "scatter", "gather", "reduce",
    )
}
_TEST_NAME = re.compile("|".join(_NAMED_TESTS))


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a log. `file_name` names the test where an old log does not."""
    sections: dict[str, Section] = {}
    command: tuple[str, int] | None = None  # the program that is to run, and where the log says so
    has_erred: set[str] = set()  # the processes that reported an error outside of a test
    for told in told_lines(data, report, noise=b"NCCL INFO"):
        section = sections.get(told.tag)
        if _begins(told.text, section):
            rivals: set[str] = set()
            if section is not None:
                if section.has_header and not section.points and not section.is_concluded and section.error is None:
                    # With MPI one process writes for all hosts; without it each lists its own.
                    rivals = section.rival_hosts | set(section.check.nodes if len(section.check.nodes) == 1 else ())
                yield from _finished(section, report)
                if command is not None and command[1] < section.check.offset:
                    command = None  # it was that test's
            section = sections[told.tag] = Section(Check("nccl-tests", None, told.line.offset), rival_hosts=rivals)
            has_erred.discard(told.tag)
        if section is None or section.is_concluded and not _still_of(section, told.text):
            if match := _COMMAND.search(told.text):
                command = match[1], told.line.offset
            _outside(told, report, has_erred)
            continue
        found = list(_line(section, told, report))
        if not section.is_named and (section.check.test is not None or section.has_header):
            _name(section, command[0] if command else None, file_name, told.line, report)
        if section.check.test is None and not section.has_header:
            section.waiting += found
            continue
        yield from section.waiting
        section.waiting = []
        yield from found
    for section in sections.values():
        yield from _finished(section, report)


def _still_of(section: Section, text: str) -> bool:
    """Whether a line after a test's average is of that test: the first lines of the next one may be lost, but not its rows."""
    section.is_over = section.is_over or is_row_like(text)
    return SAYS_NOTHING.fullmatch(text) is not None or not section.is_over and _VERDICT.match(text) is not None


def _outside(told: Told, report: Report, has_erred: set[str]) -> None:
    """Report a line before, between or after tests that should belong to one. Other programs may write there: of what
    looks like an error, the first is enough."""
    if _ROW.match(told.text) and is_row_like(told.text):
        report.at("row-outside-of-a-test", told.text[:200], told.line, "error")
    elif told.text.startswith("#") and _LIBRARY.search(told.text):
        report.at("unknown-line", told.text[:200], told.line)
    elif told.tag not in has_erred and ERROR.search(told.text):
        has_erred.add(told.tag)
        report.at("error-outside-of-a-test", told.text[:300], told.line)


def _name(section: Section, program: str | None, file_name: str, line: Line, report: Report) -> None:
    """Settle which test it is. The tool's own line goes before the command line, and this before the file's name; without
    that line, two that disagree name none."""
    check, by_file = section.check, test_named(file_name)
    section.is_named = True
    if check.test is not None:
        if by_file not in (None, check.test):
            message = f"the log is of {check.test}, the file's name says {by_file}: the log is taken"
            report.at("test-name-disagrees", clean(message)[:300], line, NOTE)
        return
    check.is_test_stated = False
    if program is not None and by_file not in (None, program):
        message = f"the command line runs {program}, the file's name says {by_file}, and the tool names no test: none is taken"
        report.at("test-name-disagrees", clean(message)[:300], line, WARNING)
        return
    check.test = program or by_file
    if program is None and by_file is not None:
        report.at("test-from-file-name", f"the log does not name its test: {by_file} is from the file's name", line, NOTE)


def test_named(file_name: str) -> str | None:
    """The program whose output a file's name says it holds; None where it names several."""
    folded = re.sub(r"[^a-z]", "", file_name.casefold())
    found = {_NAMED_TESTS[name] for name in _TEST_NAME.findall(folded)}
    return found.pop() if len(found) == 1 else None


def _begins(text: str, section: Section | None) -> bool:
    """Whether a line begins another test than the one under way."""
    if not text.startswith("#"):
        return False
    under_way = section is not None and not section.is_concluded
    if _VERSION.match(text):
        return True
    if _STARTING.match(text):
        return not under_way or (section is not None and (section.has_header or section.check.test is not None))
    return bool(_HEADER.match(text)) and (not under_way or (section is not None and section.has_header))


def _line(section: Section, told: Told, report: Report) -> Rows:
    text, check = told.text, section.check
    if text.startswith("#"):
        check.cover(*at(told.line))
        yield from _comment(section, told, report)
    elif section.left and _SIZE.match(text):
        check.cover(*at(told.line))
        yield from table_row(section, told, report)
    elif is_row_like(text):
        report.at("malformed-row", text[:200], told.line, "error")
    elif match := _SOFTWARE.match(text):
        check.cover(*at(told.line))
        if match[1].startswith("rccl"):
            check.tool = "rccl-tests"
            check.tool_version = None if is_missing(match[2]) else clean(match[2].strip())[:256]
        else:
            yield entry(check, told.line, match[1], match[2].strip())
    elif ERROR.search(text):
        section.error = section.error or text
        check.cover(*at(told.line))


def _comment(section: Section, told: Told, report: Report) -> Rows:
    text, check, line = told.text, section.check, told.line
    if match := _RANK.match(text):
        if (number := int(match[1][:9])) in section.ranks:
            report.at("repeated-rank", text[:200], line, "error")
            check.are_ranks_one_group = False
            if section.ranks[number] != text:  # processes without MPI, each of which has a rank 0: whose a row is nothing says
                section.complaint = section.complaint or f"several processes are rank {number}"
            return
        section.ranks[number] = text
        check.are_ranks_one_group = check.are_ranks_one_group and _GROUP.search(text) is None
        check.rank_count = (check.rank_count or 0) + 1
        section.processes.append(f"{number} {match[2]} {match[3]} {int(match[4][:9])} {match[5]}")
        yield endpoint(
            check, line, "rank", number, node_name=clean(match[3])[:256], device=int(match[4][:9]),
            bus_id=clean(match[5])[:256] or None, model=clean(match[6]).strip()[:256] or None,
        )
    elif match := _VERSION.match(text):
        check.tool_version = clean(match[1])[:256]
        for library in _LIBRARY.finditer(match[2]):
            yield entry(check, line, library[1], library[2])
    elif match := _STARTING.match(text):
        check.test = clean(match[1])[:256]
    elif _HEADER.match(text):
        section.has_header = True
        yield from _parameters(section, line, text, report)
    elif match := _REDUCING.match(text):
        section.reduced_to = match[1]
        yield entry(check, line, "Reducing maxBytes to", match[1], 1)
    elif match := _VERDICT.match(text):
        section.complaint = section.complaint or (text.lstrip("# ") if match[3] == "FAILED" else None)
        row = entry(check, line, match[1], match[2], 1)
        if match[1].startswith("Avg") and (number := row.columns["value_number"]) is not None:
            in_gb_per_s = None if section.bus_unit is None else number * section.bus_unit
            row = row._replace(columns={**row.columns, "value_number": in_gb_per_s})
        yield row
        if match[4]:
            report.at("unknown-line", text[:200], line)
        if match[1].startswith("Avg"):
            section.average, section.average_text = number_in(match[2]), match[2]
            section.is_concluded = True
    elif ERROR.search(text):
        section.error = section.error or text.lstrip("# ")
    elif "minBytes" in text:  # it was the header
        report.at("unknown-line", text[:200], line)
    else:
        read_columns(section, line, text, report)


def _parameters(section: Section, line: Line, text: str, report: Report) -> Rows:
    check = section.check
    stated = {re.sub(r"\s", "", match[1]).casefold(): match[2] for match in _PARAMETER.finditer(text)}
    for key, value in stated.items():
        yield entry(check, line, key, value)
    names = {
        "minbytes": "min_bytes", "maxbytes": "max_bytes", "warmupiters": "warmup_iters", "iters": "iters",
        "aggiters": "agg_iters", "validation": "validation", "graph": "graph", "unalign": "unalign",
    }
    check.parameters |= {names[key]: integer_in(value) for key, value in stated.items() if key in names}
    rest = _STEP.sub("", _PARAMETER.sub("", text)).strip("# ")
    if rest:
        report.at("unknown-parameter", rest[:200], line)
    if match := _STEP.search(text):
        check.parameters |= {"step": integer_in(match[1]), "step_kind": clean(match[2])}


def _finished(section: Section, report: Report) -> Iterator[Row]:
    """The rows that only the test's end settles."""
    check = section.check
    yield from section.waiting
    for name, seen in section.kinds.items():
        if seen - {"-1"}:
            check.parameters[f"{name}s"] = sorted(seen - {"-1"})
    if section.points and len(check.nodes) == 1 and section.rival_hosts - set(check.nodes):
        # Processes without MPI write into one log, each with ranks of its own: whose a table is, nothing says.
        check.are_hosts_known, check.are_ranks_one_group, check.nodes = False, False, []
        hosts = ", ".join(sorted({*section.rival_hosts, *(process.split()[2] for process in section.processes)}))
        message = f"tests without MPI on several hosts ({hosts}) began in this log before any table: which host a table is of is not known"
        report("hosts-unknown", message[:300], check.offset, check.length)
    if section.processes:
        check.origin = "; ".join(sorted(section.processes))
    reason = section.complaint
    if reason is None and section.average is None:
        missing = section.average_text and f"the average bus bandwidth is {section.average_text}"
        reason = section.error or missing or "the log has no average bus bandwidth"
    check.conclude(reason)
    status = "measured" if reason is None else "failed"
    if reason is None and section.bus_unit is None:
        status, reason = "unknown", "the unit of the bus bandwidth is not known"
    elif reason is None and section.reduced_to is not None:
        status, reason = "reduced", f"maxBytes {check.parameters.get('max_bytes')} was reduced to {section.reduced_to}"
    yield test(check, check.offset, check.length, 1, check.test, status, reason)
    yield end(check)
