"""What `wh compare` and `wh changes` share: a threshold as it is typed, and when a found change fails the command."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.program import usage
from warehouse.errors import ExitCode

Threshold = Annotated[str, typer.Option(metavar="SHARE", help="effects below it do not matter, e.g. 2% or 0.02")]
FailOn = Annotated[
    str | None, typer.Option("--fail-on", metavar="confirmed|suspected", help="exit with 1 if something got worse, confirmed, or suspected as well")
]
Plot = Annotated[str | None, typer.Option(metavar="FILE.svg", help="draw it into this file")]

_LEVELS = ("confirmed", "suspected")


def share(text: str, option: str) -> float:
    """A share between 0 and 1, typed as 0.02 or 2%."""
    number, is_percent = (text[:-1], True) if text.endswith("%") else (text, False)
    try:
        value = float(number) / (100 if is_percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise usage(f"{option}: {text!r} is no share between 0 and 1, such as 2% or 0.02")
    return value


def exit_code(fail_on: str | None, worst: str | None) -> ExitCode:
    """1 where the strongest verdict that something got worse is one to fail on."""
    if fail_on is None:
        return ExitCode.OK
    failing = _LEVELS[: _LEVELS.index(checked_level(fail_on)) + 1]
    return ExitCode.FAILED if worst in failing else ExitCode.OK


def checked_level(fail_on: str) -> str:
    """`--fail-on`, checked before the work begins."""
    if fail_on not in _LEVELS:
        raise usage(f"--fail-on: {fail_on!r} is neither confirmed nor suspected")
    return fail_on
