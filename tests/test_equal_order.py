"""Two ordinary builds of one evidence have the same rows in the same order, to the last bit of every float: however the evidence was cut into
batches, and in whatever order it came."""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from samples.families import FAMILIES
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import bring_up_to_date, gather_material
from warehouse.transform.build.state import read_states

_FRACTION = re.compile(rb"(?<![\w.+:/-])[1-9]\d*\.\d+(?![\w.:/-])")
_ARRIVED = frozenset({"artifact_lineage_dim"})  # says when a bundle arrived
_COPIES = 8  # of each family's sample, each with other numbers: of a few rows most plans join alike


def write_evidence(folder: Path) -> None:
    for name, family in FAMILIES.items():
        family.write(folder / name)
        for number in range(1, _COPIES if name != "recorded_run" else 1):
            copy = folder / f"{name}{number}"
            shutil.copytree(folder / name, copy)
            for path in copy.rglob("*"):
                if path.is_file():
                    changed = _FRACTION.sub(lambda found, more=number: found[0][:-1] + str((found[0][-1] + more) % 10).encode(), path.read_bytes())
                    path.write_bytes(changed)


def contents(folder: Path, evidence: Path, batches: int, seed: int | None) -> dict[str, str]:
    """The id of what each table holds after a build of evidence that came in so many batches, shuffled by a seed."""
    project = standard_project(folder / "project")
    plan = plan_ingest(evidence, load_ingestors(project).values())
    drafts = list(plan.recognised)
    if seed is not None:
        random.Random(seed).shuffle(drafts)
    size = -(-len(drafts) // batches)
    for start in range(0, len(drafts), size):
        ingest(replace(plan, recognised=tuple(drafts[start : start + size]), leftovers=()), open_store(project), "evidence")
        material = gather_material(project)
    bring_up_to_date(folder / "full.duckdb", material)
    with duckdb.connect(str(folder / "full.duckdb"), read_only=True) as con:
        return {name: state.content_id for name, state in read_states(con).items() if state.kind == "table" and name not in _ARRIVED}


@pytest.mark.exhaustive
def test_no_table_depends_on_how_evidence_came(tmp_path: Path) -> None:
    write_evidence(tmp_path / "in")
    one = contents(tmp_path / "one", tmp_path / "in", 1, None)
    for seed, batches in ((None, 5), (1, 4), (2, 3)):
        other = contents(tmp_path / f"{batches}", tmp_path / "in", batches, seed)
        assert {name for name in one if one[name] != other[name]} == set()
