"""Stacks of packages: resolved by uv to a lock with hashes, and built in an environment of their own.

A lock is a `pylock.toml` (PEP 751). The identity of a stack is the digest of what its lock installs, by name, version and hash: neither addresses nor
the time of resolving are in it. What does not resolve or build is an outcome with its log, never an error.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warehouse.campaign.cells import Wanted
from warehouse.campaign.spec import Resolving, Spec
from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import ExitCode, WarehouseError

RESOLVED, NOT_RESOLVED, BUILT, NOT_BUILT = "resolved", "not resolved", "built", "not built"
LOCK = "pylock.toml"
_TIMEOUT_S = 1800
_USE = ".use"  # a file beside an environment, which is locked while something needs it
_UNSATISFIABLE = 1  # uv's exit code where requirements cannot be met; 2 where it could not ask
_KEPT = ("PATH", "HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True)
class Outcome:
    """How resolving or building ended: `log` is what uv said, `lock` the text of the lock, `stack_digest` its identity."""

    status: str
    log: str
    lock: str | None = None
    stack_digest: str | None = None

    @property
    def reason(self) -> str | None:
        """The last lines of the log that are not empty, as one, where it did not go well."""
        if self.status in (RESOLVED, BUILT):
            return None
        lines = [line.strip() for line in self.log.splitlines() if line.strip()]
        return " ".join(lines[-6:])[-600:] or "uv said nothing"


class Uv:
    """uv with a cache of its own in `folder`, which environments share by links. A cell that names no version of Python has the one that runs wh.
    Raises WH006 where uv is not installed."""

    def __init__(self, folder: Path) -> None:
        self._program = _find_uv()
        self._folder = folder

    def version(self) -> str:
        return self._run([self._program, "--version"])[1].strip()

    def resolve(self, wanted: Wanted, resolving: Resolving) -> Outcome:
        """Choose a version of every package that is needed."""
        code, out, log = self._compiled(wanted, resolving)
        if code:
            return Outcome(NOT_RESOLVED, log)
        return Outcome(RESOLVED, log, out, stack_digest(out, wanted.python))

    def releases(self, package: str, count: int, python: str | None, resolving: Resolving) -> tuple[str, ...]:
        """The newest `count` releases of a package that can be installed, the newest first; fewer if there are no more. Raises WH404 where the index
        does not answer."""
        found: list[str] = []
        while len(found) < count:
            # An ordered comparison takes no local version (PEP 440).
            older = f"{package}<{found[-1].partition('+')[0]}" if found else package
            code, out, log = self._compiled(Wanted(python, (older,)), resolving, "--no-deps")
            if code == _UNSATISFIABLE:
                break
            if code:
                raise WarehouseError("WH404", "the package index did not answer", package, Outcome(NOT_RESOLVED, log).reason)
            found += [version for _, version, _ in locked(out) if version]
        return tuple(found)

    def build(self, folder: Path, lock: str, wanted: Wanted) -> Outcome:
        """Make the environment of a lock in `folder`, which is not there. Where it fails nothing is left."""
        temporary = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.parent.mkdir(parents=True, exist_ok=True)
        lock_file = temporary.parent / f"{folder.name}.lock" / LOCK  # uv takes a lock by its name
        lock_file.parent.mkdir(exist_ok=True)
        lock_file.write_text(lock, encoding="utf-8")
        logs = []
        for step in (
            [self._program, "venv", "--quiet", "--no-config", "--relocatable", "--python", wanted.python or sys.executable, str(temporary)],
            [self._program, "pip", "sync", "--quiet", "--no-config", "--python", str(temporary / "bin" / "python"), str(lock_file)],
        ):
            code, out, log = self._outcome(step)
            logs.append(out + log)
            if code:
                shutil.rmtree(temporary, ignore_errors=True)
                return Outcome(NOT_BUILT, "".join(logs), lock)
        try:
            os.replace(temporary, folder)
        except OSError:
            if not folder.is_dir():
                raise
            shutil.rmtree(temporary, ignore_errors=True)  # another runner has built it meanwhile
        return Outcome(BUILT, "".join(logs), lock)

    def newest(self, packages: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        """The newest version of each package that the Python of wh can install, and the packages of which the index has none. Raises WH404 where it
        does not answer."""
        if not packages:
            return {}, []
        command = [
            self._program, "pip", "compile", "-", "--format", "pylock.toml", "--no-deps", "--no-header", "--no-annotate", "--no-config", "--quiet",
            "--python", sys.executable,
        ]
        code, out, log = self._outcome(command, "\n".join(packages))
        if code == 0:
            return {name: version for name, version, _ in locked(out) if version}, []
        if code != _UNSATISFIABLE:
            raise WarehouseError("WH404", "the package index did not answer", hint=Outcome(NOT_RESOLVED, log).reason)
        if len(packages) == 1:
            return {}, [*packages]
        # One package that the index does not have fails all: uv names one of them at a time, halves find all of them.
        half = len(packages) // 2
        (first, unknown), (rest, others) = self.newest(packages[:half]), self.newest(packages[half:])
        return first | rest, unknown + others

    def _compiled(self, wanted: Wanted, resolving: Resolving, *flags: str) -> tuple[int, str, str]:
        command = [
            self._program, "pip", "compile", "-", "--format", "pylock.toml", "--no-header", "--no-annotate", "--no-config", "--quiet", *flags,
            "--exclude-newer", resolving.exclude_newer, *(["--python-version", wanted.python] if wanted.python else ["--python", sys.executable]),
        ]
        if not resolving.allow_source:
            command += ["--only-binary", ":all:"]
        if index := wanted.index or resolving.index:
            command += ["--default-index", index]
        if backend := wanted.torch_backend or resolving.torch_backend:
            command += ["--torch-backend", backend]
        return self._outcome(command, "\n".join(wanted.requirements))

    def _outcome(self, command: list[str], given: str | None = None) -> tuple[int, str, str]:
        try:
            return self._run(command, given)
        except subprocess.TimeoutExpired:
            return 2, "", f"uv did not end within {_TIMEOUT_S} s"

    def _run(self, command: list[str], given: str | None = None) -> tuple[int, str, str]:
        environment = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("UV_")}
        environment["UV_CACHE_DIR"] = str(self._folder / "cache")
        done = subprocess.run(command, input=given or "", capture_output=True, text=True, timeout=_TIMEOUT_S, env=environment, check=False)
        return done.returncode, done.stdout, done.stderr


def with_latest(spec: Spec, folder: Path) -> Spec:
    """A spec with the versions of its factors that ask for the latest; uv's cache is in `folder`. Raises WH402 where there is no release, and WH404
    where the index does not answer."""
    factors = []
    for factor in spec.factors:
        if factor.latest:
            values = Uv(folder).releases(factor.target, factor.latest, spec.resolving.python, spec.resolving)
            if not values:
                raise WarehouseError("WH402", f"factors.{factor.name}: the index has no release that can be installed", exit_code=ExitCode.USAGE)
            if spec.baseline.get(factor.name, values[0]) not in values:
                message = f"baseline.{factor.name}: is none of the latest releases, which are {', '.join(values)}"
                raise WarehouseError("WH402", message, exit_code=ExitCode.USAGE)
            factor = replace(factor, values=values)
        factors.append(factor)
    return replace(spec, factors=tuple(factors))


def stack_digest(lock: str, python: str | None) -> str:
    """The identity of what a lock installs: names, versions, hashes of the files, and the version of Python."""
    return bytes_digest(canonical_json({"python": python, "packages": [[name, version, hashes] for name, version, hashes in locked(lock)]}))


def locked(lock: str) -> list[tuple[str, str | None, list[str]]]:
    """The packages of a lock: name, version and the sorted sha256 of its files. Raises `ValueError` for what is no lock."""
    found = []
    for package in tomllib.loads(lock).get("packages", []):
        files: list[Mapping[str, Any]] = [*package.get("wheels", []), *filter(None, [package.get("sdist"), package.get("archive")])]
        hashes = sorted({file["hashes"]["sha256"] for file in files if "sha256" in file.get("hashes", {})})
        found.append((package["name"], package.get("version"), hashes))
    return sorted(found, key=lambda each: (each[0], each[1] or ""))


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """While it is open, nobody makes room by removing an environment, or what is built as one."""
    with open(folder.with_name(f"{folder.name}{_USE}"), "a") as mark:
        fcntl.flock(mark, fcntl.LOCK_SH)
        if folder.is_dir():
            os.utime(folder)
        yield


def make_room(folder: Path, most_bytes: int, keep: Iterable[str]) -> list[str]:
    """Remove environments in `folder` that nobody uses, those used longest ago first, until they take at most `most_bytes`; their names."""
    kept, removed = set(keep), []
    found = (each for each in folder.iterdir() if each.is_dir() and not each.name.endswith(".lock"))
    environments = sorted(found, key=lambda each: each.stat().st_mtime)
    sizes = {each: sum(file.lstat().st_size for file in each.rglob("*") if not file.is_dir()) for each in environments}
    total = sum(sizes.values())
    for each in environments:
        if total <= most_bytes:
            break
        if each.name in kept:
            continue
        with open(each.with_name(f"{each.name.partition('.')[0]}{_USE}"), "a") as mark, suppress(BlockingIOError):
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(each, ignore_errors=True)
            total -= sizes[each]
            removed.append(each.name)
    return removed


def _find_uv() -> str:
    try:
        from uv import find_uv_bin
    except ImportError:
        found = shutil.which("uv")
    else:
        found = str(find_uv_bin())
    if found is None:
        raise WarehouseError("WH006", "uv is not installed", hint="pip install 'perf-warehouse[stacks]'", exit_code=ExitCode.USAGE)
    return found
