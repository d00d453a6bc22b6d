"""A description with a fault, and files that no description reads: what is told, and what goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import WhOn

from warehouse.errors import WarehouseError
from warehouse.landing.registry import descriptions_without_sample, faults_of_descriptions, find_ingestors
from warehouse.project.making import init_project

GOOD = """[format]
name = "x"
about = "Results of x"
files = ["*.json"]
requires = ["[].case", "[].ms"]
[run]
each = "[]"
case = "x/{case}"
[[metric]]
name = "elapsed_ms"
value = "ms"
unit = "ms"
"""
HYPERFINE = '{"results": [{"command": "a", "mean": 1.5, "stddev": null, "median": 1.5, "min": 1.5, "max": 1.5, "exit_codes": [0], "user": 1.0, "system": 0.1, "times": [1.5]}]}'


def test_a_faulty_description_holds_back_the_files_that_may_be_of_it_and_no_others(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project")
    for name, change in (("one", ('unit = "ms"', 'unit = "mss"')), ("two", ("[run]", "[run]\nrepeats = 1"))):
        path = project.root / f"ingest/{name}/format.toml"
        path.parent.mkdir(parents=True)
        path.write_text(GOOD.replace('"x"', f'"{name}"').replace(*change))
    evidence = tmp_path / "in"
    evidence.mkdir()
    (evidence / "a.json").write_text(HYPERFINE)
    (evidence / "b.json").write_text("{}")
    (evidence / "c.csv").write_text("command,mean,stddev,median,user,system,min,max\nls,0.5,0.1,0.5,0.1,0.1,0.4,0.6\n")
    for asked in (("ingest", "--dry-run"), ("ingest",)):
        status, out, err = wh_on(project, *asked, str(evidence))
        assert status == 1 and "no unit 'mss'" in err and "run.repeats: no such key" in err
        assert "left out: a.json: it may be of ingest/one/format.toml, which has a fault" in err and "left out: b.json" in err and "c.csv" not in err
        assert "hyperfine" in out and " unrecognised " not in out
    with pytest.raises(WarehouseError) as fault:  # as a build does: without the description it would lose the runs that were read with it
        find_ingestors(project)
    assert "no unit 'mss'" in str(fault.value) and "run.repeats: no such key" in str(fault.value)
    status, out, err = wh_on(project, "ingest", "--as", "hyperfine", str(evidence / "a.json"))
    assert "hyperfine  added" in out and "left out" not in err  # as the user says
    assert "no unit 'mss'" in wh_on(project, "ingest", "--as", "one", str(evidence / "a.json"))[2]


def test_all_files_beside_a_description_that_it_names_are_its_samples(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project")
    folder = project.root / "ingest/x"
    folder.mkdir(parents=True)
    (folder / "format.toml").write_text(GOOD)
    (folder / "README.md").write_text("no sample")
    assert descriptions_without_sample(project) == ["ingest/x/format.toml"] and not faults_of_descriptions(project)
    (folder / "nightly.json").write_text('[{"kase": "a", "ms": 1}]')
    assert not descriptions_without_sample(project)
    assert [str(each).partition(": ")[2] for each in faults_of_descriptions(project)] == ["nightly.json is not recognised: it has no [].case"]
