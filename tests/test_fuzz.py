"""Damaged evidence of every standard family: no crash, no hang, no silent zero, and what is lost is told.

Some hundred damages a family, the same in every run. All of them, minutes a family: `WH_FUZZ=all pytest tests/test_fuzz.py`.
A family joins by one entry in `samples/families.py`; what is done to it is in `fuzz.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import fuzz
import pytest
from exhaustive import few
from samples.families import FAMILIES

from warehouse.landing.contract import Ingestor
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project

IS_UNBOUNDED = os.environ.get("WH_FUZZ") == "all"
# How many of each kind. A line of 200 MB is for those who ask for all: the kernel takes half a minute to give it memory.
LIMITS = {
    fuzz.cuts_at_lines: 60, fuzz.cuts: 50, fuzz.flips: 60, fuzz.numbers_replaced: 110, fuzz.numbers_quoted: 20,
    fuzz.keys_doubled: 20, fuzz.long_lines: 2, fuzz.huge_lines: 0,
}


@pytest.fixture(scope="module")
def ingestors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ingestor]:
    return load_ingestors(init_project(tmp_path_factory.mktemp("project") / "project"))


def test_every_standard_ingestor_has_a_sample(ingestors: dict[str, Ingestor]) -> None:
    assert ingestors.keys() == FAMILIES.keys()


@pytest.mark.parametrize("name", few(FAMILIES, 4))
def test_damaged_evidence(name: str, ingestors: dict[str, Ingestor], tmp_path: Path) -> None:
    subject = fuzz.Fuzz(ingestors[name], FAMILIES[name], tmp_path)
    for damages, limit in LIMITS.items():
        subject.run(damages, None if IS_UNBOUNDED else limit)
    assert subject.findings == []


# -- the harness itself: each sin is found, and a good ingestor has none -------------------------------------------------

GOOD = """
import json
import pyarrow as pa
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.readers.json_text import json_pairs, is_lost_number, json_number
from warehouse.landing.rows import RowBuffer, landing_schema
from warehouse.landing.readers.text import Report, lines

TABLES = {"toy": landing_schema(pa.field("a", pa.float64()), pa.field("b", pa.float64()))}

class Toy:
    name, version, formats, tables = "toy", 1, ("toys",), TABLES
    def bundles(self, tree):
        for path, file in tree.files.items():
            if path.endswith(".toy"):
                yield BundleDraft((DraftFile(path, file),))
    def parse(self, bundle):
        buffer = RowBuffer(TABLES, bundle.digest)
        [path] = bundle.manifest.by_path
        report = Report(buffer, path, None)
        for line in lines(bundle.map(path), report):
            row = {}
            for pair in json_pairs(line.data, report, start=(line.offset, line.number)):
                if pair.key in ("a", "b"):
                    row[pair.key] = json_number(pair.value)
                    if row[pair.key] is None and pair.value is not None:
                        report.at("not-a-number", pair.key, line)
            if row:
                buffer.add("toy", path, line.offset, len(line.data), **row)
        yield from buffer.rest()

INGESTOR = Toy()
"""
# What is wrong: what in the good ingestor is replaced by what, and what the finding says.
SINS = {
    "a silent zero": ("json_number(pair.value)", "json_number(pair.value) or 0.0", "a silent zero: toy."),
    "a lost number": ('report.at("not-a-number", pair.key, line)', "pass", "no issue tells that toy."),
    "a lost row": (
        "report = Report(buffer, path, None)", "report = lambda *_: None; report.at = report",
        "no issue tells of rows that are gone",
    ),
    "a crash": ("json_number(pair.value)", "float(pair.value)", "ValueError: "),
    "a place outside of the file": (
        "len(line.data), **row", "len(line.data) + 1000 * (b'damaged' in line.data), **row", "outside of its file"
    ),
    "a doubled key": (
        "json_pairs(line.data, report, start=(line.offset, line.number))",
        "json_pairs(line.data, type('Deaf', (Report,), {'at': lambda self, c, *r: c[0] == 'd' or report.at(c, *r)})(buffer, path, None),"
        " start=(line.offset, line.number))",
        "no issue tells of it",
    ),
    "a hang": ("row = {}", "row = {}\n            while b'damaged' in line.data: pass", "Hang: "),
    "a recognition that fails": (
        'if path.endswith(".toy"):', 'if path.endswith(".toy") and json.loads(tree.head(path).partition(b"\\n")[0]):',
        "JSONDecodeError",
    ),
}


def toy_findings(tmp_path: Path, text: str) -> list[str]:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "ingest" / "toy.py").write_text(text)
    written = "".join(f'{{"a": {n}.5, "b": {n + 20}, "c": "{"x" * n}"}}\n' for n in range(1, 6))

    def write(folder: Path) -> None:
        folder.mkdir()
        (folder / "one.toy").write_text(written)

    subject = fuzz.Fuzz(load_ingestors(project)["toy"], fuzz.Family(write, endless=".*"), tmp_path)
    for damages, limit in LIMITS.items():
        subject.run(damages, limit)
    return subject.findings


def test_a_good_ingestor_has_no_findings(tmp_path: Path) -> None:
    assert toy_findings(tmp_path, GOOD) == []


@pytest.mark.parametrize("sin", few(SINS, 4))
def test_a_sin_is_found(sin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, finding = SINS[sin]
    assert before in GOOD
    monkeypatch.setattr(fuzz, "CPU_LIMIT_S", 0.5)
    monkeypatch.setitem(LIMITS, fuzz.long_lines, 0)
    monkeypatch.setitem(LIMITS, fuzz.numbers_replaced, 50)
    found = toy_findings(tmp_path, GOOD.replace(before, after))
    assert any(finding in each for each in found), found[:5]
