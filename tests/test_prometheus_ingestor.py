"""Metrics of Prometheus: the text against prometheus_client, and what lands of scrapes, answers and exports."""

from __future__ import annotations

import json
from datetime import timedelta
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as exposition
from samples import prometheus as sample

from warehouse.landing.readers.exposition import Exposition
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

PROMETHEUS = Subject("prometheus")
Sample = tuple[str, tuple[tuple[str, str], ...], str, float | None]


def ours(*texts: str) -> tuple[list[Sample], list[str]]:
    """The samples of the last text, read after the others, and the messages of what could not be read."""
    buffer, reader = RowBuffer({}, ""), Exposition()
    found: list[Sample] = []
    for text in texts:
        found = []
        for samples in reader.read(text.encode(), Report(buffer, "m", None)):
            for key, value, time in zip(samples.keys, samples.values, samples.times_s, strict=True):
                metric = reader.metrics[key]
                munged = metric.metric_type == "counter" and not metric.name.endswith("_total")  # as prometheus_client names it
                name = metric.name + "_total" * munged
                found.append((name, tuple(sorted(metric.labels.items())), repr(float(value)), None if isnan(time) else time))
    issues = [row for _, batch in buffer.rest() for row in batch.to_pylist()]
    return found, [text.split("\n")[row["line_number"] - 1] for row in issues]


def theirs(text: str) -> list[Sample]:
    return [
        (each.name, tuple(sorted(each.labels.items())), repr(float(each.value)), each.timestamp)
        for family in exposition(text) for each in family.samples
    ]


@pytest.mark.parametrize("seeds", [range(start, start + 50) for start in range(0, 200, 50)], ids=str)
def test_every_sample_is_that_of_prometheus_client(seeds: range) -> None:
    for seed in seeds:
        text, broken = sample.hostile(seed)
        found, issues = ours(text)
        assert (sorted(found, key=repr), issues) == (sorted(theirs(text), key=repr), []), text
        assert sorted(ours(text, text)[0], key=repr) == sorted(found, key=repr)  # also when the text of its series is known
        lines = text.rstrip("\n").split("\n")
        damaged = "\n".join([broken[0], *lines, broken[1]])
        with pytest.raises(ValueError):
            theirs(damaged)
        found_beside, issues = ours(text, damaged)
        assert sorted(found_beside, key=repr) == sorted(found, key=repr) and sorted(issues) == sorted(broken), damaged


def test_openmetrics_is_read_as_prometheus_client_reads_it() -> None:
    families = {family.name: family for family in openmetrics(sample.OPENMETRICS)}
    found, issues = ours(sample.OPENMETRICS)
    assert issues == []
    counted = families["requests"].samples[0]
    labels = tuple(sorted(counted.labels.items()))
    assert labels == (("code", "200"), ("path", "/a b} c"))
    assert found[0] == ("requests_total", labels, "10.0", float(counted.timestamp))
    native = families["latency_seconds"].samples[0].native_histogram
    assert native is not None and native.count_value == 12 and native.sum_value == 3.5
    assert [(name, value) for name, _, value, _ in found[2:]] == [("latency_seconds_count", "12.0"), ("latency_seconds_sum", "3.5")]


def rows_of(tmp_path: Path, **files: str) -> dict[str, list[dict[str, Any]]]:
    for name, text in files.items():
        (tmp_path / "tree").mkdir(exist_ok=True)
        (tmp_path / "tree" / name.replace("__", ".")).write_text(text)
    return PROMETHEUS.rows(tmp_path / "tree", tmp_path / "stored")


def test_scrapes_of_one_target_are_one_series_each_in_time(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, **{f"gpu01-{sample.stamp(second)}__prom": sample.gpus(second) for second in (30, 0, 15)})
    assert codes(rows) == {}
    assert len(rows["telemetry_series"]) == 12
    power = next(row for row in rows["telemetry_series"] if row["metric"] == "DCGM_FI_DEV_POWER_USAGE")
    assert (power["metric_type"], power["unit"], power["clock"], power["target"]) == ("gauge", "W", "file name", "gpu01-.prom")
    assert json.loads(power["labels"])["Hostname"] == "gpu01"
    samples = [row for row in rows["telemetry_sample"] if row["series_number"] == power["series_number"]]
    times = [sample.START + timedelta(seconds=second) for second in (0, 15, 30)]
    assert [(row["sampled_at"], row["previous_at"]) for row in samples] == list(zip(times, [None, *times[:2]], strict=True))
    assert [row["previous_value"] for row in samples] == [None, 400, 400]
    assert place(samples[0], tmp_path / "stored").startswith(b"DCGM_FI_DEV_POWER_USAGE{") and place(samples[0], tmp_path / "stored").endswith(b" 400")


def test_what_dcgm_lacks_is_no_value(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, **{f"gpu01-{sample.stamp(0)}__prom": sample.gpus(0)})
    numbers = [row["series_number"] for row in rows["telemetry_series"] if row["metric"] == "DCGM_FI_DEV_MEMORY_TEMP"]
    assert [(row["value"], row["no_value"]) for row in rows["telemetry_sample"] if row["series_number"] in numbers] == [(61, None), (None, "blank")]


def test_a_scrape_without_a_time_is_told(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, **{"gpu01__prom": sample.gpus(0), "gpu02-20261120T100000__prom": sample.gpus(0)})  # no zone
    assert codes(rows) == {"no-scrape-time": 2}
    assert {row["sampled_at"] for row in rows["telemetry_sample"]} == {None} and {row["clock"] for row in rows["telemetry_series"]} == {None}


def test_openmetrics_lands_with_its_exemplars_and_native_histograms(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, scrape__txt=sample.OPENMETRICS)
    (exemplar,) = rows["telemetry_exemplar"]
    assert (json.loads(exemplar["labels"]), exemplar["value"], exemplar["observed_at"].timestamp()) == (
        {"trace_id": "4bf92f3577b34da6"}, 0.25, 1795168800.25
    )
    (histogram,) = rows["telemetry_histogram"]
    assert (histogram["count"], histogram["sum"], histogram["schema"]) == (12, 3.5, 3)
    assert json.loads(histogram["document"])["positive_deltas"] == "[5,2]"


def test_answers_and_exports_are_series_with_the_bytes_of_each_sample(tmp_path: Path) -> None:
    wrapped = '{"toolset_name": "prometheus"}\n' + json.dumps(sample.ANSWER, indent=1)
    rows = rows_of(tmp_path, util__json=json.dumps(sample.ANSWER), wrapped__txt=wrapped, more__jsonl=json.dumps(sample.EXPORT))
    assert codes(rows) == {"non-finite-sample": 2, "sample-not-later": 1}  # the same series twice
    errors, util = rows["telemetry_series"]
    assert util["metric"] == "DCGM_FI_DEV_GPU_UTIL" and json.loads(util["labels"]) == {"UUID": sample.GPUS[0], "Hostname": "gpu01"}
    assert errors["metric"] == "node_network_receive_errs_total"
    first, second, third = [row for row in rows["telemetry_sample"] if row["raw_path"] == "wrapped.txt"]
    assert (first["value"], second["value"], third["value"], third["no_value"]) == (90, 95.5, None, "NaN")
    assert second["sampled_at"].timestamp() == 1795168815.25
    assert b"".join(place(second, tmp_path / "stored").split()).startswith(b'[1795168815.25,"95.5"]')
    counted = [row["value"] for row in rows["telemetry_sample"] if row["raw_path"] == "more.jsonl"]
    assert counted == [1, 1, 7]


def test_a_dump_of_the_database_is_read(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, tsdb__txt=sample.DUMP)
    assert [row["metric"] for row in rows["telemetry_series"]] == ["up"]
    assert [(row["value"], row["previous_value"]) for row in rows["telemetry_sample"]] == [(1, None), (0, 1)]


def test_a_damaged_pair_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    answer = json.dumps(sample.ANSWER).replace('[1795168815.25, "95.5"]', '["x", "95.5"]')
    rows = rows_of(tmp_path, util__json=answer)
    assert codes(rows) == {"malformed-sample": 1, "non-finite-sample": 1}
    assert [row["value"] for row in rows["telemetry_sample"]] == [90, None]
    assert all(row["raw_length"] for row in rows[ISSUE_TABLE])


def test_other_files_are_not_metrics(tmp_path: Path) -> None:
    for name, text in {"a.py": "# TYPE is a word\nx = {1}\n", "b.json": '{"result": []}', "c.md": "# HELP\n\ntext\n", "d.txt": "up 1\n"}.items():
        (tmp_path / name).write_text(text)
    assert PROMETHEUS.drafts(tmp_path) == []


def answer_of(result: list[dict[str, Any]], **more: Any) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}, **more})


def test_an_answer_says_what_may_be_missing_from_it(tmp_path: Path) -> None:
    """https://prometheus.io/docs/prometheus/latest/querying/api/: an answer has error, warnings and infos beside its data. VictoriaMetrics adds isPartial."""
    series = {"metric": {"__name__": "up"}, "values": [[1795168800, "1"]]}
    (tmp_path / "tree").mkdir()
    more = {"isPartial": True, "errorType": "timeout", "error": "query timed out", "warnings": ["a store did not answer", "b"], "infos": ["not a counter"]}
    (tmp_path / "tree" / "a.json").write_text(answer_of([series], **more))
    rows = PROMETHEUS.rows(tmp_path / "tree", tmp_path / "stored")
    assert [row["value"] for row in rows["telemetry_sample"]] == [1]
    found = {(row["code"], row["severity"], row["message"].partition(",")[0]) for row in rows[ISSUE_TABLE]}
    assert found == {
        ("query-error", "error", "query timed out"), ("query-warning", "warning", "a store did not answer"), ("query-warning", "warning", "b"),
        ("query-info", "note", "not a counter"), ("partial-answer", "warning", "not all storage nodes answered"),
    }


def test_native_histograms_of_an_answer_have_count_and_sum(tmp_path: Path) -> None:
    histogram = {"count": "12", "sum": "3.5", "buckets": [[0, "0.1", "0.2", "12"]]}
    (tmp_path / "tree").mkdir()
    ranged = {"metric": {"__name__": "latency_seconds", "code": "200"}, "histograms": [[1795168800, histogram], [1795168815, "broken"]]}
    instant = {"metric": {"__name__": "latency_seconds", "code": "500"}, "histogram": [1795168800, histogram]}
    (tmp_path / "tree" / "a.json").write_text(answer_of([ranged, instant]))
    rows = PROMETHEUS.rows(tmp_path / "tree", tmp_path / "stored")
    series = {row["series_number"]: (row["metric"], json.loads(row["labels"])["code"]) for row in rows["telemetry_series"]}
    assert [(series[row["series_number"]], row["value"]) for row in rows["telemetry_sample"]] == [
        (("latency_seconds_count", "200"), 12), (("latency_seconds_sum", "200"), 3.5),
        (("latency_seconds_count", "500"), 12), (("latency_seconds_sum", "500"), 3.5),
    ]
    assert [(row["count"], row["sum"], json.loads(row["document"])) for row in rows["telemetry_histogram"]] == [(12, 3.5, histogram)] * 2
    assert codes(rows) == {"malformed-sample": 2}


def test_openmetrics_that_lost_its_end_has_no_times(tmp_path: Path) -> None:
    """OpenMetrics has seconds and ends with # EOF; the older format has milliseconds. Without the end 1795168800.5 would be January 1970."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.prom").write_text("# TYPE up gauge\nup 1 1795168800.5\nup 1 1795168815.5\nup 1 1795168830500\n")
    rows = PROMETHEUS.rows(tmp_path / "tree", tmp_path / "stored")
    start = sample.START.replace(microsecond=500_000)
    assert [row["sampled_at"] for row in rows["telemetry_sample"]] == [None, None, start + timedelta(seconds=30)]
    assert codes(rows) == {"time-unit-unknown": 1}


@pytest.mark.parametrize("kind", ["answer", "export"])
def test_parts_of_a_range_are_read_in_the_order_of_time(tmp_path: Path, kind: str) -> None:
    """power-10 comes after power-2, and the increase from one part to the next is not lost."""
    (tmp_path / "tree").mkdir()
    for part in range(1, 12):
        times = [1795168800 + 60 * part + second for second in (0, 30)]
        if kind == "answer":
            text = answer_of([{"metric": {"__name__": "joules_total"}, "values": [[time, str(time)] for time in times]}])
        else:
            text = json.dumps({"metric": {"__name__": "joules_total"}, "values": times, "timestamps": [1000 * time for time in times]}) + "\n"
        (tmp_path / "tree" / f"power-{part}.json").write_text(text)
    rows = PROMETHEUS.rows(tmp_path / "tree", tmp_path / "stored")
    increases = [row["value"] - row["previous_value"] for row in rows["telemetry_sample"] if row["previous_value"] is not None]
    assert increases == [30] * 21 and codes(rows) == {}
