"""The supplied indicators, each run as a campaign runs it: a file that sees nothing of wh; and the contract that they and others must keep."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warehouse.record.command import record
from warehouse.record.indicators import SUPPLIED, supplied_file
from warehouse.record.indicators.contract import breach

SMALL = {
    "PiMatmul": ({"MATMUL_MATRIX_SIZE": "48", "MATMUL_REPS": "3", "MATMUL_MINI_BATCH": "4"}, ()),
    "PiConv1D": ({"TENSOR_INPUT_WIDTH": "61", "FILTER_STRIDES": "3", "CONV_REPS": "3"}, ()),
    "PiConv2D": ({"TENSOR_INPUT_WIDTH": "61", "TENSOR_INPUT_HEIGHT": "40", "TENSOR_INPUT_CHANNELS": "3", "CONV_REPS": "3"}, ()),
    "PiPyBench": ({"ROUNDS": "1"}, ()),
    "MemoryBandwidth": ({}, ("--mib", "16")),
    "DiskThroughput": ({}, ("--mib", "4", "--appends", "3")),
    "DuckdbGroupBy": ({}, ("--rows", "1000", "--repetitions", "1")),
    "HttpServerLoad": ({}, ("--seconds", "0.3", "--connections", "2")),
}
OPERATIONS = {  # Thoth's counts, by hand
    "PiMatmul": 4 * (48**3 + 47 * 48**2),
    "PiConv1D": 4 * 61 * 5 * 1 * 32 * 2 / 3,
    "PiConv2D": 4 * 40 * 61 * 20 * 5 * 3 * 32 * 2 / 4,
}


def printed(name: str, folder: Path) -> dict[str, Any]:
    variables, arguments = SMALL[name]
    shutil.copy(supplied_file(name), folder)
    command = [sys.executable, "-P", SUPPLIED[name][0], *SUPPLIED[name][1:], *arguments]
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    (folder / "stdout.txt").write_text(done.stdout)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("name", SUPPLIED)
def test_a_supplied_indicator_keeps_its_contract(name: str, tmp_path: Path) -> None:
    document = printed(name, tmp_path)
    assert breach(tmp_path / "stdout.txt", name) is None
    numbers = [value for key, value in document["@result"].items() if key != "failed_requests"]
    assert all(value > 0 for value in numbers)
    if name in OPERATIONS:
        result = document["@result"]
        assert result["rate"] * result["elapsed"] * 1e6 == pytest.approx(OPERATIONS[name])


@pytest.mark.parametrize(("out", "words"), [
    ("", "no JSON object"),
    ('{"name": "Other", "@parameters": {}, "@result": {"a": 1}}', "states the name 'Other'"),
    ('{"name": "Mine", "@parameters": [], "@result": {"a": 1}}', "no object @parameters"),
    ('{"name": "Mine", "@parameters": {"a": 1}, "@result": {"a": 1}}', "share the key 'a'"),
    ('{"name": "Mine", "@parameters": {}, "@result": {"a": NaN, "b": "7", "c": true}}', "has no number"),
    ('loading\n{"name": "Mine", "@parameters": {}, "@result": {"a": {"b": 1}}}\n{"note": 1}\n', None),
])
def test_a_run_that_breaks_the_contract_has_failed_and_says_how(out: str, words: str | None, tmp_path: Path) -> None:
    [run] = record([sys.executable, "-c", f"print({out!r})"], tmp_path / "recording", indicator="Mine").runs
    document = json.loads((run.folder / "run.json").read_text())
    assert (run.status, document["exit_code"]) == ("succeeded" if words is None else "failed", 0)
    assert words is None and "indicator_breach" not in document or words in document["indicator_breach"]
