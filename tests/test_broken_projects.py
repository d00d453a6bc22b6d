"""Broken projects, one a folder of tests/broken: each gets the message that its expected.txt holds, to the letter.

A case is a folder with a project and what `wh check` says of it; `python tests/test_broken_projects.py` writes the
expected.txt of cases that have none, to be read before it is kept.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "broken"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())
# Words of the check's own session and of Python: no analyst wrote them.
LEAKS = re.compile(r"Traceback|\bmemory\b|empty_landing|_LITERAL|duckdb\.|\.py\b|exception_")


def said(folder: Path) -> tuple[int, str]:
    """Exit status and standard error of `wh check` on a copy of a case."""
    from contextlib import redirect_stderr
    from io import StringIO

    from warehouse.cli.main import main

    stream, before = StringIO(), os.environ.get("WH_PROJECT")
    try:
        with redirect_stderr(stream):
            status = main(["--project", str(folder), "check"])
    finally:
        os.environ.pop("WH_PROJECT", None)
        if before is not None:
            os.environ["WH_PROJECT"] = before
    return status, stream.getvalue()


def copied(name: str, to: Path) -> Path:
    """The case without its expectation, as a project of its own."""
    return Path(shutil.copytree(CASES / name, to / name, ignore=shutil.ignore_patterns("expected.txt")))


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_project_is_told_what_is_wrong(name: str, tmp_path: Path) -> None:
    status, text = said(copied(name, tmp_path))
    assert text == (CASES / name / "expected.txt").read_text(encoding="utf-8")
    assert status == (0 if name.startswith("warning_") else 1)


@pytest.mark.parametrize("name", NAMES)
def test_every_message_has_a_code_a_place_and_a_hint(name: str) -> None:
    text = (CASES / name / "expected.txt").read_text(encoding="utf-8")
    messages = text.rstrip("\n").split("\n\n")
    if not name.startswith("project_"):  # a project that cannot be read has one fault, and no more is known
        assert re.fullmatch(r"\d+ errors?|ok: \d+ models, \d+ queries", messages.pop())
    assert messages, "nothing is said"
    for message in messages:
        assert re.match(r"(warning )?WH\d{3} [\w/. -]+?(:\d+:\d+)?: \S", message), message
        assert re.search(r"^  hint: \S", message, re.MULTILINE), message
    assert not LEAKS.search(text)
    assert str(CASES) not in text
