"""What `wh build --watch` waits for: a look at all that a build reads, again and again, and the static check of a change.

Nothing here builds. A change while a build runs is found by the next look; objects in remote stores are not looked at.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator

from warehouse.errors import WarehouseError
from warehouse.project.project import find_project
from warehouse.transform.build.build import texts_fingerprint
from warehouse.transform.check.project_check import Findings, check_project
from warehouse.transform.inputs.sources import FileState, file_set

_PAUSE_S = 0.3


def checks() -> Iterator[Findings | WarehouseError | OSError]:
    """What the static check finds in the project now, and again after every change; an error where it cannot be checked at all.
    Never ends."""
    known: dict[str, FileState] = {}
    patterns: set[tuple[str, ...]] = set()
    seen: tuple[str, str] | None = None
    while True:
        if seen == (_texts(), _files(patterns, known)):
            time.sleep(_PAUSE_S)
            continue
        texts = _texts()  # once more: a change between the two looks would be reported twice
        found = _checked()
        if not isinstance(found, Exception):
            patterns = {read.patterns for reads in found.checked.graph.files.values() for read in reads}
        # From before the check, and of the files that it named: what changes from here on is new.
        seen = texts, _files(patterns, known)
        yield found


def _checked() -> Findings | WarehouseError | OSError:
    try:
        return check_project(find_project())
    except (WarehouseError, OSError) as error:
        return error


def _texts() -> str:
    """A fingerprint of the project's texts and evidence; of the error where they cannot be read."""
    try:
        return texts_fingerprint(find_project())
    except (WarehouseError, OSError) as error:
        return str(error)


def _files(patterns: Collection[tuple[str, ...]], known: dict[str, FileState]) -> str:
    """The content of all files under local patterns; of the error where one cannot be read. Keeps in `known` what it finds,
    so that a file is read once and not at every look."""
    try:
        root = find_project().root.resolve()
        local = [each for each in sorted(patterns) if not any("://" in pattern for pattern in each)]
        found = [file_set(each, root, known) for each in local]
    except (WarehouseError, OSError) as error:
        return str(error)
    known |= {file.path: file for files in found for file in files.files}
    return " ".join(files.content for files in found)
