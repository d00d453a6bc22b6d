"""What the working folder of a recording is of: commit, branch, whether files differ from the commit, and the remote.

Git runs no program that the repository names for it: no hook, monitor or filter, and nothing is fetched. What cannot be known so is None.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.record.redaction import redacted

_TIMEOUT_S = 20
# Without locks: a recording changes nothing in the repository. A monitor of the file system is a program of the repository's choice.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
# No transport is allowed: git before 2.45 fetches the objects that a partial clone lacks whatever GIT_NO_LAZY_FETCH says.
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "LC_ALL": "C"}
# Not --ignore-submodules=none, for which git would run itself in each submodule, with the filters of that.
_STATUS = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty")
_DRIVER = re.compile(r"filter\.(.*)\.(?:clean|process)", re.DOTALL)
_SUBMODULE_MODE = "160000 "
_URL = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)(?:[^/?#]*@)?((?:\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::\d+)?(?:/[^@?#]*)?)(?:[?#][^@]*)?")
_HOST_AND_PATH = re.compile(r"(?:[\w.-]+@)?[^:@]*(?::[^@]*)?")  # `git@host:path`, whose user is no secret, or a folder


def describe_git(redact: Sequence[str] = ()) -> dict[str, Any] | None:
    """`commit`, `branch` (None if detached), `is_dirty` (tracked files differ from the commit) and `remote`, the URL of origin or else of the
    first remote, without credentials and matches of `redact`. None outside of a repository, and where git is not installed."""
    commit = _answer("rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return None
    remotes = (_answer("remote") or "").splitlines()
    remote = _text("config", "--get", f"remote.{'origin' if 'origin' in remotes else remotes[0]}.url") if remotes else None
    shown = without_credentials(remote) if remote else None
    return {
        "commit": commit,
        "branch": _text("symbolic-ref", "--quiet", "--short", "HEAD"),
        "is_dirty": _is_dirty(),
        "remote": redacted([shown], redact)[0][0] if shown else None,
    }


def without_credentials(url: str) -> str | None:
    """A URL without user, password and query; `git@host:path` has a user that is no secret, and stays. None if a part of it may be a password:
    an `@` after the host, or a port that is no number."""
    if found := _URL.fullmatch(url):
        return found[1] + found[2]
    return url if "//" not in url and _HOST_AND_PATH.fullmatch(url) else None


def _is_dirty() -> bool | None:
    """Whether tracked files differ from the commit, in the repository of the current folder or a submodule that is checked out."""
    folder = _answer("rev-parse", "--show-toplevel")
    # What names a repository, such as GIT_DIR, names the outer one.
    inner = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    waiting, seen, is_known = [(folder, dict(os.environ))] if folder else [], set[str](), bool(folder)
    while waiting:
        folder, environment = waiting.pop()
        if (place := os.path.realpath(folder)) in seen:  # by a link
            continue
        seen.add(place)
        is_dirty = _differs(folder, environment)
        if is_dirty:
            return True
        index = _answer("ls-files", "-z", "--stage", folder=folder, environment=environment)
        is_known &= is_dirty is not None and index is not None
        paths = [os.path.join(folder, entry.partition("\t")[2]) for entry in (index or "").split("\0") if entry.startswith(_SUBMODULE_MODE)]
        waiting += [(path, inner) for path in paths if os.path.lexists(os.path.join(path, ".git"))]
    return False if is_known else None


def _differs(folder: str, environment: Mapping[str, str]) -> bool | None:
    """Whether tracked files of one repository differ from its commit. None if only files differ from the index that a filter writes there:
    without the filter their contents cannot be compared."""
    drivers = _drivers(folder, environment)
    without = [part for name in drivers or () for key in ("clean=", "process=", "required=false") for part in ("-c", f"filter.{name}.{key}")]
    if drivers is None or _drivers(folder, environment, *without) != set():  # a name with `=` cannot be in an option
        return None
    changed = _answer(*without, *_STATUS, folder=folder, environment=environment)
    if not changed or not drivers:
        return None if changed is None else bool(changed)
    entries = [(entry[:2], entry[3:]) for entry in changed.split("\0") if entry]
    if any(state != " M" for state, _ in entries):
        return True
    paths = "".join(f"{path}\0" for _, path in entries)
    attributes = _answer("check-attr", "-z", "--stdin", "filter", folder=folder, environment=environment, given=paths)
    if attributes is None:
        return None
    return True if any(name not in drivers for name in attributes.split("\0")[2::3]) else None


def _drivers(folder: str, environment: Mapping[str, str], *options: str) -> set[str] | None:
    """The names of the filters that have a command."""
    answer = _answer(*options, "config", "-z", "--list", folder=folder, environment=environment)
    if answer is None:
        return None
    commands = dict(entry.partition("\n")[::2] for entry in answer.split("\0"))  # the last value of a name counts
    return {found[1] for name, command in commands.items() if command and (found := _DRIVER.fullmatch(name))}


def _text(*arguments: str) -> str | None:
    """A line that git prints, to be written down."""
    return os.fsencode(_answer(*arguments) or "").decode(errors="replace").strip() or None


def _answer(*arguments: str, folder: str = ".", environment: Mapping[str, str] | None = None, given: str = "") -> str | None:
    """What git prints, or None if it fails."""
    try:
        done = subprocess.run(
            [*_GIT, "-C", folder, *arguments], input=os.fsencode(given), capture_output=True, timeout=_TIMEOUT_S, check=True,
            env={**(os.environ if environment is None else environment), **_QUIET},
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return os.fsdecode(done.stdout).rstrip("\n")
