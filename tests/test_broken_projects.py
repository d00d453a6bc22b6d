"""Broken projects, one a folder of tests/broken: each gets the message that its expected.txt holds, to the letter.

A case is a folder with a project and what `wh check` says of it. To add one: write the files, run the test, read what is
said with the eyes of an analyst who is in a hurry, and keep it as expected.txt once it is the message one would want.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from warehouse.cli.main import main

CASES = Path(__file__).parent / "broken"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())
# Words of the check's own session and of Python: no analyst wrote them.
LEAKS = re.compile(r"Traceback|\bmemory\b|empty_landing|_LITERAL|duckdb\.|\.py\b|exception_")


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_project_is_told_what_is_wrong(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = shutil.copytree(CASES / name, tmp_path / name, ignore=shutil.ignore_patterns("expected.txt"))
    status = main(["--project", str(project), "check"])
    out, text = capsys.readouterr()
    assert out == ""
    assert text == (CASES / name / "expected.txt").read_text(encoding="utf-8")
    assert status == (0 if name.startswith("warning_") else 1)


@pytest.mark.parametrize("name", NAMES)
def test_every_message_has_a_code_a_place_and_a_hint(name: str) -> None:
    text = (CASES / name / "expected.txt").read_text(encoding="utf-8")
    messages = text.rstrip("\n").split("\n\n")
    if not name.startswith("project_"):  # a project that cannot be read has one fault, and no more is known
        assert re.fullmatch(r"\d+ errors?|ok: \d+ models?, \d+ quer(?:y|ies)", messages.pop())
    assert messages, "nothing is said"
    for message in messages:
        assert re.match(r"(warning )?WH\d{3} [\w/. -]+?(:\d+:\d+)?: \S", message), message
        assert re.search(r"^  hint: \S", message, re.MULTILINE), message
    assert not LEAKS.search(text)
    assert str(CASES) not in text
