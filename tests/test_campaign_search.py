"""Campaigns whose cells are chosen as they go: the newest releases, a program that proposes cells, halving, and sessions that are added."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import WhOn
from package_index import package_index, wheel
from standard import standard_project

from warehouse.campaign import runner, search
from warehouse.campaign.advice import MEETS, MISSES, Advice, CellResult, _compared
from warehouse.campaign.cells import cells_of, command_of
from warehouse.campaign.measured import _run_more
from warehouse.campaign.search import halved, proposed
from warehouse.campaign.spec import Factor, read_spec
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project
from warehouse.statistics.best import best
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "campaigns.md"
SPEC = """
[campaign]
name = "speedy"
indicator = "PiSpeedy"
command = ["python", "bench.py"]
files = ["bench.py", "propose.py"]
sessions = 4
session_gap = "10 min"
[factors.speedy]
package = "Speedy"
latest = 2
[factors.size]
argument = "--size={}"
values = [1, 2]
[factors.price_usd_per_hour]
environment = "PRICE"
values = [2.5]
[search]
command = ["python3", "propose.py"]
[confirm]
metric = "elapsed"
front_runners = 2
sessions = 3
[resolve]
exclude_newer = 2026-11-01T00:00:00Z
"""
BENCH = """
import json, speedy, sys
size = int(sys.argv[1].partition("=")[2])
elapsed = speedy.MS * (1 + size / 10)
print(json.dumps({"name": "PiSpeedy", "component": "speedy", "@parameters": {"n": 1}, "@result": {"elapsed": elapsed}}))
"""
# First the newest release in both sizes; then, by what they took, no more.
PROPOSE = """
import json, sys
asked = json.load(sys.stdin)
newest, sizes = asked["factors"]["speedy"][0], asked["factors"]["size"]
tried = {result["cell"]: result["value"] for result in asked["results"] if result["metric"] == "elapsed"}
print("tried", sorted(tried), file=sys.stderr)
assert asked["session"] <= 2, "it said that it wants no more"
cells = [{"speedy": newest, "size": int(size), "price_usd_per_hour": 2.5} for size in sizes[len(tried):]]
print(json.dumps({"cells": cells}))
"""
MS = {"1.0": 9.0, "1.1": 8.0, "1.2": 7.0}


@contextmanager
def ran(folder: Path, monkeypatch: pytest.MonkeyPatch, wh_on: WhOn, spec: str, program: str) -> Iterator[Project]:
    """A built project in which a campaign whose cells `program` proposes ran to its end, while the package index still answers."""
    for name, text in (("spec.toml", spec), ("bench.py", BENCH), ("propose.py", program)):
        (folder / name).write_text(text)
    project = standard_project(folder / "project")
    monkeypatch.chdir(folder)
    wheels = {version: wheel("speedy", version, {"speedy.py": f"MS = {ms}\n"}) for version, ms in MS.items()}
    with package_index({"speedy": wheels}) as url:
        monkeypatch.setenv("UV_DEFAULT_INDEX", url)
        for line in (["matrix", "spec.toml"], ["build"]):
            status, _, err = wh_on(project, *line)
            assert status == ExitCode.OK, (line, err)
        yield project


@pytest.mark.exhaustive  # what a proposal, a release and a confirmation are is tried below, without runs
@pytest.mark.usefixtures("ahead")
def test_a_program_proposes_cells_of_the_latest_releases_until_it_wants_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wh_on) -> None:
    with ran(tmp_path, monkeypatch, wh_on, SPEC, PROPOSE) as project:
        assert wh_on(project, "matrix", "spec.toml", "--add-sessions", "1", "--cell", "c9")[0] == ExitCode.USAGE
    con = open_build(current_build(project).path)
    rows = con.execute("select session, cell, status, is_added, factors, effective, unlike from campaign_cell_fact order by session, cell").fetchall()
    con.close()
    # c01 and c02 are the newest release. The second session was not wanted; sessions 5 to 7 confirm.
    assert [row[:4] for row in rows] == [
        (1, "c01", "succeeded", False), (1, "c02", "succeeded", False),
        *((session, cell, "succeeded", False) for session in (5, 6, 7) for cell in ("c01", "c02")),
    ]
    assert json.loads(rows[1][4]) == {"speedy": "1.2", "size": "2", "price_usd_per_hour": "2.5"}
    assert json.loads(rows[1][5]) == {"speedy": "1.2", "size": "2", "price_usd_per_hour": None} and rows[1][6] == ""
    [choice] = [document for path in project.store_root.rglob("choice.json") if (document := json.loads(path.read_text())).get("session") == 2]
    assert choice["log"] == "tried ['c01', 'c02']\n" and choice["asked"]["factors"]["speedy"] == ["1.2", "1.1"]
    assert choice["asked"]["results"][0]["factors"] == {"speedy": "1.2", "size": "1", "price_usd_per_hour": "2.5"}
    status, out, _ = wh_on(project, "advise", "speedy")
    assert status == ExitCode.OK and "best: price_usd_per_hour=2.5 size=1 speedy=1.2" in out and "2 combinations of the factors, which were not chosen" in out
    assert wh_on(project, "advise", "speedy", "--hardware", "no such machine")[0] == ExitCode.NOT_FOUND


def _cell(name: str, values: list[float], **more: object) -> CellResult:
    by_session = {str(session): value for session, value in enumerate(values)}
    return CellResult(name, {"f": name}, name == "c01", "s", by_session, sum(values) / len(values), (), None, Counter(), **more)


def _work(cells: dict[str, CellResult]) -> Advice:
    found = best({name: cell.values for name, cell in cells.items()}, higher_is_better=False)
    return Advice("matrix/x-0", "case", None, "", "elapsed", "ms", False, 3, cells, found)


def test_halving_keeps_the_best_of_each_piece_of_work_and_never_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    work = _work({f"c0{number}": _cell(f"c0{number}", [10.0 - number] * 3) for number in range(1, 7)})
    monkeypatch.setattr(search, "advise", lambda project, campaign, metric: SimpleNamespace(works=(work,)))
    assert halved(None, "x", "elapsed", 0.5, [*work.cells]) == ({"c06": 4.0, "c05": 5.0, "c04": 6.0, "c01": 9.0}, {"c02": 8.0, "c03": 7.0})
    assert [*halved(None, "x", "elapsed", 0.5, ["c01", "c02", "c03"])[0]] == ["c03", "c02", "c01"]


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("print('no JSON')", "did not print"), ("import sys; sys.exit(3)", "exit code 3"),
        ("print('{\"cells\": [{\"size\": 9}]}')", "a cell that the campaign does not have"),
    ],
)
def test_a_program_that_proposes_something_else_stops_the_campaign(tmp_path: Path, program: str, says: str) -> None:
    with pytest.raises(WarehouseError) as raised:
        proposed(["python3", "-c", program], {}, {}, tmp_path, {"PATH": "/usr/bin:/bin"})
    assert raised.value.code == "WH403" and says in raised.value.message


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("latest = 2", 'latest = 2\nvalues = ["1.0"]', "factors.speedy.latest"),
        ('argument = "--size={}"\nvalues = [1, 2]', 'argument = "--size={}"\nlatest = 2', "factors.size.latest"),
        ('command = ["python3", "propose.py"]', 'metric = "elapsed"\nkeep = 1.5', "search.keep"),
        ('command = ["python3", "propose.py"]', 'metric = "elapsed"\ncommand = ["x"]', "search"),
        ('[confirm]\nmetric = "elapsed"\nfront_runners = 2\nsessions = 3\n', "", "confirm"),
        ('[factors.size]\nargument = "--size={}"\nvalues = [1, 2]', '[factors.size]\nimage = true\nvalues = ["a/b:latest"]', "factors.size.values"),
        ('[factors.size]\nargument = "--size={}"\nvalues = [1, 2]', f'[factors.size]\nimage = true\nvalues = ["a/b@sha256:{"0" * 64}"]', "campaign.command"),
    ],
)
def test_a_search_that_cannot_be_is_refused_at_its_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert old in SPEC
    for name, text in (("spec.toml", SPEC.replace(old, new)), ("bench.py", BENCH), ("propose.py", PROPOSE)):
        (tmp_path / name).write_text(text)
    with pytest.raises(WarehouseError) as raised:
        read_spec(tmp_path / "spec.toml")
    assert raised.value.code == "WH402" and raised.value.message.startswith(f"{place}:")


def test_a_cell_of_an_image_runs_in_it_and_a_cell_of_another_driver_is_left_to_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("spec.toml", SPEC), ("bench.py", BENCH), ("propose.py", PROPOSE)):
        (tmp_path / name).write_text(text)
    images = (f"a/b@sha256:{'1' * 64}", f"a/b@sha256:{'2' * 64}")
    factors = (Factor("image", "image", "image", images), Factor("driver", "driver", "driver", ("550.1", "560.2")))
    spec = replace(read_spec(tmp_path / "spec.toml"), command=("podman", "run", "{image}", "vllm"), factors=factors)
    cells = {cell.cell_id: cell for cell in cells_of(spec)}
    assert command_of(spec, cells["c03"]) == ("podman", "run", images[1], "vllm")
    monkeypatch.setattr(runner, "gpus", lambda: [{"driver_version": "560.2"}])
    assert runner._not_here(spec, cells) == {"c01", "c03"}


def test_the_cheapest_compete_among_those_that_meet_the_slo() -> None:
    cells = {
        "c01": _cell("c01", [10.0] * 3, slo=MEETS, usd_per_hour=4.0), "c02": _cell("c02", [12.0, 12.1, 12.0], slo=MEETS, usd_per_hour=2.0),
        "c03": _cell("c03", [14.0, 14.1, 14.1], slo=MEETS, usd_per_hour=2.0), "c04": _cell("c04", [90.0] * 3, slo=MISSES, usd_per_hour=1.0),
        "c05": _cell("c05", [9.0] * 3, slo=MEETS),
    }
    work = replace(_work(cells), found=_compared(cells, False, 0.0, True), slo="elapsed<=20", is_cheapest=True)
    assert work.found.named == "c02" and work.found.beaten_by == {"c03": "c02"}
    assert [work.state(name) for name in cells] == ["costs more", "best", "beaten by c02", "misses the SLO", "no price"]
    assert _compared(cells, False, 0.0, False).named == "c05"


def test_the_next_run_is_a_command_with_what_the_least_certain_cell_is_compared_with() -> None:
    work = _work({"c01": _cell("c01", [20.0] * 3), "c02": _cell("c02", [10.0, 10.1, 10.2]), "c03": _cell("c03", [10.1, 10.0, 10.3]), "c04": _cell("c04", [14.0, 8.0, 10.0])})
    assert work.least_certain == "c04"
    more = _run_more({"name": "x", "spec_file": "my spec.toml"}, "matrix/x.berlin-0123456789ab")
    assert more == "wh matrix 'my spec.toml' --rerun berlin"
    assert replace(work, run_more=more).next_run == f"{more} --add-sessions 1 --cell c01 --cell {work.found.against['c04'].other} --cell c04"


# As much of Optuna as the program of the page uses: it proposes the combinations one after another, over and over.
OPTUNA = """
import itertools, types
seen = itertools.count()
def categorical(choices): return tuple(choices)
def create_trial(params, distributions, value):
    assert set(params) == set(distributions) and all(params[name] in distributions[name] for name in params) and isinstance(value, float)
def create_study(direction, sampler):
    assert direction == "minimize"
    def ask(space):
        every = list(itertools.product(*space.values()))
        return types.SimpleNamespace(params=dict(zip(space, every[next(seen) % len(every)])))
    return types.SimpleNamespace(add_trial=lambda trial: None, ask=ask)
distributions = types.SimpleNamespace(CategoricalDistribution=categorical)
samplers = types.SimpleNamespace(TPESampler=lambda seed, constant_liar: None)
trial = types.SimpleNamespace(create_trial=create_trial)
"""


def page_program() -> str:
    [program] = [block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL) if "import optuna" in block]
    return program


def test_the_program_of_the_page_proposes_what_was_not_run_by_the_results_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "propose.py").write_text(page_program())
    (tmp_path / "optuna.py").write_text(OPTUNA)
    factors = (Factor("numpy", "package", "numpy", ("2.1.3", "2.3.1")), Factor("size", "argument", "--size={}", ("64", "128", "256")))
    spec = SimpleNamespace(factors=factors, sessions=3, sample=None, baseline={}, confirmation=None, repeats=1, warmups=0)
    cells = {cell.cell_id: cell for cell in cells_of(spec)}
    ran = [{"cell": name, "factors": dict(cells[name].values), "metric": "elapsed", "better": "lower", "value": 2.0} for name in ("c01", "c05", "c05")]
    failed = [{"cell": "c02", "factors": dict(cells["c02"].values), "metric": None, "better": None, "value": None}]
    for found, proposes in (((), ["c01", "c02", "c03", "c04"]), ((*ran, *failed), ["c03", "c04", "c06"])):
        asked = search.question(spec, "x-0", 2, found)
        assert proposed([sys.executable, "propose.py"], asked, cells, tmp_path, {"PATH": "/usr/bin:/bin"})[0] == proposes


@pytest.mark.exhaustive
@pytest.mark.usefixtures("ahead")
def test_optuna_searches_a_campaign_by_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wh_on) -> None:
    locked = REPOSITORY / "tests" / "optuna.txt"
    [version] = re.findall(r"^optuna==(\S+)", locked.read_text(), re.MULTILINE)
    assert f'"optuna=={version}", "propose.py"]' in PAGE.read_text(encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-compile", "--target", str(tmp_path / "optuna")]
    if subprocess.run([*pip, "-r", str(locked)], capture_output=True).returncode:
        pytest.skip("the packages of optuna.txt cannot be had")  # as without network: they are no dependency of the project
    command = json.dumps(["env", f"PYTHONPATH={tmp_path / 'optuna'}", sys.executable, "propose.py"])
    spec = SPEC.replace('["python3", "propose.py"]', command).replace("latest = 2", "latest = 3").replace("[1, 2]", "[1, 2, 3, 4, 5, 6]")
    with ran(tmp_path, monkeypatch, wh_on, spec, page_program()) as project:
        choices = {document.get("session"): document for path in project.store_root.rglob("choice.json") if (document := json.loads(path.read_text()))}
    proposed_cells = [each["cell"] for session in (1, 2, 3, 4) for each in choices[session]["cells"]]
    assert len(proposed_cells) == len(set(proposed_cells)) == 16  # of 18; none twice
    asked = choices[4]["asked"]["results"]
    assert {each["cell"] for each in asked if each["metric"] == "elapsed"} == set(proposed_cells[:12])
    status, out, _ = wh_on(project, "advise", "speedy")
    assert status == ExitCode.OK and "2 combinations of the factors, which were not chosen" in out and "best: " in out
