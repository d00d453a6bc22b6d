"""Specs of campaigns: what is refused with the place in it, and the cells and the order of runs that follow from one."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.campaign.cells import Wanted, cells_of, command_of, most_confirmed, session_slots, variables_of, wanted
from warehouse.campaign.progress import Progress
from warehouse.campaign.runner import Runner
from warehouse.campaign.spec import Spec, read_spec
from warehouse.campaign.stacks import Uv
from warehouse.cli.evidence.matrix import _bound
from warehouse.errors import WarehouseError

WHOLE = """
[campaign]
name = "matmul"
command = ["python", "bench.py"]
needs = ["scipy>=1.17"]
sessions = 3
session_gap = "10 min"
repeats = 2
warmups = 1
seed = 4
[factors.numpy]
package = "numpy"
values = ["2.1.3", "2.3.1"]
[factors.size]
environment = "MATRIX_SIZE"
values = [64, 128]
[factors.fast]
argument = "--fast={}"
values = [true, false]
[baseline]
numpy = "2.1.3"
[resolve]
exclude_newer = 2026-11-01T00:00:00Z
python = "3.12"
[limits]
memory = "1.5 GiB"
timeout = "2 min"
"""


def spec(folder: Path, text: str = WHOLE) -> Spec:
    (folder / "spec.toml").write_text(text)
    return read_spec(folder / "spec.toml")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('name = "matmul"', 'name = "Mat mul"', "campaign.name"),
        ('command = ["python", "bench.py"]', "command = []", "campaign.command"),
        ('session_gap = "10 min"\n', "", "campaign.session_gap"),
        ('"10 min"', '"ten minutes"', "campaign.session_gap"),
        ("repeats = 2", "repeats = 0", "campaign.repeats"),
        ("repeats = 2", "repeat = 2", "campaign.repeat"),
        ("exclude_newer = 2026-11-01T00:00:00Z", 'exclude_newer = "7 days"', "resolve.exclude_newer"),
        ("exclude_newer = 2026-11-01T00:00:00Z", "exclude_newer = 2026-11-01T00:00:00", "resolve.exclude_newer"),
        ("exclude_newer = 2026-11-01T00:00:00Z\n", "", "resolve.exclude_newer"),
        ('package = "numpy"', 'package = "numpy; rm"', "factors.numpy.package"),
        ('package = "numpy"', 'package = "numpy"\nenvironment = "X"', "factors.numpy"),
        ('"--fast={}"', '"--fast"', "factors.fast.argument"),
        ("values = [64, 128]", "values = [64, 64]", "factors.size.values"),
        ('numpy = "2.1.3"', 'numpy = "1.0"', "baseline.numpy"),
        ('"1.5 GiB"', '"1.5"', "limits.memory"),
        ("exclude_newer = 2026-11-01T00:00:00Z", "exclude_newer = 2026-11-01T00:00:00Z\nindex = 'https://me:secret@example.org/simple'", "resolve.index"),
        ("seed = 4", 'seed = 4\nfiles = ["../secret"]', "campaign.files"),
        ("[limits]", "[budget]\ndollars = 5\n[limits]", "budget.dollars"),
        ("[limits]", "[confirm]\nmetric = 'rate'\nsessions = 2\n[limits]", "confirm.sessions"),
        ("seed = 4", "seed = 4\nnodes = 2", "campaign.launcher"),
        ("seed = 4", "seed = 4\nnodes = 2\nlauncher = ['srun']\ngpus = 1", "campaign.gpus"),
        # Values that would end in a crash, or in something else than what they say.
        ('"10 min"', '"99999999999999 d"', "campaign.session_gap"),
        ("[limits]", "[budget]\nhours = inf\n[limits]", "budget.hours"),
        ('"2 min"', '"0 s"', "limits.timeout"),
        ('"1.5 GiB"', '"99999999999999 TiB"', "limits.memory"),
        ('"1.5 GiB"', '"0 B"', "limits.memory"),
        ("[limits]", "[limits]\ncpus = [99999999999999999999]", "limits.cpus"),
        ("values = [64, 128]", 'values = ["a\\u0000", "b"]', "factors.size.values"),
        ('"2.1.3", "2.3.1"', '"2.1.3\\n--index-url x", "2.3.1"', "factors.numpy.values"),
        ("[factors.size]", '[factors."a\\nb"]', "factors.a\\nb"),
        ("[limits]", "[environment]\nX = {a = 1}\n[limits]", "environment.X"),
        ("[baseline]", "[factors.program]\ncommand = true\nvalues = ['python a.py']\n[baseline]", "campaign.command"),
        ("[baseline]", "[factors.program]\ncommand = true\nvalues = ['python \"a.py']\n[baseline]", "factors.program.values"),
        ("[baseline]", "[factors.index]\nindex = true\nvalues = ['https://me:secret@example.org/simple']\n[baseline]", "factors.index.values"),
        ("[baseline]", "[factors.cuda]\ntorch_backend = true\nvalues = ['cpu', 'auto']\n[baseline]", "factors.cuda.values"),
        ("[baseline]", "[factors.again]\npackage = 'numpy'\nvalues = ['2.0']\n[baseline]", "factors.again"),
    ],
)
def test_what_is_wrong_in_a_spec_is_refused_at_its_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert old in WHOLE
    with pytest.raises(WarehouseError) as raised:
        spec(tmp_path, WHOLE.replace(old, new))
    assert raised.value.code == "WH402" and raised.value.message.startswith(f"{place}:")


def test_braces_of_an_argument_are_its_own_and_names_may_have_spaces(tmp_path: Path) -> None:
    read = spec(tmp_path, WHOLE.replace('"--fast={}"', "'--json={\"a\": {}}'").replace("[factors.size]", '[factors."my size"]'))
    assert command_of(read, cells_of(read)[0])[-1] == '--json={"a": true}' and "my size=64" in cells_of(read)[0].label


def test_the_most_that_a_campaign_takes_has_its_confirmation_and_its_budget(tmp_path: Path) -> None:
    more = "[confirm]\nmetric = 'rate'\nfront_runners = 2\nsessions = 5\n[budget]\ndollars_per_hour = 3\n"
    read = spec(tmp_path, f"{WHOLE}{more}")
    cells = cells_of(read)
    assert most_confirmed(read, cells) == 8  # two of each of four pieces of work and the baseline, but there are no more cells
    # By hand: 8 cells x (2 repeats + 1 warm-up) x (3 + 5 sessions) = 192 runs of 2 minutes.
    assert _bound(read, 8 * 3 * 3 + most_confirmed(read, cells) * 3 * 5) == "at most 6.4 h and $19.20"
    assert _bound(spec(tmp_path, f"{WHOLE}{more}dollars = 6\n"), 192) == "at most 2.0 h and $6.00"
    assert _bound(spec(tmp_path, f"{WHOLE}{more}runs = 30\n"), 192) == "at most 1.0 h and $3.00"


@pytest.mark.parametrize(("budget", "spent"), [({"runs": 3}, "3 runs"), ({"hours": 2}, "2 hours"), ({"dollars": 5, "dollars_per_hour": 2.5}, "5 dollars")])
def test_no_run_begins_once_the_budget_is_spent(
    tmp_path: Path, budget: dict[str, float], spent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(f"{name} = {value}" for name, value in budget.items())
    working = Runner.__new__(Runner)
    working._spec, working.campaign_id = spec(tmp_path, f"{WHOLE}[budget]\n{lines}\n"), "x"
    for done, is_spent in ((2, False), (3, True)):  # of them, each takes 40 minutes
        progress = Progress(attempts={str(number): 1 for number in range(done)}, done={str(number): {"busy_s": 2400.0} for number in range(done)})
        monkeypatch.setattr(working, "progress", lambda progress=progress: progress)
        if not is_spent:
            working._check_budget()
            continue
        with pytest.raises(WarehouseError) as raised:
            working._check_budget()
        assert raised.value.code == "WH403" and f"the budget of {spent} is spent" in raised.value.message


def test_cells_are_the_product_and_know_their_stack_command_and_variables(tmp_path: Path) -> None:
    read = spec(tmp_path)
    cells = cells_of(read)
    assert [cell.cell_id for cell in cells] == [f"c{number:02}" for number in range(1, 9)]
    assert [cell.is_baseline for cell in cells] == [True] * 4 + [False] * 4  # the stack that the others are compared with, at each size
    last = cells[-1]
    assert wanted(read, last) == Wanted("3.12", ("numpy==2.3.1", "scipy>=1.17"))
    assert (command_of(read, last), variables_of(read, last)) == (("python", "bench.py", "--fast=false"), {"MATRIX_SIZE": "128"})
    assert len({wanted(read, cell).key for cell in cells}) == 2


VARIED = """
[campaign]
name = "varied"
[factors.index]
index = true
values = ["https://one.example/simple", "https://two.example/simple"]
[factors.cuda]
torch_backend = true
values = ["cpu", "cu128"]
[factors.program]
command = true
values = ["python a.py --text 'two words'", "serve b"]
[resolve]
exclude_newer = 2026-11-01T00:00:00Z
index = "https://example.org/simple"
"""


def test_an_index_a_backend_of_pytorch_and_the_command_are_factors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = spec(tmp_path, VARIED)
    cells = cells_of(read)
    assert len(cells) == 8 and len({wanted(read, cell).key for cell in cells}) == 4
    assert [command_of(read, cell) for cell in cells[:2]] == [("python", "a.py", "--text", "two words"), ("serve", "b")]
    asked: list[list[str]] = []
    uv = Uv(tmp_path / "uv")
    monkeypatch.setattr(uv, "_outcome", lambda command, given=None: asked.append(command) or (1, "", ""))
    for cell in (cells[0], cells[-1]):
        uv.resolve(wanted(read, cell), read.resolving)
    flags = [(command[command.index("--default-index") + 1], command[command.index("--torch-backend") + 1]) for command in asked]
    assert flags == [("https://one.example/simple", "cpu"), ("https://two.example/simple", "cu128")]


def test_each_block_has_every_cell_once_in_an_order_of_its_own_that_the_seed_gives_again(tmp_path: Path) -> None:
    read = spec(tmp_path)
    cells = cells_of(read)
    sessions = [tuple(session_slots(read, cells, session)) for session in (1, 2)]
    for session in sessions:
        blocks = [session[start : start + len(cells)] for start in range(0, len(session), len(cells))]
        assert [(block[0].is_warmup, block[0].number) for block in blocks] == [(True, 1), (False, 1), (False, 2)]
        assert all({slot.cell_id for slot in block} == {cell.cell_id for cell in cells} for block in blocks)
        assert len({tuple(slot.cell_id for slot in block) for block in blocks}) == 3
    assert [slot.cell_id for slot in sessions[0]] != [slot.cell_id for slot in sessions[1]]
    assert tuple(session_slots(read, cells, 1)) == sessions[0]


def test_a_sample_keeps_the_baseline_and_the_names_of_cells(tmp_path: Path) -> None:
    read = spec(tmp_path, WHOLE.replace("seed = 4", "seed = 4\nsample = 1").replace('numpy = "2.1.3"', 'numpy = "2.1.3"\nsize = 64\nfast = true'))
    whole = {cell.cell_id: cell.values for cell in cells_of(spec(tmp_path))}
    drawn = cells_of(read)
    assert 1 <= len(drawn) <= 2 and any(cell.is_baseline for cell in drawn)
    assert all(whole[cell.cell_id] == cell.values for cell in drawn)


def test_the_same_question_has_the_same_id_and_another_file_makes_another(tmp_path: Path) -> None:
    read = spec(tmp_path)
    assert read.campaign_id({"bench.py": "a"}) == spec(tmp_path, f"# a comment\n{WHOLE}").campaign_id({"bench.py": "a"})
    assert read.campaign_id({"bench.py": "b"}) != read.campaign_id({"bench.py": "a"}) != spec(tmp_path, WHOLE.replace("64", "32")).campaign_id({"bench.py": "a"})


def test_a_supplied_indicator_is_a_command_and_a_file_and_another_needs_its_command(tmp_path: Path) -> None:
    read = spec(tmp_path, WHOLE.replace('command = ["python", "bench.py"]', 'indicator = "DuckdbGroupBy"\narguments = ["--rows=9"]'))
    assert command_of(read, cells_of(read)[0]) == ("python", "group_by.py", "--rows=9", "--fast=true")
    [(name, place)] = read.copied.items()
    assert name == "group_by.py" and place is not None and place.is_file()
    with pytest.raises(WarehouseError) as raised:
        spec(tmp_path, WHOLE.replace('command = ["python", "bench.py"]', 'indicator = "DuckdbGroupby"'))
    assert raised.value.message.startswith("campaign.indicator:") and "DuckdbGroupBy" in str(raised.value.hint)


def test_a_rerun_is_a_campaign_of_its_own_with_a_name(tmp_path: Path) -> None:
    read = spec(tmp_path)
    assert read.campaign_id({}, "berlin").startswith("matmul.berlin-") and read.campaign_id({}, "berlin") != read.campaign_id({}, "oslo")
    assert read.campaign_id({}, "berlin").rpartition("-")[2] != read.campaign_id({}).rpartition("-")[2]
    for name in ("Berlin", "", "a/b", "x" * 60):
        with pytest.raises(WarehouseError) as raised:
            read.campaign_id({}, name)
        assert raised.value.code == "WH402"
