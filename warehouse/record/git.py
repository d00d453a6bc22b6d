"""What the working folder of a recording is of: commit, branch, whether files differ from the commit, and the remote. Read by git, which runs no
hook or monitor of the repository for it. What cannot be known is None."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

_TIMEOUT_S = 20
# Without locks: a recording changes nothing in the repository. A monitor of the file system is a program of the repository's choice.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_QUERY = re.compile(r"[?#].*$")


def describe_git() -> dict[str, Any] | None:
    """`commit`, `branch` (None if detached), `is_dirty` (tracked files differ from the commit) and `remote`, the URL of origin or else of the
    first remote, without credentials. None outside of a repository, and where git is not installed."""
    commit = _answer("rev-parse", "--verify", "--quiet", "HEAD")
    if not commit:
        return None
    changed = _answer("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none")
    remotes = (_answer("remote") or "").splitlines()
    remote = _answer("config", "--get", f"remote.{'origin' if 'origin' in remotes else remotes[0]}.url") if remotes else None
    return {
        "commit": commit,
        "branch": _answer("symbolic-ref", "--quiet", "--short", "HEAD") or None,
        "is_dirty": None if changed is None else bool(changed),
        "remote": without_credentials(remote) if remote else None,
    }


def without_credentials(url: str) -> str:
    """A URL without user, password and query; `git@host:path` has a user that is no secret, and stays."""
    return _QUERY.sub("", _USER.sub("", url)) if "://" in url else url


def _answer(*arguments: str) -> str | None:
    """What git prints, or None if it fails."""
    try:
        done = subprocess.run(
            [*_GIT, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=True,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()
