"""Tables of nccl-tests and rccl-tests with blank cells and cut rows: each value lands in its own column, or not at all.

The formatter below writes rows as the tools do (`PRINT("%12li  %12li  %8s  %6s  %6i")` and `"  %7s  %6.2f  %6.2f  %5s"` in
common.cu of both, and in each collective's print_line_header of the versions before 2.13), and knows nothing of the parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from built import built, sql_of
from hypothesis import given, settings
from hypothesis import strategies as st
from standard import standard_project
from test_fabric_check_ingestor import codes, of_log, points

from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

NCCL = import_module("test_fabric_check_package.nccl_text")
TABLES = import_module("test_fabric_check_package.tables")

Half = tuple[float, float, float, str] | None  # time, algorithm and bus bandwidth, what was wrong; None: not run


@dataclass(frozen=True)
class Row:
    size: int
    kind: str
    redop: str
    root: int | None
    halves: tuple[Half, Half]


@dataclass(frozen=True)
class Table:
    """`has_redop`, `has_root`: whether the table has the column at all. `wrong`: what it calls the last of a half, if it has it."""

    rows: tuple[Row, ...]
    has_redop: bool
    has_root: bool
    wrong: str | None
    type_width: int
    tag: str = ""

    @property
    def head(self) -> str:
        left = [f"{'size':>10}", f"{'count':>12}", f"{'type':>{self.type_width}}"]
        left += [f"{'redop':>6}"] * self.has_redop + [f"{'root':>6}"] * self.has_root
        half = [f"{'time':>7}", f"{'algbw':>6}", f"{'busbw':>6}"] + ([f"{self.wrong:>6}"[-6:]] if self.wrong else [])
        units = [f"{'(B)':>10}", f"{'(elements)':>12}", f"{'(us)':>7}", f"{'(GB/s)':>6}", f"{'(GB/s)':>6}"]
        lines = [
            "# nThread 1 nGpus 8 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 validation: 0",
            "# " + "  ".join([*left, *half, *half]),
            "# " + "  ".join(units),
        ]
        return "".join(f"{self.tag}{line}\n" for line in lines)

    def line(self, row: Row) -> str:
        left = [f"{row.size:12}", f"{row.size // 4:12}", f"{row.kind:>{self.type_width}}"]
        left += [f"{row.redop:>6}"] * self.has_redop + [f"{'' if row.root is None else row.root:>6}"] * self.has_root
        cells = [*left]
        for half in row.halves:
            if half is None:
                cells.append(" " * (23 + 8 * bool(self.wrong)))
                continue
            time, algorithm, bus, wrong = half
            cells += [f"{written(time):>7}", f"{algorithm:6.2f}", f"{bus:6.2f}"] + ([f"{wrong:>6}"] if self.wrong else [])
        return self.tag + "  ".join(cells)

    def points(self, row: Row) -> dict[str, tuple[Any, ...]]:
        """What a row states, by placement."""
        found = {}
        for placement, half in zip(("out_of_place", "in_place"), row.halves, strict=True):
            if half is not None:
                time, algorithm, bus, wrong = half
                redop = row.redop if self.has_redop and row.redop not in ("", "none") else None
                root = row.root if self.has_root and row.root is not None and row.root >= 0 else None
                count = float(wrong) if self.wrong and wrong not in ("", "N/A") else None
                found[placement] = (
                    row.size, row.size // 4, row.kind, redop, root, float(written(time)), float(f"{algorithm:.2f}"), float(f"{bus:.2f}"), count
                )
        return found


def written(time: float) -> str:
    return f"{time:.0f}" if time >= 10000 else f"{time:.1f}" if time >= 100 else f"{time:.2f}"


def read(text: str) -> tuple[list[dict[str, tuple[Any, ...]]], list[str]]:
    """The points of each row that the parser finds, and the codes of its issues."""
    buffer = RowBuffer(dict(TABLES.TABLES), "")
    found: dict[int, dict[str, tuple[Any, ...]]] = {}
    for row in NCCL.rows(text.encode(), Report(buffer, "x.log", None), "x.log"):
        if row.table == TABLES.POINT:
            columns = row.columns
            keys = ("message_bytes", "element_count", "element_type", "redop", "root", "time_us", "alg_bandwidth_gb_per_s", "bus_bandwidth_gb_per_s")
            wrong = columns.get("wrong_count", columns.get("max_error"))
            found.setdefault(columns["line_number"], {})[columns["placement"]] = (*(columns.get(key) for key in keys), wrong)
    issues = [row["code"] for _, batch in buffer.rest() for row in batch.to_pylist()]
    return [found[line] for line in sorted(found)], issues


bandwidths = st.floats(0, 99_999, allow_nan=False)
halves = st.tuples(st.floats(0.01, 5e7), bandwidths, bandwidths, st.sampled_from(["0", "3", "N/A", "", "2e+00", "1e+06"]))
either = st.one_of(st.tuples(halves, halves), st.tuples(halves, st.none()), st.tuples(st.none(), halves))
row_of = st.builds(
    Row, st.integers(0, 1 << 43), st.sampled_from(["float", "half", "int8", "uint64", "bfloat16"]), st.sampled_from(["sum", "none", "prod", ""]),
    st.one_of(st.none(), st.integers(-1, 511)), either,
)
tables = st.builds(
    Table, st.lists(row_of, min_size=1, max_size=4).map(tuple), st.booleans(), st.booleans(), st.sampled_from(["#wrong", "error", None]),
    st.sampled_from([6, 8]), st.sampled_from(["", "[1,0]<stdout>:", "0: "]),
)


def is_whole(row: Row) -> bool:
    return None not in row.halves


@settings(max_examples=150, deadline=None)
@given(tables)
def test_blank_cells_shift_nothing(table: Table) -> None:
    rows = [row for row in table.rows if row.halves[1] is not None]
    found, issues = read(table.head + "".join(table.line(row) + "\n" for row in rows))
    assert found == [table.points(row) for row in rows]
    assert issues == []


@settings(max_examples=300, deadline=None)
@given(tables, st.data())
def test_a_row_that_was_cut_is_reported_and_states_nothing_false(table: Table, data: st.DataObject) -> None:
    """A cut within the last cell leaves a row that may be whole."""
    row = data.draw(st.sampled_from([row for row in table.rows if is_whole(row)] or [Row(8, "float", "", None, ((1, 2, 3, "0"), (4, 5, 6, "0")))]))
    line = table.line(row)
    first, last = line.index(str(row.size), len(table.tag)) + 1, len(line.rstrip()) - len(line.split()[-1])
    cut = line[: data.draw(st.integers(first, last))]
    ending = data.draw(st.sampled_from(["\n", "\nsrun: error: gpu01: task 0: Killed\n", ""]))
    found, issues = read(table.head + table.line(row) + "\n" + cut + ending)
    truth = table.points(row)
    assert found[0] == truth
    for point in found[1:]:
        assert point.items() <= truth.items() and len(point) < len(truth)
    # Of a file that ends in a number, the end is reported, and the number is not read.
    assert {"truncated-row", "malformed-row"} & set(issues) or not ending and len(cut.removeprefix(table.tag).split()) == 1


def tabbed(line: str) -> str:
    return "\t".join(line.split())


@settings(max_examples=150, deadline=None)
@given(tables, st.booleans())
def test_a_table_between_tabs_is_read_by_them(table: Table, has_tabbed_head: bool) -> None:
    """As spreadsheets and `awk -v OFS='\\t'` write it: a blank cell is two tabs."""
    rows = [row for row in table.rows if row.halves[1] is not None]
    lines = []
    for row in rows:
        left = [str(row.size), str(row.size // 4), row.kind] + [row.redop] * table.has_redop
        left += ["" if row.root is None else str(row.root)] * table.has_root
        empty = [""] * (3 + bool(table.wrong))
        halves = (empty if half is None else [written(half[0]), f"{half[1]:.2f}", f"{half[2]:.2f}", *[half[3]] * bool(table.wrong)] for half in row.halves)
        lines.append(table.tag + "\t".join([*left, *(cell for half in halves for cell in half)]) + "\n")
    first, *columns = table.head.splitlines(keepends=True)
    if has_tabbed_head:
        columns = [table.tag + tabbed(line.removeprefix(table.tag)) + "\n" for line in columns]
    found, issues = read("".join([first, *columns, *lines]))
    assert found == [table.points(row) for row in rows]
    assert issues == []


WHOLE = Row(1048576, "float", "sum", -1, ((43.67, 24.01, 42.02, "0"), (42.91, 24.44, 42.76, "12")))
PLAIN = Table((WHOLE,), True, True, "#wrong", 8)


@pytest.mark.parametrize("cut", range(1, 14))
def test_a_row_between_tabs_that_was_cut_states_nothing_false(cut: int) -> None:
    cells = tabbed(PLAIN.line(WHOLE)).split("\t")[:cut]
    [whole, *rest], issues = read(PLAIN.head + PLAIN.line(WHOLE) + "\n" + "\t".join([*cells[:-1], cells[-1][:1]]) + "\n")
    truth = PLAIN.points(WHOLE)
    assert whole == truth and ({"truncated-row", "malformed-row"} & set(issues) or cut == 13)
    if cut < 13:  # a cut within the last cell leaves a row that may be whole
        assert all(point.items() < truth.items() for point in rest)


@pytest.mark.parametrize("wrong", ["#wrong", None])
@pytest.mark.parametrize("has_tabs", [False, True])
@pytest.mark.parametrize("placement", ["out_of_place", "in_place"])
def test_blank_rates_leave_the_rest_of_their_half(placement: str, has_tabs: bool, wrong: str | None) -> None:
    table = Table((WHOLE,), True, True, wrong, 8)
    line = table.line(WHOLE)
    rates = "   24.44   42.76" if placement == "in_place" else "   24.01   42.02"
    assert line.count(rates) == 1
    if has_tabs:
        line = tabbed(line).replace(tabbed(rates), "\t")
    else:
        line = line.replace(rates, " " * len(rates))
    [found], issues = read(table.head + line + "\n")
    expected = table.points(WHOLE)
    expected[placement] = (*expected[placement][:6], None, None, expected[placement][-1])
    assert found == expected and issues == ["blank-cell"]


ALL_TO_ALL = """\
# nThread 1 nGpus 8 minBytes 1 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 validation: 0
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0   float             1.63    0.00    0.00    N/A     1.38    0.00    0.00    N/A
     1048576         32768   float            87.42   11.99   10.50    N/A    88.90   11.79   10.32    N/A
  8589934592     268435456   float            33508  256.36  224.31    N/A    33234  258.47  226.16    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 78.5483
"""


@pytest.mark.parametrize("is_collapsed", [False, True])
def test_an_all_to_all_without_operator_is_read_by_its_columns(tmp_path: Path, is_collapsed: bool) -> None:
    text = "\n".join(" ".join(line.split()) for line in ALL_TO_ALL.splitlines()) + "\n" if is_collapsed else ALL_TO_ALL
    rows = of_log(tmp_path, text, "nccl_alltoall.log")
    assert points(rows, "placement", "message_bytes", "redop", "root", "time_us", "alg_bandwidth_gb_per_s", "bus_bandwidth_gb_per_s", "max_error") == [
        ("out_of_place", 0, None, None, 1.63, 0.0, 0.0, None), ("in_place", 0, None, None, 1.38, 0.0, 0.0, None),
        ("out_of_place", 1048576, None, None, 87.42, 11.99, 10.5, None), ("in_place", 1048576, None, None, 88.9, 11.79, 10.32, None),
        ("out_of_place", 8589934592, None, None, 33508, 256.36, 224.31, None), ("in_place", 8589934592, None, None, 33234, 258.47, 226.16, None),
    ]
    assert codes(rows) == {"test-from-file-name": 1}


def test_a_root_without_an_operator_is_no_time(tmp_path: Path) -> None:
    text = ALL_TO_ALL.replace("type   redop     time", "type   redop    root     time").replace("float        ", "float               0")
    rows = of_log(tmp_path, text, "nccl_reduce.log")
    assert points(rows, "redop", "root", "time_us")[::2] == [(None, 0, 1.63), (None, 0, 87.42), (None, 0, 33508)]
    assert codes(rows) == {"test-from-file-name": 1}


def test_an_error_above_the_threshold_is_a_failed_point(tmp_path: Path) -> None:
    text = ALL_TO_ALL.replace("10.50    N/A ", "10.50  1e+00*")
    rows = of_log(tmp_path, text, "nccl_alltoall.log")
    assert points(rows, "max_error", "status")[1:4] == [(None, "measured"), (1.0, "failed"), (None, "measured")] and codes(rows) == {"wrong-values": 1, "test-from-file-name": 1}


def test_the_real_all_to_all_has_all_of_its_points(missed_evidence: Path, tmp_path: Path) -> None:
    log = missed_evidence / "microsoft__superbenchmark/tests/data/nccl_alltoall.log"
    sql = sql_of(built(log, standard_project(tmp_path / "project")))
    stated = [line.split() for line in log.read_text().splitlines() if line[:1] == " "]
    truth = sorted(
        (int(words[0]), placement, *map(float, words[3 + shift : 6 + shift]))
        for words in stated for placement, shift in (("out_of_place", 0), ("in_place", 4))
    )
    assert sql("select message_bytes, placement, time_us, alg_bandwidth_gb_per_s, bus_bandwidth_gb_per_s from fabric_outcome_fact "
               "where scope = 'point' order by all") == truth
    # As SOURCES.md of the evidence has it.
    assert (1048576, "out_of_place", 87.42, 11.99, 10.5) in truth and len(truth) == 68
    assert sql("select distinct redop, root from fabric_outcome_fact where scope = 'point'") == [(None, None)]
    assert sql("select code, severity from ingest_issue") == [("test-from-file-name", "note")]


def test_a_wide_number_that_was_cut_within_its_decimals_is_not_read() -> None:
    """It overflows its column, so that what is left of it ends where the column does."""
    row = Row(0, "float", "sum", None, ((1.0, 0.0, 10000.5, "0"), (1.0, 0.0, 0.0, "0")))
    table = Table((row,), True, True, None, 6, "0: ")
    line = table.line(row)
    found, issues = read(table.head + line + "\n" + line[: line.index("10000.") + len("10000.")] + "\n")
    assert found == [table.points(row)] and issues == ["malformed-row"]
