"""The round's official table, recomputed from real evidence: every row equal, every number walked back to its line.

Needs the evidence archive and its ground truth; skipped, visibly, where they are absent.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import EVIDENCE
from standard import standard_project
from stored import bundle_folder

from warehouse.claims.publish.freezing import Facts, freeze
from warehouse.claims.publish.publication import ROWS, PublishedRow, publications, read_row
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.specification import read_specification
from warehouse.claims.verify.parsed import Parsed
from warehouse.claims.verify.replay import Replayer
from warehouse.claims.verify.verification import bundles_of, verify_publication
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.trace.catalog import open_trace_session, rollup_columns
from warehouse.trace.tracing import trace
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

QUERY = "mlperf_inference_results"
EVERY = bool(os.environ.get("WH_EVERY_NUMBER"))  # replay all 346, not each tenth
GROUND_TRUTH = EVIDENCE / "ground-truth" / "mlperf-inference-v5.1.json"
# FORMATS.md: labels of the official table that do not say what the value is.
WRONG_LABELS = {("whisper", "Offline"), ("llama3.1-8b", "Interactive")}


@pytest.fixture(scope="module")
def project(mlperf_evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = standard_project(tmp_path_factory.mktemp("ground-truth"))
    store = open_store(project)
    report = ingest(plan_ingest(mlperf_evidence, load_ingestors(project).values()), store, "evidence")
    assert not report.problems
    assert not build(project).damaged
    return project


@pytest.fixture(scope="module")
def frozen(project: Project) -> list[PublishedRow]:
    """The rows, traced to their bytes, as a publication holds them."""
    con, catalog = open_trace_session(current_build(project), project.store_root)
    with con:
        spec = catalog.models[f"rollup.{QUERY}"]
        columns = rollup_columns(catalog, spec)
        found = trace(con, catalog, QUERY, [name for name in columns if name not in spec.grain], traces_rows=True)
        lines = freeze(con, spec, columns, found, Facts(con, catalog, found)).content[ROWS].splitlines()
    nobody: defaultdict[str, tuple[Any, ...]] = defaultdict(tuple)  # no test here asks for the runs
    return [read_row(line, nobody) for line in lines]


@pytest.fixture(scope="module")
def published(project: Project) -> tuple[Project, list[PublishedRow]]:
    publish(project, QUERY, as_provisional=True)  # power logs are not all in the archive
    (publication,) = publications(project)
    return project, list(publication.rows())


@pytest.fixture(scope="module")
def official() -> list[dict[str, Any]]:
    return json.loads(GROUND_TRUTH.read_bytes())


@pytest.fixture(scope="module")
def ours(frozen: list[PublishedRow]) -> dict[tuple[str, str], PublishedRow]:
    return by_location(frozen)


def by_location(rows: Iterable[PublishedRow]) -> dict[tuple[str, str], PublishedRow]:
    """The rows of the round, by location and scenario."""
    return {(row.cells["location"].value, row.grain["scenario"]): row for row in rows if row.cells["round"].value == "v5.1"}


def test_every_official_row_is_there(official: list[dict[str, Any]], ours: dict[tuple[str, str], PublishedRow]) -> None:
    assert len(official) == 346
    assert [r["Location"] for r in official if (r["Location"], r["Scenario"]) not in ours] == []


def test_every_performance_is_equal(official: list[dict[str, Any]], ours: dict[tuple[str, str], PublishedRow]) -> None:
    different = {
        row["Location"]: (mine.value, row["Performance_Result"])
        for row in official
        if (mine := ours[row["Location"], row["Scenario"]].cells["performance_result"]).value != row["Performance_Result"]
    }
    assert different == {}


def test_every_power_with_evidence_is_equal_and_the_others_are_missing_not_zero(
    official: list[dict[str, Any]], ours: dict[tuple[str, str], PublishedRow]
) -> None:
    measured = 0
    for row in official:
        cells = ours[row["Location"], row["Scenario"]].cells
        power = cells["power_result"].value
        if not row["has_power"]:
            assert power is None, row["Location"]
        elif power is None:
            assert cells["power_state"].value == "missing", row["Location"]
        else:
            measured += 1
            assert power == pytest.approx(row["Power_Result"], rel=1e-9)
            assert cells["power_unit"].value == row["Power_Units"]
    # Two runs have their own spl.txt; a third is one of the same execution, filed under another name.
    assert measured == 3


def test_the_true_unit_stands_beside_the_official_label(
    official: list[dict[str, Any]], ours: dict[tuple[str, str], PublishedRow]
) -> None:
    wrong = set()
    for row in official:
        cells = ours[row["Location"], row["Scenario"]].cells
        assert cells["official_label"].value == row["Performance_Units"], row["Location"]
        if cells["performance_unit"].value != row["Performance_Units"]:
            assert cells["performance_unit"].value == "Tokens/s", row["Location"]
            wrong.add((row["Model"], row["Scenario"]))
    assert wrong == WRONG_LABELS


def test_the_descriptive_columns_are_equal(
    official: list[dict[str, Any]], ours: dict[tuple[str, str], PublishedRow]
) -> None:
    pairs = {"system": "System", "availability": "Availability", "suite": "Suite", "model": "Model", "node_count": "Nodes"}
    for row in official:
        found = ours[row["Location"], row["Scenario"]]
        assert found.cells["submitter"].value == row["Submitter"]
        assert found.cells["validity"].value == "VALID"
        for name, label in pairs.items():
            assert str(found.cells[name].value) == str(row[label]), (row["Location"], name)
        assert (found.cells["accelerator"].value or "") == row["Accelerator"]
        assert str(found.cells["accelerators_per_node"].value or "") == str(row["a#"])


def significant(number: Decimal, digits: int = 6) -> Decimal:
    return number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1), ROUND_HALF_UP).normalize()


def states(text: str, published: float) -> bool:
    """Whether a log line holds the published number: as written, cut to six digits, or as nanoseconds of its ms."""
    wanted = Decimal(repr(published))
    numbers = [Decimal(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])", text)]
    return any(
        number == wanted or (number and significant(number) == wanted.normalize()) or number / 1_000_000 == wanted
        for number in numbers
    )


def test_every_performance_number_leads_to_the_very_line_of_the_log(
    official: list[dict[str, Any]], ours: dict[tuple[str, str], PublishedRow], project: Project
) -> None:
    store = open_store(project)
    for row in official:
        cell = ours[row["Location"], row["Scenario"]].cells["performance_result"]
        assert cell.evidence, row["Location"]
        lines = []
        for file in cell.evidence:
            assert re.search(r"/mlperf_log_(detail|summary)\.txt$", file["raw_path"])
            data = (bundle_folder(store, file["artifact_manifest_digest"]) / "files" / file["raw_path"]).read_bytes()
            for offset, length in file["ranges"]:
                assert offset == 0 or data[offset - 1 : offset] == b"\n"
                assert length < 1000
                lines.append(data[offset : offset + length].decode())
        assert any(states(line, row["Performance_Result"]) for line in lines), (row["Location"], lines)


def wh(project: Project, *arguments: str) -> dict[str, Any]:
    """What a `wh` process answers in JSON."""
    command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), *arguments, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.exhaustive
def test_lineage_of_each_kind_of_number_answers(published: tuple[Project, list[PublishedRow]]) -> None:
    project, rows = published
    power = next(row.cells["power_result"] for row in rows if row.cells["power_result"].value is not None)
    for number in (rows[0].cells["performance_result"].number_id, power.number_id):
        document = wh(project, "lineage", str(number))
        assert document["number_id"] == number
        assert document["raw_files"]
        assert wh(project, "verify", str(number))["state"] == "verified"


@pytest.mark.exhaustive
def test_every_number_is_replayed_from_its_own_evidence(
    published: tuple[Project, list[PublishedRow]], official: list[dict[str, Any]]
) -> None:
    """All 346: only the bundles of the number's own why-set are parsed, and the recorded SQL gives its very bits."""
    project, rows = published
    ours = by_location(rows)
    (publication,) = publications(project)
    replayer = Replayer(project, read_specification(project, publication).document, Parsed(project))
    columns = ("performance_result", "power_result")
    for stated in official[:: 1 if EVERY else 10]:
        row = ours[stated["Location"], stated["Scenario"]]
        for cell in (row.cells[column] for column in columns if row.cells[column].number_id):
            given = replayer.replay(bundles_of(row, cell), tuple(row.grain_forms)).rows.values()
            replayed = [found for found in given if is_row(found, row)]
            assert [found[cell.column] for found in replayed] == [cell.form], (stated["Location"], cell.column)


@pytest.mark.exhaustive
def test_the_whole_publication_verifies(published: tuple[Project, list[PublishedRow]]) -> None:
    project, rows = published
    (publication,) = publications(project)
    verdicts = list(verify_publication(project, publication))
    assert {verdict.state for verdict in verdicts} == {"verified"}
    assert len(verdicts) == sum(cell.number_id is not None for row in rows for cell in row.cells.values())


def is_row(found: Mapping[str, Any], row: PublishedRow) -> bool:
    return all(found[name] == form for name, form in row.grain_forms.items())
