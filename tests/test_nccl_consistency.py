"""Collective tests whose figures contradict each other: reported, failed, and in no fact; and what only looks like it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from built import built, sql_of
from samples import fabric_check as sample
from standard import standard_project
from test_fabric_check_ingestor import codes, of_log

from warehouse.landing.contract import ISSUE_TABLE

GOOD = sample.nccl_section()
AVERAGE = "# Avg bus bandwidth    : 8.15 \n"
ROW = next(line + "\n" for line in GOOD.splitlines() if line.startswith("     2097152"))


def changed(old: str, new: str, text: str = GOOD) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def wrong(out: str, bounds: str) -> str:
    return sample.nccl_section(rows=(("50.27", "20.86", "10.43", out), *sample.ROWS[1:]), bounds=bounds)


# The log; the issue's code and what its message says; how many of its points keep their figures.
REFUSED = {
    "two averages": (changed(AVERAGE, AVERAGE + AVERAGE.replace("8.15", "81.5")), "conflicting-averages", "8.15 and 81.5 GB/s", 4),
    "an average above the peak": (changed("8.15", "11.90"), "average-disagrees", "they lie between 0.02 and 11.65", 4),
    "an average below zero": (changed("8.15", "-8.15"), "impossible-average", "-8.15 GB/s", 4),
    "an average of another unit": (changed("8.15", "0.05"), "average-disagrees", "a factor of 163 apart", 4),
    "a size twice": (
        changed(ROW, ROW + ROW.replace("99.91", "49.95").replace("10.50", "21.00").replace("20.99", "41.99")).replace("8.15", "9.18"),
        "conflicting-sizes", "2097152 bytes is stated 2 times", 4,  # of six: in place both rows are the same
    ),
    "wrong values": (wrong("7", "7 FAILED"), "wrong-values", "1 of 4 points have wrong values", 3),
    "wrong values that the verdict hides": (wrong("7", "0 OK"), "wrong-values", "1 of 4 points have wrong values", 3),
    "a verdict alone": (wrong("0", "7 FAILED"), "wrong-values", "Out of bounds values: 7", 4),
    "another factor": (
        changed("20.86   10.43", "20.86   20.86").replace("8.15", "10.7575"), "bandwidth-contradicted", "algorithm bandwidth 20.86 GB/s times 0.5", 3,
    ),
}
REFUSED |= {
    f"times of a table that is off by {factor}": (
        GOOD.replace("50.27", f"{50.27 * factor:.2f}").replace("99.91", f"{99.91 * factor:.1f}"), "time-contradicted", f"a factor of {factor} apart (and 1 more row", 2,
    ) for factor in (10, 8)
}
# The log, and the issues that it has all the same.
TAKEN: dict[str, tuple[str, dict[str, int]]] = {
    "as it should be": (GOOD, {}),
    "the same average twice": (changed(AVERAGE, AVERAGE * 2), {}),
    "the average of a test whose first lines are lost": (GOOD + ROW + AVERAGE.replace("8.15", "81.5"), {"row-outside-of-a-test": 1}),
    "cycles": (changed(ROW, ROW + "# Testing 2 cycle.\n" + "".join(line + "\n" for line in GOOD.splitlines() if line[:5] == "     ").replace("99.91", "99.92")), {}),
    "sizes that grow by less than an element a rank": (
        changed(ROW, ROW + ROW.replace("99.91", "99.93")).replace("2(factor)", "2(bytes)").replace("8.15", "7.19"), {},
    ),
    "an average of other rows": (changed("8.15", "8.00"), {"average-disagrees": 1}),
    "a rank's line that is lost": (
        "".join(line + "\n" for line in sample.nccl_section(gpus=2, rows=sample.even("9", 0.75), average="9").splitlines() if "Rank  3" not in line),
        {"rank-count-contradicted": 1},
    ),
    "a time that is a third off": (changed("50.27", "75.40"), {"time-contradicted": 1}),
    "a time that is 2 % off": (changed("50.27", "51.27"), {"time-contradicted": 1}),
    "the CPU's time": (GOOD.replace("    time ", " cputime").replace("50.27", " 9.27"), {}),
    "groups of ranks": (sample.nccl_section(gpus=2).replace("Group  0 Pid 7002", "Group  1 Pid 7002"), {}),
    "one rank": (sample.nccl_section(nodes=("gpu01",), rows=[("10.59", "99.00", "0.00", "0"), ("21.18", "99.00", "0.00", "0")] * 2, average="0"), {}),
    "a collective without a known factor": (sample.nccl_section("hypercube_perf"), {}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_contradiction_is_an_error_and_fails_the_test(case: str, tmp_path: Path) -> None:
    text, code, said, kept = REFUSED[case]
    rows = of_log(tmp_path, text)
    (issue,) = rows[ISSUE_TABLE]
    assert (issue["code"], issue["severity"]) == (code, "error") and said in issue["message"]
    assert issue["line_number"] is not None
    assert [run["status"] for run in rows["fabric_check_run"]] == ["failed"]
    assert sum(row["status"] == "measured" for row in rows["fabric_check_point"]) == kept


@pytest.mark.parametrize("case", TAKEN)
def test_what_an_honest_log_may_state_fails_nothing(case: str, tmp_path: Path) -> None:
    text, expected = TAKEN[case]
    rows = of_log(tmp_path, text)
    assert codes(rows) == expected
    assert [run["status"] for run in rows["fabric_check_run"]] == ["succeeded"]
    assert {row["status"] for row in rows["fabric_check_point"]} == {"measured"}
    assert all(row["value_number"] is not None for row in rows["fabric_check_entry"] if row["key"] == "Avg bus bandwidth")


@pytest.mark.parametrize(
    ("factor", "test", "nodes"),
    [(1.5, "all_reduce_perf", 4), (0.75, "all_gather_perf", 4), (0.75, "reduce_scatter_perf", 4), (0.75, "alltoall_perf", 4),
     (0.75, "gather_perf", 4), (0.75, "scatter_perf", 4), (1.0, "broadcast_perf", 4), (1.0, "reduce_perf", 4), (1.0, "sendrecv_perf", 4),
     (1.984375, "all_reduce_perf", 128)],
)
def test_the_factor_is_that_of_the_collective(factor: float, test: str, nodes: int, tmp_path: Path) -> None:
    names = [f"n{index}" for index in range(nodes)]
    right, off = (sample.nccl_section(test, names, rows=sample.even("300", by), average="300") for by in (factor, factor * 1.01))
    assert codes(of_log(tmp_path / "right", right)) == {}
    assert set(codes(of_log(tmp_path / "off", off))) in ({"bandwidth-contradicted"}, {"rank-count-contradicted"})


@pytest.mark.parametrize(("time", "severity"), [("50.32", None), ("51.27", "note"), ("75.40", "warning"), ("502.7", "error")])
def test_a_time_is_as_serious_as_it_is_off(time: str, severity: str | None, tmp_path: Path) -> None:
    issues = of_log(tmp_path, changed("50.27", time))[ISSUE_TABLE]
    assert [(row["code"], row["severity"]) for row in issues] == ([("time-contradicted", severity)] if severity else [])


def test_ranks_that_are_lost_are_told_with_both_factors(tmp_path: Path) -> None:
    (issue,) = of_log(tmp_path, TAKEN["a rank's line that is lost"][0])[ISSUE_TABLE]
    assert issue["message"] == (
        "the bus bandwidths are 0.75 times the algorithm bandwidths; alltoall on 3 ranks, as listed, has 0.6667 times (nccl-tests, "
        "PERFORMANCE.md): that is the factor of 4 ranks, and the lines of some ranks may be lost"
    )


def one_by_one(text: str) -> str:
    """The log with bus bandwidths that are the algorithm's, as no number of ranks of an all-to-all has them."""
    return text.replace("20.86   10.43", "20.86   20.86").replace("20.99   10.50", "20.99   20.99").replace(
        "23.30   11.65", "23.30   23.30").replace(" 0.04    0.02", " 0.04    0.04").replace(": 8.15", ": 16.3")


UNNAMED = GOOD.replace("# Collective test starting: alltoall_perf\n", "")


def test_a_factor_of_no_number_of_ranks_is_a_contradiction(tmp_path: Path) -> None:
    rows = of_log(tmp_path, one_by_one(GOOD))
    assert set(codes(rows)) == {"bandwidth-contradicted"} and rows["fabric_check_run"][0]["status"] == "failed"


@pytest.mark.parametrize(
    ("text", "name", "test", "issue"),
    [
        (UNNAMED, "nccl.log", None, None),
        (UNNAMED, "alltoall.log", "alltoall_perf", ("test-from-file-name", "note")),
        ("+ ./alltoall_perf -b 1M\n" + UNNAMED, "nccl.log", "alltoall_perf", None),
        ("+ ./alltoall_perf -b 1M\n" + UNNAMED, "all_gather.log", None, ("test-name-disagrees", "warning")),
        (GOOD, "all_gather.log", "alltoall_perf", ("test-name-disagrees", "note")),
        (UNNAMED, "all_gather_and_alltoall.log", None, None),
    ],
)
def test_a_test_that_the_log_does_not_name_says_where_its_name_is_from(
    text: str, name: str, test: str | None, issue: tuple[str, str] | None, tmp_path: Path
) -> None:
    rows = of_log(tmp_path, text, name)
    assert [run["test"] for run in rows["fabric_check_run"]] == [row["test"] for row in rows["fabric_check_test"]] == [test]
    assert [(row["code"], row["severity"]) for row in rows[ISSUE_TABLE]] == ([issue] if issue else [])


def test_a_name_that_the_rows_contradict_is_no_name(tmp_path: Path) -> None:
    rows = of_log(tmp_path, one_by_one(UNNAMED), "alltoall.log")
    assert [(row["code"], row["severity"]) for row in rows[ISSUE_TABLE]] == [("test-from-file-name", "note"), ("test-name-disagrees", "warning")]
    assert [run["test"] for run in rows["fabric_check_run"]] == [row["test"] for row in rows["fabric_check_test"]] == [None]
    assert rows["fabric_check_run"][0]["status"] == "succeeded"


def test_the_json_obeys_the_same_rules(tmp_path: Path) -> None:
    document = json.loads(sample.NCCL_JSON)
    document["average_bus_bandwidth"]["bandwidth"] = 1e6
    rows = of_log(tmp_path, json.dumps(document), "nccl.json")
    assert "average-disagrees" in codes(rows) and rows["fabric_check_run"][0]["status"] == "failed"


def test_no_fact_has_a_figure_that_contradicts_itself(tmp_path: Path) -> None:
    for case in REFUSED:
        sample.write(tmp_path / "logs" / case.replace(" ", "_") / "nccl.log", REFUSED[case][0])
    sql = sql_of(built(tmp_path / "logs", standard_project(tmp_path / "project")))
    assert sql("select distinct status, avg_bus_bandwidth_gb_per_s from rollup.fabric_results") == [("failed", None)]
    points = "select count(*), count(bus_bandwidth_gb_per_s), count(alg_bandwidth_gb_per_s), count(time_us) from fabric_outcome_fact"
    assert sql(f"{points} where scope = 'point' and status = 'failed'")[0][1:] == (0, 0, 0)
    assert sql(f"{points} where scope = 'point' and status = 'measured'")[0][1] == sum(kept for *_, kept in REFUSED.values())


@pytest.mark.parametrize("average", ["0", "0.00", "87.3"])
def test_an_average_without_rows_is_no_measurement(tmp_path: Path, average: str) -> None:
    log = "".join(line for line in sample.nccl_section(average=average).splitlines(keepends=True) if line.startswith("#"))
    rows = of_log(tmp_path, log)
    assert [run["status"] for run in rows["fabric_check_run"]] == ["failed"] and codes(rows) == {"average-without-rows": 1}
    assert [(row["value"], row["value_number"]) for row in rows["fabric_check_entry"] if row["key"] == "Avg bus bandwidth"] == [(average, None)]


def test_ranks_of_several_tests_without_mpi_lend_no_host_to_anothers_table(tmp_path: Path) -> None:
    first, second = (sample.nccl_section("all_reduce_perf", nodes=[node], average="10.5", rows=sample.even("10.5", 1)) for node in ("gpu01", "gpu02"))
    heads, tables = zip(*(re.split(r"(?=^#\s+out-of-place)", text, maxsplit=1, flags=re.MULTILINE) for text in (first, second)), strict=True)
    rows = of_log(tmp_path, "".join(heads) + tables[0])
    runs = {run["status"]: run["nodes"] for run in rows["fabric_check_run"]}
    assert runs == {"failed": "gpu01", "succeeded": None} and codes(rows)["hosts-unknown"] == 1
    measured = next(run["run_id"] for run in rows["fabric_check_run"] if run["status"] == "succeeded")
    assert [row["node_name"] for row in rows["fabric_check_endpoint"] if row["run_id"] == measured] == [None]
