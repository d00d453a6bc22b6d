"""The description that `wh new ingestor` writes of a text: what it reads of its own sample, and what it leaves to the user."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import WhOn
from landed import landed

from warehouse.errors import WarehouseError
from warehouse.landing.described.checking import description_faults
from warehouse.landing.described.ingestor import described_ingestor
from warehouse.project.making import init_project
from warehouse.starting.description_text import description_text

SAMPLES = {  # a text, what its description must say, and the metrics that it reads
    "copies.txt": (
        "1\tMethod: MEMCPY\tElapsed: 0.25\tMiB: 8.0\tCopy: 32.5 MiB/s\n2\tMethod: DUMB\tElapsed: 0.5\tMiB: 8.0\tCopy: 16.5 MiB/s\n",
        ['= "{n:number} Method: {method:word} Elapsed: {elapsed:number} MiB: {mib:number} Copy: {copy:number} MiB/s"', "# each = "],
        {"elapsed_memcpy": [(0.25, None)], "elapsed_dumb": [(0.5, None)], "copy_memcpy": [(32.5, "MiB/s")], "copy_dumb": [(16.5, "MiB/s")]},
    ),
    "load.txt": (
        "TLS: 1.3.0\nfinished in 812.4ms, 1230.5 req/s\nrequests: 1000 total, 998 done, 2xx\n",
        ['# tls = "TLS: {value}"', "total, {"], {"finished_in_req_s_n": [(1230.5, "1/s")], "requests_total_done_2xx_requests": [(1000.0, None)]},
    ),
    "units.txt": (
        "4 KiB from /tmp/x: time=285.1us ok\n4 KiB from /tmp/x: time=1.2ms ok\n", ['{path:word}'], {"kib_from_ok_time": [(285.1, "us"), (1200.0, "us")]},
    ),
    "grouped.txt": ("Score: 12,345 points\nRate: 1,234.5 MB/s\n", ['thousands = ","  # guess'], {"score": [(12345.0, None)], "rate": [(1234.5, "MB/s")]}),
    "german.txt": ("Rate: 1.234,5 MB/s\nTime: 12,5 s\n", ['decimal = ","  # guess'], {"rate": [(1234.5, "MB/s")], "time": [(12.5, "s")]}),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_lines_of_a_text_become_metrics_and_the_others_comments(name: str, tmp_path: Path) -> None:
    text, says, metrics = SAMPLES[name]
    sample = tmp_path / "sample.txt"
    sample.write_text(text)
    guess = description_text("x", [sample])
    (tmp_path / "format.toml").write_text(guess.text)
    ingestor = described_ingestor(tmp_path / "format.toml")
    assert all(each in guess.text for each in says) and not list(description_faults(ingestor.description, tmp_path, "x"))
    rows = landed(ingestor, sample, tmp_path / "store")
    found: dict[str, list[tuple[float, str | None]]] = {}
    for row in rows["described_value"]:
        found.setdefault(row["key"], []).append((row["value_number"], row["unit"]))
    assert {name: found.get(name) for name in metrics} == metrics
    assert not rows["evidence_issue"]


def test_two_devices_are_no_repeats_of_each_other_and_a_time_is_no_case(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("test;host_device;Time;status;ms;\nread;nvme0;11:02:33.125;ok;1,5;\nread;nvme1;11:02:35.125;FAILED;2,5;\n")
    guess = description_text("x", [tmp_path / "a.csv"])
    (tmp_path / "format.toml").write_text(guess.text)
    assert 'case = "x/{test}"' in guess.text and 'parameters = ["host_device"]' in guess.text and "# not read: Time, status" in guess.text
    rows = landed(described_ingestor(tmp_path / "format.toml"), tmp_path / "a.csv", tmp_path / "store")
    assert [row["value_number"] for row in rows["described_value"] if row["key"] == "ms"] == [1.5, 2.5] and not rows["evidence_issue"]


def test_units_that_are_not_known_are_told_and_a_time_is_no_parameter(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"name": "a", "beginTime": "2026-04-09T11:02:33Z", "value": 1.5, "unit": "ms"}\n{"name": "b", "value": 2.5, "unit": "docs/s"}\n')
    guess = description_text("x", [tmp_path / "a.jsonl"])
    assert 'unit_from = "unit"  # guess' in guess.text and "# not read: beginTime" in guess.text and guess.doubtful == ("no such unit: docs/s; values in it are not read",)


def test_a_cell_that_says_that_there_is_no_value_needs_no_unit(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("test,mean\na,1.5 ms\nb,NA\n")
    (tmp_path / "format.toml").write_text(description_text("x", [tmp_path / "a.csv"]).text)
    rows = landed(described_ingestor(tmp_path / "format.toml"), tmp_path / "a.csv", tmp_path / "store")
    assert [row["value_number"] for row in rows["described_value"]] == [1.5, None] and not rows["evidence_issue"]


@pytest.mark.parametrize(("name", "text", "says"), [("a.txt", "hello\nworld\n", "no line of it has a number"), ("a.csv", "1,a,2,b\n3,c,4,d\n", "a table without a header")])
def test_what_nothing_can_be_started_from_says_why(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(WarehouseError, match=says) as fault:
        description_text("x", [tmp_path / name])
    assert fault.value.code == "WH007"


def test_a_started_description_says_what_reads_the_file_already_and_its_own_faults(tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    project = init_project(tmp_path / "project")
    (tmp_path / "bench.txt").write_text("running 1 test\ntest bench_parse ... bench: 12,345 ns/iter (+/- 678)\n")
    status, out, err = wh_on(project, "new", "ingestor", "mine", "--from", str(tmp_path / "bench.txt"))
    assert status == 0 and "rust_bench reads bench.txt already" in err and out.split() == ["ingest/mine/format.toml", "ingest/mine/sample.txt"]
    monkeypatch.setattr("warehouse.starting.lines_text._name", lambda text: "x")  # patterns without names of their own
    monkeypatch.setattr("warehouse.starting.lines_text._MOST_KEYS", 1)
    (tmp_path / "odd.txt").write_text("a: 1 s\n")
    monkeypatch.setattr("warehouse.starting.lines_text._blank", lambda mark: f"{mark} ; ")
    status, _, err = wh_on(project, "new", "ingestor", "odd", "--from", str(tmp_path / "odd.txt"))
    assert status == 1 and "sample.txt is not recognised" in err and "edit ingest/odd/format.toml" in err
