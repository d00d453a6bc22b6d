"""The ten lines of docs/campaigns.md, run as they stand with the commands below them: the index is one on loopback, and the clock runs ahead of waits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from package_index import package_index, wheel
from standard import standard_project

from warehouse.errors import ExitCode

PAGE = Path(__file__).resolve().parents[1] / "docs" / "campaigns.md"
# As much of NumPy as the indicator uses. The later version is slower, by more than a busy machine makes of it.
NUMPY = """
import time
__version__, dtype = {version!r}, str
class Ones:
    def __init__(self, value): self.value = value
    def __matmul__(self, other):
        time.sleep({seconds})  # what one version takes longer than another
        return Ones(512)
    def max(self): return self.value
def ones(shape, dtype): return Ones(1)
"""
SECONDS = {"2.1.3": 0.002, "2.3.1": 0.02}


@pytest.mark.usefixtures("ahead")
@pytest.mark.exhaustive  # test_campaign.py runs a campaign of these keys in each run, and test_docs.py parses the commands
@pytest.mark.parametrize("is_rerun", [False, True])
def test_the_ten_lines_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wh_on, is_rerun: bool) -> None:
    text = PAGE.read_text(encoding="utf-8")
    spec, commands = re.findall(r"```(?:toml|text)\n(.*?)```", text, re.DOTALL)[:2]
    assert len(spec.splitlines()) <= 10
    (tmp_path / "matmul.toml").write_text(spec)
    project = standard_project(tmp_path / "project")
    monkeypatch.chdir(tmp_path)
    wheels = {version: wheel("numpy", version, {"numpy.py": NUMPY.format(version=version, seconds=seconds)}) for version, seconds in SECONDS.items()}
    with package_index({"numpy": wheels}) as url:
        monkeypatch.setenv("UV_DEFAULT_INDEX", url)
        said = []
        for line in commands.splitlines():
            words = line.partition("#")[0].split()
            status, out, err = wh_on(project, *words[1:])
            assert status == ExitCode.OK, (line, err)
            said.append(out)
        if is_rerun:  # by a colleague
            for line in (("matrix", "matmul.toml", "--rerun", "berlin"), ("build",), ("compare", "campaign=matmul-*", "campaign=matmul.berlin-*", "--metric", "elapsed")):
                status, out, err = wh_on(project, *line)
                assert status == ExitCode.OK, (line, err)
            assert "matmul-*: 6 runs" in out and re.search(r"campaign campaign: matmul-\w+ -> matmul\.berlin-\w+", out)
    assert "2 cells of 2 stacks, 3 sessions" in said[0] and "best: numpy=2.1.3" in said[-1]
    assert 'name = "numpy"\nversion = "2.1.3"' in (tmp_path / "best.toml").read_text()
