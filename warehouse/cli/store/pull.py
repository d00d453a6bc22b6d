"""`wh pull`."""

from __future__ import annotations

from warehouse.cli.store.push import BuildId, Json, Store, Wanted, copy
from warehouse.errors import ExitCode

PAGE = "docs/store.md"
EXAMPLES = ("wh pull ../backup",)
INTERRUPTED = "what was listed is in the project's store; run the same command again to continue"


def command(store: Store, wanted: Wanted = None, build: BuildId = None, as_json: Json = False) -> ExitCode:
    return copy(store, wanted or [], build, as_json=as_json, is_pull=True)
