"""The spec of a campaign: a TOML file that says which cells there are, how a cell is resolved and run, and when to stop.

Everything that decides what is run, in which order and for how long is in it, so that it can be frozen before the first run: the campaign's
id holds a digest of it.
"""

from __future__ import annotations

import math
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.record.indicators import SUPPLIED, supplied_file
from warehouse.record.processes.limits import Limits

PACKAGE, ENVIRONMENT, ARGUMENT, PYTHON, IMAGE, DRIVER = "package", "environment", "argument", "python", "image", "driver"
INDEX, TORCH_BACKEND, COMMAND = "index", "torch_backend", "command"
_UNNAMED = (PYTHON, IMAGE, DRIVER, INDEX, TORCH_BACKEND, COMMAND)  # there is one of it
_KINDS = (PACKAGE, ENVIRONMENT, ARGUMENT, *_UNNAMED)
_IMAGE = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROJECT_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9,._ -]+\])?")  # a package, with its extras
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)")
_SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_LARGEST_BYTES = 2**53  # beyond it, JSON's numbers are no longer exact
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(s|min|h|d)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_LONGEST_S = 366 * 86400
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+*_-]*")  # one requirement: a line of another would be an option of uv
_SECTIONS = ("campaign", "factors", "resolve", "limits", "budget", "environment", "baseline", "confirm", "search")
_OF_CAMPAIGN = (
    "name", "command", "indicator", "arguments", "needs", "sessions", "session_gap", "repeats", "warmups", "seed", "sample", "pass",
    "files", "gpus", "nodes", "launcher",
)
_LATER = ("indicator", "arguments", "gpus", "nodes", "launcher", "search")  # keys that the first campaigns did not have


@dataclass(frozen=True)
class Factor:
    """What is varied: versions of a package, a variable of the environment, an argument of the command, the version of Python, the image that the
    command runs in, the GPU driver, the package index, PyTorch's backend, or the command itself. `target` is the package, variable or argument's
    pattern, in which `{}` is the value. `latest`: how many of the newest releases of the package; `values` has them once the index was asked."""

    name: str
    kind: str
    target: str
    values: tuple[str, ...]
    latest: int | None = None


@dataclass(frozen=True)
class Resolving:
    """How the packages of a cell are chosen. `exclude_newer` is a date and time with its zone: releases after it do not exist."""

    exclude_newer: str
    python: str | None = None
    index: str | None = None
    torch_backend: str | None = None
    allow_source: bool = False


@dataclass(frozen=True)
class Budget:
    """What the campaign may cost in all; None: no bound."""

    runs: int | None = None
    hours: float | None = None
    dollars: float | None = None
    dollars_per_hour: float | None = None


@dataclass(frozen=True)
class Confirmation:
    """The second part of a campaign: after all sessions, the cells that were best by `metric` (`front_runners` of them for each piece of work, and
    the baseline) run in so many fresh sessions, and only those count. A choice by the same runs would favour the lucky."""

    metric: str
    front_runners: int
    sessions: int


@dataclass(frozen=True)
class Search:
    """How the cells of each session before the confirmation are chosen: by `metric`, the best `keep` (a share) of each piece of work go on to the
    next session; or `command` is given all results, and answers with cells."""

    metric: str | None = None
    keep: float = 0.5
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A campaign as asked for. A session begins at least `session_gap_s` after the one before it began. Every cell runs `repeats` times in each
    session, after `warmups` runs that are kept and not counted. Cells with the values of `baseline` are what the others are compared with.
    `sample` is the number of cells drawn by `seed`; None: all. `indicator` is the one that every run must print; with an empty `command` it is
    supplied by wh. Each run has `gpus` GPUs for itself. `launcher` is the command line that starts what follows it once on each of `nodes` nodes."""

    name: str
    command: tuple[str, ...]
    factors: tuple[Factor, ...]
    sessions: int
    session_gap_s: float
    resolving: Resolving
    repeats: int = 1
    warmups: int = 0
    seed: int = 0
    sample: int | None = None
    needs: tuple[str, ...] = ()
    baseline: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    limits: Limits = Limits()
    budget: Budget = Budget()
    confirmation: Confirmation | None = None
    indicator: str | None = None
    arguments: tuple[str, ...] = ()
    gpus: int = 0
    nodes: int = 0
    launcher: tuple[str, ...] = ()
    search: Search | None = None

    def document(self) -> dict[str, Any]:
        """The spec as JSON values; the same for specs that ask for the same."""
        document: dict[str, Any] = asdict(self)
        # Campaigns from before there were these keep their ids.
        for factor in document["factors"]:
            if factor["latest"] is None:
                del factor["latest"]
        if self.limits.disk_bytes is None:
            del document["limits"]["disk_bytes"]
        return {key: value for key, value in document.items() if key not in _LATER or value}

    @property
    def whole_sessions(self) -> int:
        """How many sessions from the first on have all cells: those after them have the cells that are chosen."""
        return self.sessions if self.search is None else 0 if self.search.command else 1

    @property
    def copied(self) -> dict[str, Path | None]:
        """The files that each run finds in its folder, by name: None for those of the spec's folder, else the place of a supplied indicator."""
        own: dict[str, Path | None] = dict.fromkeys(self.files)
        if self.command or self.indicator is None or any(factor.kind == COMMAND for factor in self.factors):
            return own
        return {**own, SUPPLIED[self.indicator][0]: supplied_file(self.indicator)}

    def campaign_id(self, file_digests: Mapping[str, str], rerun: str | None = None) -> str:
        """The campaign's name and a digest of all that it is asked to do, files included. `rerun` names a repetition of the whole, a campaign of its
        own. Raises WH402 for a name that is none."""
        asked: dict[str, Any] = {"spec": self.document(), "files": dict(file_digests)}
        if rerun is None:
            return f"{self.name}-{bytes_digest(canonical_json(asked))[:12]}"
        name = f"{self.name}.{rerun}"
        if not _NAME.fullmatch(name) or not _NAME.fullmatch(rerun):
            hint = "lower-case letters, digits, '.', '_' and '-'; with the campaign's name at most 64"
            raise WarehouseError("WH402", "is not a name of a rerun", printable(rerun), hint, ExitCode.USAGE)
        return f"{name}-{bytes_digest(canonical_json({**asked, 'rerun': rerun}))[:12]}"


def read_spec(path: Path) -> Spec:
    """The spec in a file. Raises WH004 (no such file) and WH402 (not TOML, an unknown key, a value that is none)."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WarehouseError("WH004", f"cannot be read: {error}", printable(str(path)), exit_code=ExitCode.USAGE) from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WarehouseError("WH402", f"not valid TOML: {error}", printable(str(path)), exit_code=ExitCode.USAGE) from error
    return _Reader(path, document).spec()


class _Reader:
    """Reads a document, and raises WH402 with the key's place for what is wrong in it."""

    def __init__(self, path: Path, document: Mapping[str, Any]) -> None:
        self._path = path
        self._document = document

    def spec(self) -> Spec:
        self._known("", self._document, _SECTIONS)
        campaign = self._table("campaign")
        self._known("campaign", campaign, _OF_CAMPAIGN)
        name = self._text("campaign.name", campaign.get("name"))
        if not _NAME.fullmatch(name):
            raise self._fault("campaign.name", "is lower-case letters, digits, '.', '_' and '-', at most 64")
        factors = self._factors()
        indicator = None if "indicator" not in campaign else self._text("campaign.indicator", campaign["indicator"])
        command = self._texts("campaign.command", campaign.get("command", []))
        arguments = self._texts("campaign.arguments", campaign.get("arguments", []))
        commands = [tuple(shlex.split(value)) for factor in factors if factor.kind == COMMAND for value in factor.values]
        if command and commands:
            raise self._fault("campaign.command", "is a factor, too", "give it in one place")
        if not command and not commands and indicator is None:
            hint = 'for example: command = ["python", "bench.py"], or indicator = "PiMatmul"'
            raise self._fault("campaign.command", "names no program", hint)
        if not command and not commands and indicator not in SUPPLIED:
            hint = did_you_mean(indicator or "", list(SUPPLIED)) or f"supplied: {', '.join(SUPPLIED)}; another needs the command that prints it"
            raise self._fault("campaign.indicator", "is not a supplied indicator, and there is no command", hint)
        sessions = self._count("campaign.sessions", campaign.get("sessions", 1), least=1)
        confirmation = self._confirmation()
        if (sessions > 1 or confirmation) and "session_gap" not in campaign:
            raise self._fault(
                "campaign.session_gap", "several sessions need it: how far apart they begin at least",
                'for example: session_gap = "10 min"; runs of the same minutes share what disturbs them',
            )
        baseline = {key: _told(value) for key, value in self._table("baseline").items()}
        for key, value in baseline.items():
            chosen = next((factor for factor in factors if factor.name == key), None)
            if chosen is None or (value not in chosen.values and not chosen.latest):
                raise self._fault(f"baseline.{key}", "names no value of a factor")
        has_image = any(factor.kind == IMAGE for factor in factors)
        if any(has_image is not any("{image}" in word for word in words) for words in commands or [command]):
            hint = 'for example: ["podman", "run", "--rm", "{image}"]'
            raise self._fault("campaign.command", "has {image} where a factor is an image, and only there", hint)
        search = self._search()
        if search and confirmation is None:
            raise self._fault("confirm", "a search needs it: what chose the cells says too much of them", "confirm the best in fresh sessions")
        nodes = self._count("campaign.nodes", campaign["nodes"], least=1) if "nodes" in campaign else 0
        launcher = self._texts("campaign.launcher", campaign.get("launcher", []))
        gpus = self._count("campaign.gpus", campaign.get("gpus", 0))
        if bool(nodes) is not bool(launcher):
            hint = 'for example: nodes = 2 and launcher = ["srun", "--nodes=2", "--ntasks-per-node=1"]'
            raise self._fault("campaign.launcher", "and campaign.nodes go together: what starts the command once on each of so many nodes", hint)
        if launcher and gpus:
            raise self._fault("campaign.gpus", "leases GPUs of this machine: with a launcher its scheduler gives them")
        sample = campaign.get("sample")
        return Spec(
            name=name, command=command, factors=factors, sessions=sessions,
            session_gap_s=self._seconds("campaign.session_gap", campaign.get("session_gap", "0 s")),
            resolving=self._resolving(), repeats=self._count("campaign.repeats", campaign.get("repeats", 1), least=1),
            warmups=self._count("campaign.warmups", campaign.get("warmups", 0)), seed=self._count("campaign.seed", campaign.get("seed", 0)),
            sample=None if sample is None else self._count("campaign.sample", sample, least=1),
            needs=self._texts("campaign.needs", campaign.get("needs", [])), baseline=baseline, environment=self._variables(),
            passed=self._texts("campaign.pass", campaign.get("pass", [])),
            files=self._files(campaign), limits=self._limits(), budget=self._budget(), confirmation=confirmation, indicator=indicator,
            arguments=arguments, gpus=gpus, nodes=nodes, launcher=launcher, search=search,
        )

    def _factors(self) -> tuple[Factor, ...]:
        factors = tuple(self._factor(key, value) for key, value in self._table("factors").items())
        if not factors:
            hint = 'for example [factors.numpy], and below it package = "numpy" and values = ["2.1.0", "2.2.0"]'
            raise self._fault("factors", "there is none", hint)
        for number, factor in enumerate(factors):
            if any((factor.kind, factor.target) == (other.kind, other.target) and factor.kind != ARGUMENT for other in factors[:number]):
                raise self._fault(f"factors.{factor.name}", "varies what another factor varies")
        return factors

    def _factor(self, name: str, value: Any) -> Factor:
        place = f"factors.{name}"
        if not name.strip() or not name.isprintable():
            raise self._fault(place, "is no name of a factor")
        if not isinstance(value, dict):
            raise self._fault(place, "is a table")
        self._known(place, value, (*_KINDS, "values", "latest"))
        kinds = [kind for kind in _KINDS if kind in value]
        if len(kinds) != 1:
            raise self._fault(place, f"is one of {', '.join(_KINDS)}")
        [kind] = kinds
        target = kind if kind in _UNNAMED else self._text(f"{place}.{kind}", value[kind])
        pattern = {PACKAGE: _PROJECT_NAME, ENVIRONMENT: _VARIABLE}.get(kind)
        if pattern and not pattern.fullmatch(target):
            raise self._fault(f"{place}.{kind}", f"is no name of a {'package' if kind == PACKAGE else 'variable'}")
        if kind == ARGUMENT and "{}" not in target:
            raise self._fault(f"{place}.argument", "has no {} for the value")
        if "latest" in value:
            if kind != PACKAGE or "values" in value:
                raise self._fault(f"{place}.latest", "is of a package, and in place of values")
            return Factor(name, kind, target, (), self._count(f"{place}.latest", value["latest"], least=1))
        values = value.get("values")
        if not isinstance(values, list) or not values or any(isinstance(each, (dict, list)) for each in values):
            raise self._fault(f"{place}.values", "is a list of values")
        texts = tuple(_told(each) for each in values)
        if any("\0" in text or (kind == PACKAGE and not _VERSION.fullmatch(text)) for text in texts):
            raise self._fault(f"{place}.values", "has a value that is no version" if kind == PACKAGE else "has a NUL in a value")
        if len(set(texts)) < len(texts):
            raise self._fault(f"{place}.values", "has a value twice")
        if kind == IMAGE and not all(_IMAGE.fullmatch(each) for each in texts):
            raise self._fault(f"{place}.values", "are images by digest", "for example: vllm/vllm-openai@sha256:... ; a tag is another image tomorrow")
        if kind == INDEX:
            for text in texts:
                self._without_password(f"{place}.values", text)
        if kind == TORCH_BACKEND and "auto" in texts:
            raise self._fault(f"{place}.values", "has 'auto', which is another backend on another machine", "for example: cpu, cu128")
        if kind == COMMAND and not all(_words(text) for text in texts):
            raise self._fault(f"{place}.values", "has a value that is not a command line", 'for example: "python bench.py --fast"')
        return Factor(name, kind, target, texts)

    def _without_password(self, place: str, index: str) -> None:
        if "@" in urlsplit(index).netloc:
            raise self._fault(place, "holds a name or password, and the spec becomes evidence", "give them by a netrc file, which uv reads")

    def _resolving(self) -> Resolving:
        table = self._table("resolve")
        self._known("resolve", table, ("exclude_newer", "python", "index", "torch_backend", "allow_source"))
        newest = table.get("exclude_newer")
        moment = newest if isinstance(newest, datetime) else None
        if isinstance(newest, str):
            try:
                moment = datetime.fromisoformat(newest)
            except ValueError:
                moment = None
        if moment is None or moment.tzinfo is None:
            raise self._fault(
                "resolve.exclude_newer", "is a date and time with its zone; releases after it do not exist for this campaign",
                "for example: exclude_newer = 2026-11-01T00:00:00Z; a period such as '7 days' would resolve otherwise tomorrow",
            )
        allow = table.get("allow_source", False)
        if not isinstance(allow, bool):
            raise self._fault("resolve.allow_source", "is true or false")
        texts = {key: None if table.get(key) is None else self._text(f"resolve.{key}", table[key]) for key in ("python", "index", "torch_backend")}
        self._without_password("resolve.index", texts["index"] or "")
        return Resolving(moment.isoformat(), allow_source=allow, **texts)

    def _limits(self) -> Limits:
        table = self._table("limits")
        self._known("limits", table, ("memory", "timeout", "processes", "disk", "cpus", "niceness"))
        cpus = table.get("cpus", [])
        if not isinstance(cpus, list) or not all(isinstance(cpu, int) and not isinstance(cpu, bool) and 0 <= cpu < 10**5 for cpu in cpus):
            raise self._fault("limits.cpus", "is a list of CPU numbers", "for example: cpus = [0, 1]")
        niceness = table.get("niceness", 0)
        if not isinstance(niceness, int) or not 0 <= niceness <= 19:
            raise self._fault("limits.niceness", "is a whole number from 0 to 19")
        return Limits(
            memory_bytes=self._size("limits.memory", table["memory"]) if "memory" in table else None,
            disk_bytes=self._size("limits.disk", table["disk"]) if "disk" in table else None,
            timeout_s=self._seconds("limits.timeout", table["timeout"], above=0) if "timeout" in table else None,
            processes=self._count("limits.processes", table["processes"], least=1) if "processes" in table else None,
            cpus=tuple(sorted(set(cpus))), niceness=niceness,
        )

    def _budget(self) -> Budget:
        table = self._table("budget")
        self._known("budget", table, ("runs", "hours", "dollars", "dollars_per_hour"))
        amounts = {key: self._amount(f"budget.{key}", table[key]) for key in ("hours", "dollars", "dollars_per_hour") if key in table}
        if "dollars" in amounts and "dollars_per_hour" not in amounts:
            raise self._fault("budget.dollars", "needs dollars_per_hour: what this machine costs")
        return Budget(runs=self._count("budget.runs", table["runs"], least=1) if "runs" in table else None, **amounts)

    def _confirmation(self) -> Confirmation | None:
        table = self._table("confirm")
        self._known("confirm", table, ("metric", "front_runners", "sessions"))
        if not table:
            return None
        return Confirmation(
            self._text("confirm.metric", table.get("metric")), self._count("confirm.front_runners", table.get("front_runners", 5), least=2),
            self._count("confirm.sessions", table.get("sessions"), least=3),
        )

    def _search(self) -> Search | None:
        table = self._table("search")
        self._known("search", table, ("metric", "keep", "command"))
        if not table:
            return None
        if ("metric" in table) is ("command" in table):
            raise self._fault("search", "has a metric, to halve by, or a command, which proposes cells")
        if "command" in table:
            command = self._texts("search.command", table["command"])
            if not command or "keep" in table:
                raise self._fault("search.command", "is a program and its arguments, without keep")
            return Search(command=command)
        keep = self._amount("search.keep", table.get("keep", 0.5))
        if keep >= 1:
            raise self._fault("search.keep", "is a share below 1")
        return Search(self._text("search.metric", table["metric"]), keep)

    def _variables(self) -> dict[str, str]:
        table = self._table("environment")
        for key in table:
            if not _VARIABLE.fullmatch(key):
                raise self._fault(f"environment.{key}", "is no name of a variable")
            if isinstance(table[key], (dict, list)) or "\0" in _told(table[key]):
                raise self._fault(f"environment.{key}", "is no value of a variable")
        return {key: _told(value) for key, value in sorted(table.items())}

    def _files(self, campaign: Mapping[str, Any]) -> tuple[str, ...]:
        names = self._texts("campaign.files", campaign.get("files", []))
        for name in names:
            if name.startswith("/") or ".." in Path(name).parts or not (self._path.parent / name).is_file():
                raise self._fault("campaign.files", f"{name!r} is no file below the spec's folder")
        return names

    # -- values -------------------------------------------------------------------------------------------------

    def _table(self, name: str) -> Mapping[str, Any]:
        found = self._document.get(name, {})
        if not isinstance(found, dict):
            raise self._fault(name, "is a table")
        return found

    def _text(self, place: str, value: Any) -> str:
        if not isinstance(value, str) or not value or "\0" in value:
            raise self._fault(place, "is text in quotes")
        return value

    def _texts(self, place: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(each, str) and "\0" not in each for each in value):
            raise self._fault(place, "is a list of texts")
        return tuple(value)

    def _count(self, place: str, value: Any, least: int = 0) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 10**6:
            raise self._fault(place, f"is a whole number from {least} on")
        return value

    def _amount(self, place: str, value: Any) -> float:
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < math.inf:
            raise self._fault(place, "is a number above 0")
        return float(value)

    def _size(self, place: str, value: Any) -> int:
        found = _SIZE.fullmatch(value) if isinstance(value, str) else None
        size = int(min(float(found[1]) * _SIZES[found[2]], _LARGEST_BYTES)) if found else 0
        if not 0 < size < _LARGEST_BYTES:
            raise self._fault(place, "is a size above 0 and below 8 PiB", 'for example: "2 GiB"')
        return size

    def _seconds(self, place: str, value: Any, above: float = -1.0) -> float:
        found = _DURATION.fullmatch(value) if isinstance(value, str) else None
        seconds = float(found[1]) * _SECONDS[found[2]] if found else math.inf
        if not above < seconds <= _LONGEST_S:
            more = "" if above < 0 else f"more than {above:g} s and "
            raise self._fault(place, f"is a duration of {more}at most 366 d", 'for example: "90 s", "10 min", "2 h"')
        return seconds

    def _known(self, place: str, table: Mapping[str, Any], names: Sequence[str]) -> None:
        for name in table:
            if name not in names:
                hint = did_you_mean(name, names) or f"known: {', '.join(names)}"
                raise self._fault(f"{place}.{name}".removeprefix("."), "is no key of a spec", hint)

    def _fault(self, key: str, message: str, hint: str | None = None) -> WarehouseError:
        return WarehouseError("WH402", f"{printable(key)}: {message}", printable(str(self._path)), hint, ExitCode.USAGE)


def _words(command: str) -> list[str]:
    """The words of a command line, as a shell reads them; none of one with a quote that is not closed."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _told(value: Any) -> str:
    """A value as the command or the environment is to see it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
