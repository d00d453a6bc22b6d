"""`--select` of `wh plan` and `wh build`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.completion import table_names
from warehouse.cli.program import usage

Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="MODELS...", autocompletion=table_names,
        help="only these: names and globs, +run (with all it reads), run+ (with all that reads it), tag:nightly, path:models/marts,"
        " changed; a comma means both",
    ),
]
MoreModels = Annotated[list[str] | None, typer.Argument(hidden=True, metavar="MODELS")]  # typer gives an option one value


def selected(select: list[str] | None, more: list[str] | None) -> list[str]:
    """All patterns, in their order."""
    if more and not select:
        raise usage(f"unexpected argument {more[0]!r}; to choose models: --select {more[0]}")
    return [*(select or ()), *(more or ())]
