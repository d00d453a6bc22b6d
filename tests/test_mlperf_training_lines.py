"""Lines of MLPerf Training logs that are decoded straight into structures land as they do when read with care."""

from __future__ import annotations

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

import landed
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from landed import Rows
from samples import mlperf_training as sample

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.landing.contract import ISSUE_TABLE, Bundle

INGESTOR = landed.load("mlperf_training")
mllog = import_module("landed_mlperf_training.mllog")

# What may stand in a number's place, in turn: JSON's numbers, and what is none or is not finite.
NUMBERS = (
    "0", "7", "-3", "12.50", "1.5E3", "2e-07", "-0.0", "1759912719309", "9007199254740993", "123456789012345678901234567890",
    "1e99", "1e100", "1e400", "1e-400", "01", "-01", "1.", ".5", "1.e5", "+1", "--1", "1-2", "1.2.3", "1e", "NaN", "-Infinity",
    "null", "true", '"12"', '"a, 5, b"', "[1, 2]", '{"a": 1}', " 8", "10:10:10", "1" * 400,
)
# A line of each kind; numbers stand at the @s.
KINDS = (
    ':::MLLOG {"namespace": "", "time_ms": @, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"loss": @}, '
    '"metadata": {"file": "/usr/lib/python3.12/a.py", "lineno": 163, "samples_count": @, "lr": @, "step": @}}',
    ':::MLLOG {"namespace": "", "time_ms": @, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"a b": @, "b": @}, '
    '"metadata": {"file": "b.py", "lineno": @, "step_num": @, "step": null}}',
    ':::MLLOG {"namespace": "", "time_ms": @, "event_type": "INTERVAL_START", "key": "block_start", "value": null, "metadata": {}}',
    ':::MLLOG {"namespace": "", "time_ms": @, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", "value": @, '
    '"metadata": {"file": "a.py", "lineno": 97, "epoch_num": @, "metric": "m, @, n", "status": "success"}}',
    ':::MLLOG {"key":"global_batch_size","value":@,"time_ms":@,"metadata":{"tensor":[@,@],"deep":{"a":@}}}  \r',
    '3: :::MLLOG {"time_ms": @, "key": "opt_name", "value": "adam, @, w", "metadata": {"file": "\u00e9clair"}}',
    ':::MLLOG {"time_ms": @, "key": "list", "value": [@, [@], {"a": "\\u0041", "b": @}], "metadata": null}',
    ':::MLLOG {"time_ms": @, "key": "run_stop", "value": "\\u0041@", "metadata": {"status": "aborted", "samples_count": @}}',
    ':::MLLOG {"time_ms": @, "key": "twice", "value": @, "metadata": {"step": @, "step": @}}',
    ':::MLLOG {"time_ms": @, "key": "submission_org", "value": "Acme", "event_type": 5, "metadata": {"step": "@", "lr": "@"}}',
    ":::MLLOG :::MLLOG {}", ":::MLLOG", "[2026-01-01 10:10:10,123] INFO 5, {6} :::MLLO", '{"event_type": "x", "value": @}', "",
)


def rows_of(text: bytes, folder: Path) -> Rows:
    """The rows of a log."""
    folder.mkdir(exist_ok=True)
    (folder / "result_0.txt").write_bytes(text)
    files = (ManifestFile("result_0.txt", len(text), bytes_digest(text), "text/plain", "result_log"),)
    identity = dict.fromkeys(("round", "submitter", "platform", "benchmark"))
    manifest = Manifest("mlperf_training", files, identity, {})
    return landed.parsed(INGESTOR, Bundle(manifest.digest, manifest, lambda file: folder / file.raw_path))


def rows_with_care(text: bytes, folder: Path) -> Rows:
    """The rows of a log of which no line is decoded straight."""

    def refuse(*_: Any) -> None:
        raise ValueError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mllog, "_read_quickly", refuse)
        return rows_of(text, folder)


def exactly(rows: Rows) -> dict[str, list[str]]:
    """Rows as texts: -0.0 is not 0.0. Issues in the order of their places: it is block by block that they are told."""
    issues = sorted(rows[ISSUE_TABLE], key=lambda row: (row["raw_offset"], row["code"], row["message"]))
    return {table: [repr(row) for row in found] for table, found in {**rows, ISSUE_TABLE: issues}.items()}


def plain_log(count: int, chance: random.Random, noise: str = "") -> str:
    """A log of steps."""
    written = []
    for step in range(count):
        stats = {"train_loss": chance.random(), "throughput": chance.randrange(10**6)}
        written.append(sample.event("tracked_stats", stats, step * 7, step=step, lr=chance.random() / 1e6) + "\n" + noise)
    return "".join(written)


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    usual = st.one_of(st.integers(-(10**6), 10**14).map(str), st.floats(allow_nan=False, allow_infinity=False).map(repr))
    numbers = st.one_of(usual, usual, usual, st.sampled_from(NUMBERS))
    written = []
    for _ in range(draw(st.integers(1, 12))):
        first, *others = draw(st.sampled_from(kinds)).split("@")
        written.append(first + "".join(draw(numbers) + text for text in others))
    text = bytearray("\n".join(written).encode() + b"\n" * draw(st.integers(0, 1)))
    for place, byte in draw(st.lists(st.tuples(st.integers(0, len(text)), st.sampled_from(b'\n"{},: \\0e-\xff\x00M')), max_size=2)):
        text[place : place + 1] = bytes([byte])
    return bytes(text)


@example(log=b':::MLLOG {"time_ms": 0, "key": "run_stop", "value": 1, "metadata": {"samples_count": 1e-400}}')  # which is not zero
@example(log=b':::MLLOG {"time_ms": 0, "key": "run_stop", "value": 0.%s1, "metadata": {}}' % (b"0" * 400))
@given(log=logs())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_decoded_straight_as_with_care(log: bytes, tmp_path: Path) -> None:
    assert exactly(rows_of(log, tmp_path / "log")) == exactly(rows_with_care(log, tmp_path / "log"))


@pytest.mark.parametrize("noise", ["", "  7: [2026-01-01 10:10:10,123] step 5, of {6}\n"])
def test_a_long_log_lands_as_json_reads_it(tmp_path: Path, noise: str) -> None:
    log = sample.result_log() + plain_log(300, random.Random(4), noise)
    rows = rows_of(log.encode(), tmp_path / "log")
    stated: list[tuple[int, dict[str, Any]]] = [
        (number, json.loads(line.partition(":::MLLOG")[2])) for number, line in enumerate(log.splitlines(), 1) if ":::MLLOG" in line
    ]
    events = rows["mlperf_training_event"]
    assert [
        (row["line_number"], row["key"], row["time_ms"], row["event_type"], row["producer"], row["step"], row["learning_rate"])
        for row in events
    ] == [
        (number, *(fields[name] for name in ("key", "time_ms", "event_type")), *map(fields["metadata"].get, ("file", "step", "lr")))
        for number, fields in stated
    ]
    assert [(row["line_number"], row["stat"], row["value"], row["value_number"]) for row in rows["mlperf_training_stat"]] == [
        (number, stat, json.dumps(value), value)
        for number, fields in stated if fields["key"] == "tracked_stats" for stat, value in fields["value"].items()
    ]
    for row in events:
        assert log[row["raw_offset"] : row["raw_offset"] + row["raw_length"]] == log.splitlines()[row["line_number"] - 1]
    assert not rows[ISSUE_TABLE]


def test_a_damaged_line_among_many_is_told_and_the_others_land(tmp_path: Path) -> None:
    whole = plain_log(200, random.Random(5)).splitlines()
    damaged = whole.copy()
    damaged[100] = damaged[100].replace('"step": 100', '"step": 100, "step": 100')
    damaged[120] = damaged[120][:80]
    damaged[140] = damaged[140].replace('"step": 140', '"step": 1e999')
    rows = rows_of("\n".join(damaged).encode(), tmp_path / "log")
    told = [(row["code"], row["line_number"]) for row in rows[ISSUE_TABLE] if row["line_number"]]
    assert told == [("duplicate-json-key", 101), ("malformed-log-line", 121), ("non-finite-number", 141)]
    assert [row["line_number"] for row in rows["mlperf_training_event"]] == [*range(1, 121), *range(122, 201)]
    assert [row["step"] for row in rows["mlperf_training_event"] if row["step"] != row["line_number"] - 1] == [None]
