"""Which file a command runs, and its digest: the same indicator name has given other numbers under other scripts, so
the script is part of what makes two runs comparable."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.digest import CHUNK_BYTES, stream_digest
from warehouse.record.software import STANDARD_IMPORTS, is_python, run_for_json

_OTHER_INTERPRETER = re.compile(r"(ba|da|z|k)?sh|env|perl|ruby|node|julia|Rscript")
# Finds the parents of a module without importing them; an empty module in the place of each is what a folder without `__init__.py` needs.
_MODULE_FILE_SCRIPT = STANDARD_IMPORTS + """
import json
sys.path[:] = path
def find(name, places):
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    return next(filter(None, (finder.find_spec(name, places) for finder in finders)), None)
names, places = sys.argv[1].split("."), None
for count in range(1, len(names) + 1):
    name = ".".join(names[:count])
    spec = find(name, places) if count == 1 or places is not None else None
    places = spec and spec.submodule_search_locations
    sys.modules.setdefault(name, type(sys)(name)).__path__ = places
if places is not None:
    spec = find(name + ".__main__", places)
print(json.dumps(spec and spec.origin))
"""


@dataclass(frozen=True)
class Script:
    """The file as named in the command (or the module's name), and the sha256 of its bytes."""

    name: str
    sha256: str


def find_script(command: Sequence[str]) -> Script | None:
    """The file that holds the work of `command`, or None.

    It is the module of `python -m module`; else the first element that names a readable regular file, interpreters
    and options left aside. A program found through PATH is a tool, not the work; one given by path may be the work.
    """
    for position, element in enumerate(command):
        if is_python(element):
            option = _module_or_code(command, position + 1)
            if option == "-c":
                return None
            if option is not None:
                return _module_script(element, option)
        elif _is_work(element, position):
            return _file_script(element, element)
    return None


def _is_work(element: str, position: int) -> bool:
    if element.startswith("-") or _OTHER_INTERPRETER.fullmatch(os.path.basename(element)):
        return False
    return (position > 0 or "/" in element) and _is_file(element)


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL in the name
        return False


def _module_or_code(command: Sequence[str], start: int) -> str | None:
    """The module after `-m`, `-c` if code is given on the command line, None if Python runs a file."""
    for position in range(start, len(command)):
        element = command[position]
        if element == "-m" and position + 1 < len(command):
            return command[position + 1]
        if element == "-c":
            return "-c"
        if not element.startswith("-") and command[position - 1] not in ("-W", "-X"):
            return None
    return None


def _module_script(interpreter: str, module: str) -> Script | None:
    origin = run_for_json([interpreter, "-c", _MODULE_FILE_SCRIPT, module])
    return _file_script(module, origin) if isinstance(origin, str) else None


def _file_script(name: str, path: str) -> Script | None:
    try:
        with open(path, "rb") as stream:
            return Script(name, stream_digest(iter(lambda: stream.read(CHUNK_BYTES), b"")))
    except OSError:
        return None
