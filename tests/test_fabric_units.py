"""Units of fabric checks: known ones are converted, unknown ones give no value and an error, whatever the tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from built import built, sql_of
from exhaustive import few
from samples import fabric_check as sample
from standard import standard_project
from test_fabric_check_ingestor import codes, of_log, points

from warehouse.landing.contract import ISSUE_TABLE

GOOD = sample.nccl_section()
UNITS = next(line for line in GOOD.splitlines() if "(GB/s)" in line)


def with_units(units: str, text: str = GOOD) -> str:
    assert text.count(UNITS) == 1
    return text.replace(UNITS, units)


def published(tmp_path: Path, text: str) -> Any:
    """The row of the collective, and its points' figures out of place, largest size first."""
    sample.write(tmp_path / "logs" / "nccl.log", text)
    sql = sql_of(built(tmp_path / "logs", standard_project(tmp_path / "project")))
    (row,) = sql("select status, status_reason, avg_bus_bandwidth_gb_per_s, peak_bus_bandwidth_gb_per_s from fabric_results")
    return row, sql("""
        select message_bytes, time_us, alg_bandwidth_gb_per_s, bus_bandwidth_gb_per_s from fabric_outcome_fact
        where scope = 'point' and placement = 'out_of_place' order by point_index desc
    """)


# By case: the header line with the units, and the factors that convert its times to us and its bandwidths to GB/s (None: unknown unit).
KNOWN = {
    "us and GB/s": (UNITS, 1, 1),
    "ms": (UNITS.replace("(us)", "(ms)"), 1000, 1),
    "MB/s": (UNITS.replace("(GB/s)", "(MB/s)"), 1, 1e-3),
    "Gb/s": (UNITS.replace("(GB/s)", "(Gb/s)"), 1, 0.125),
    "GiB/s": (UNITS.replace("(GB/s)", "(GiB/s)"), 1, 1.073741824),
}


@pytest.mark.parametrize("case", KNOWN)
def test_a_known_unit_of_a_collective_is_converted(case: str, tmp_path: Path) -> None:
    units, time, rate = KNOWN[case]
    rows = of_log(tmp_path, with_units(units))
    assert "unknown-unit" not in codes(rows)
    (average,) = [row for row in rows["fabric_check_entry"] if row["key"] == "Avg bus bandwidth"]
    if rate == 1 and time == 1:
        assert codes(rows) == {} and average["value_number"] == 8.15
    assert average["value"] == "8.15"
    assert [value for row in points(rows, "time_us", "alg_bandwidth_gb_per_s") for value in row][:2] == pytest.approx([50.27 * time, 20.86 * rate])


UNKNOWN = {
    "the rates": (UNITS.replace("(GB/s)", "(GW/s)"), "of algbw (GW/s), busbw (GW/s)", (None, None), [(2097152, 99.91, None, None), (1048576, 50.27, None, None)]),
    "the bus bandwidth alone": (
        UNITS.replace("(GB/s)  (GB/s)", "(GB/s)  (B/tick)"), "of busbw (B/tick)", (None, None), [(2097152, 99.91, 20.99, None), (1048576, 50.27, 20.86, None)],
    ),
    "the time": (UNITS.replace("(us)", "(ticks)"), "of time (ticks)", (8.15, 11.65), [(2097152, None, 20.99, 10.5), (1048576, None, 20.86, 10.43)]),
    "the size": (UNITS.replace("(B)", "(KB)"), "of size (KB)", (8.15, 11.65), [(None, 99.91, 20.99, 10.5), (None, 50.27, 20.86, 10.43)]),
    "some unit is missing": (UNITS.replace("  (us)", "      ", 1), "of time, algbw, busbw is not known", (None, None), [(2097152, None, None, None), (1048576, None, None, None)]),
}


@pytest.mark.parametrize("case", few(UNKNOWN, 1))
def test_an_unknown_unit_of_a_collective_is_an_error_and_no_value(case: str, tmp_path: Path) -> None:
    units, said, rates, figures = UNKNOWN[case]
    (issue,) = of_log(tmp_path / "landed", with_units(units))[ISSUE_TABLE]
    assert (issue["code"], issue["severity"]) == ("unknown-unit", "error") and said in issue["message"] and issue["line_number"] == 11
    row, found = published(tmp_path, with_units(units))
    assert row[2:] == rates and found == figures
    if rates[0] is None:
        assert row[:2] == ("unknown", "the unit of the bus bandwidth is not known")


# What a header of perftest has instead; the issue's code, and what lands of the row.
PERFTEST = {
    "a rate of messages in thousands": (("[Mpps]", "[Kpps]"), "unknown-unit", (100.0, 110.5, None)),
    "a peak in another unit": (("BW peak[Gb/sec]", "BW peak[MiB/sec]"), "unit-contradicted", (100.0, None, 0.190735)),
}


@pytest.mark.parametrize("case", PERFTEST)
def test_a_unit_of_perftest_that_is_not_the_tools_is_an_error_and_no_value(case: str, tmp_path: Path) -> None:
    change, code, figures = PERFTEST[case]
    text = sample.WRITE_BW.format(unit="Gb/sec", peak="110.5")
    assert text.count(change[0]) == 1
    rows = of_log(tmp_path, text.replace(*change))
    assert [(row["code"], row["severity"]) for row in rows[ISSUE_TABLE]] == [(code, "error")]
    assert points(rows, "bandwidth", "bandwidth_peak", "message_rate_mpps") == [figures]


def test_a_latency_of_perftest_in_another_unit_than_the_others_is_no_value(tmp_path: Path) -> None:
    rows = of_log(tmp_path, sample.READ_LAT.replace("t_max[usec]", "t_max[nsec]"))
    assert codes(rows) == {"unknown-unit": 1}
    assert points(rows, "latency_min", "latency_max", "latency_p99", "latency_unit") == [(0.87, None, 0.95, "usec")]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (sample.NVBANDWIDTH.replace("bandwidth (GB/s)", "bandwidth (furlongs)"), 1), (sample.GPCNET_LOAD.replace("MiB/s/rank", "GiB/s/rank"), 1),
        (sample.NVBANDWIDTH, 0), (sample.GPCNET_LOAD, 0),
    ],
)
def test_an_unknown_unit_of_nvbandwidth_or_gpcnet_is_an_error(text: str, count: int, tmp_path: Path) -> None:
    assert codes(of_log(tmp_path, text))["unknown-unit"] == count
