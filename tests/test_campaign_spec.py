"""Specs of campaigns: what is refused with the place in it, and the cells and the order of runs that follow from one."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.campaign.cells import Wanted, cells_of, command_of, session_slots, variables_of, wanted
from warehouse.campaign.spec import Spec, read_spec
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
    ],
)
def test_what_is_wrong_in_a_spec_is_refused_at_its_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert old in WHOLE
    with pytest.raises(WarehouseError) as raised:
        spec(tmp_path, WHOLE.replace(old, new))
    assert raised.value.code == "WH402" and raised.value.message.startswith(f"{place}:")


def test_cells_are_the_product_and_know_their_stack_command_and_variables(tmp_path: Path) -> None:
    read = spec(tmp_path)
    cells = cells_of(read)
    assert [cell.cell_id for cell in cells] == [f"c{number:02}" for number in range(1, 9)]
    assert [cell.is_baseline for cell in cells] == [True] * 4 + [False] * 4  # the stack that the others are compared with, at each size
    last = cells[-1]
    assert wanted(read, last) == Wanted("3.12", ("numpy==2.3.1", "scipy>=1.17"))
    assert (command_of(read, last), variables_of(read, last)) == (("python", "bench.py", "--fast=false"), {"MATRIX_SIZE": "128"})
    assert len({wanted(read, cell).key for cell in cells}) == 2


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
