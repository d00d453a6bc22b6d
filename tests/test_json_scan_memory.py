"""The compiled scan touches no memory that is not its own, whatever it is given: run under the compiler's sanitizers."""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

_NATIVE = Path(__file__).parent / "native"
_DAMAGES = 6000


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    built = tmp_path_factory.mktemp("driver") / "drive"
    command = [*compiler, "-std=c11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", str(built)]
    made = subprocess.run([*command, str(_NATIVE / "drive.c")], capture_output=True, text=True)
    if made.returncode and "san" in made.stderr and "error:" not in made.stderr:
        pytest.skip(f"the compiler has no sanitizers: {made.stderr.splitlines()[-1]}")
    assert made.returncode == 0, made.stderr
    return built


def _documents() -> dict[str, bytes]:
    chance = random.Random(0)
    flat = [{"a": chance.random(), "b": index, "metrics": None} for index in range(12)]
    nested = [{"a": {"units": "ms", "n": -1.5e-7}, "b": [1, 2.5, []], "metrics": [0.25, 12]} for _ in range(6)]
    texts = [{"a": 'say "so" \\ \u00e9 \U0001f600 \n', "b": [], "metrics": {}}, {"b": True, "a": False}]
    many: Any = {f"k{index}": [index] * (index % 4) for index in range(150)}
    deep = b'{"a": ' * 99 + b"[]" + b"}" * 99
    return {
        "flat": json.dumps(flat)[1:].encode(), "indented": json.dumps(flat, indent=8)[1:].lstrip().encode(),
        "nested": json.dumps(nested)[1:].encode(), "texts": json.dumps(texts)[1:].encode(),
        "lines": "\n".join(map(json.dumps, nested)).encode(), "many keys": json.dumps(many).encode(), "deep": deep,
        "arrays": b"[1, 2], [ ], [0.5 ,-3e+2,7 ] , [[], {}], ",
    }


@pytest.mark.parametrize("name", _documents())
def test_no_memory_but_its_own(name: str, driver: Path, tmp_path: Path) -> None:
    document = tmp_path / "document"
    document.write_bytes(_documents()[name])
    run = subprocess.run([str(driver), str(document), str(_DAMAGES)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 100  # and it has read what it could
