"""A project: a folder with a `warehouse.toml` and its own folders (`KINDS`), laid over the standard ones.

Finds and reads projects; knows where things lie. It opens no store and runs no SQL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.alive import FreshnessLimits, NotifyRules, read_freshness_limits, read_notify_rules
from warehouse.project.file import PROJECT_FILE, ProjectFile, read_project_file
from warehouse.project.sql_limits import SqlLimits, size_bytes
from warehouse.project.store_place import is_http_address, store_at

PLAYBOOKS = "playbooks"  # a folder of queries that are not query specs
KINDS = ("models", "queries", "ingest", "data_tests", "unit_tests")
STANDARD_PREFIX = "standard/"  # how messages show a file of the standard project
ENGINES = ("none", "local", "ray", "spark", "file")  # what does the work of a build; none: the build itself
DEFAULT_KEPT_BUILDS = 3
DEFAULT_STORE = ".wh/store"
_SOURCE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MOST_DAYS = 36_500  # that evidence or detail is kept
_PUBLIC_KEY = re.compile(r"ed25519:[0-9a-f]{64}")


@dataclass(frozen=True)
class Retention:
    """How many days each tier is kept, by the contract's defaults: metrics at hand, detail in the serving database, raw
    evidence; and the runs whose detail stays in the database whatever its age, sorted."""

    hot_days: int = 30
    warm_days: int = 180
    cold_days: int = 730
    kept_detail: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scale:
    """Which engine does the work of a build (one of `ENGINES`; None: the build itself), where that is, and how many bytes of evidence are
    under one part of a table. A table of more than `table_bytes`, as Parquet, stays in parts where nothing reads it whole."""

    engine: str | None = None
    address: str = ""
    part_bytes: int = 128 << 20
    table_bytes: int = 1 << 30


@dataclass(frozen=True)
class Project:
    """Where a project lies and what its file says."""

    root: Path
    name: str
    store_root: Path
    builds: Path
    kept_builds: int
    uses_standard: bool
    build_memory: str | None = None  # that the engine may use in a build; None: four fifths of the machine's
    # The URL of a store in S3; `store_root` then has only what is not evidence. Keys never lie in the project.
    store_url: str | None = None
    store_endpoint: str | None = None
    store_region: str | None = None
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # name to paths or patterns
    # Where a build tells OpenLineage events, if anywhere.
    lineage_file: Path | None = None
    lineage_url: str | None = None
    trusted_keys: Mapping[str, str] = field(default_factory=dict)  # public keys (`ed25519:` and 64 hex characters) by name
    requires_signatures: bool = False  # of publications, and of all evidence under them
    retention: Retention = Retention()
    redact: tuple[str, ...] = ()  # regular expressions of secrets in recorded commands
    sql_limits: SqlLimits = SqlLimits()
    pinned_build: str | None = None  # the digest of the build that is read as the current one; None: what the pointer names
    max_hot_series: int | None = None  # None: as the contract has it
    freshness: FreshnessLimits = FreshnessLimits()
    notify: NotifyRules = NotifyRules()
    scale: Scale = Scale()

    @property
    def store_lock_days(self) -> int:
        """How long what is written to a bucket with Object Lock stays: as long as policy keeps evidence."""
        return self.retention.cold_days

    def layers(self, kind: str) -> tuple[Path, ...]:
        """The folders of one kind (one of `KINDS`), the standard one first. A file in a later layer
        replaces the one of the same name in an earlier layer."""
        own = self.root / kind
        standard = standard_folder() / kind
        layers = (standard, own) if self.uses_standard and standard.resolve() != own.resolve() else (own,)
        return tuple(folder for folder in layers if folder.is_dir())

    def files(self, kind: str, suffix: str) -> list[Path]:
        """All files of one kind, sorted by layer and path; hidden and private (`_`) names are left out, but for those that
        make a package."""
        return [
            path
            for layer in self.layers(kind)
            for path in sorted(layer.rglob(f"*{suffix}"))
            if not is_left_out(parts_below(path, layer), kind)
        ]

    def shown(self, path: Path) -> str:
        """`path` as messages show it: relative to the project, or to the standard project."""
        for base, prefix in ((self.root, ""), (standard_folder(), STANDARD_PREFIX)):
            if str(path).startswith(f"{base}{os.sep}"):
                return prefix + "/".join(parts_below(path, base))
        return str(path)


def is_left_out(parts: Sequence[str], kind: str) -> bool:
    """Whether a file is not read as one of its kind: it is hidden or private (but for what makes a package), or a check of a playbook."""
    is_check = kind == "queries" and parts[0] == PLAYBOOKS and len(parts) > 1
    return is_check or any(part.startswith((".", "_")) and part != "__init__.py" for part in parts)


def refuse_special(path: Path, place: str) -> None:
    """Raises WH201 for a pipe, a device or a folder: reading a pipe would wait for a writer."""
    if path.exists() and not path.is_file():
        raise WarehouseError("WH201", "is not a regular file", place, "remove it, or put a file in its place")


def parts_below(path: Path, folder: Path) -> list[str]:
    """The parts of a path that lies in `folder`, from there. A tenth of the cost of `Path.relative_to`, which a project of
    a thousand models feels."""
    return str(path)[len(str(folder)) + 1 :].split(os.sep)


@cache
def standard_folder() -> Path:
    """The standard project: inside the installed package, or the source checkout itself."""
    installed = Path(__file__).parents[1] / "standard"
    return installed if installed.is_dir() else Path(__file__).parents[2]


def find_project(start: Path | None = None) -> Project:
    """The project of `start`, of `WH_PROJECT`, or of the current folder, walking up. Raises WH001, WH002."""
    named = start or os.environ.get("WH_PROJECT")
    here = Path(named or ".").resolve()
    if named and not here.is_dir():
        raise WarehouseError("WH001", "no such folder", str(named), exit_code=ExitCode.USAGE)
    if folder := project_folder(here):
        return read_project(folder)
    raise WarehouseError(
        "WH001", f"no {PROJECT_FILE} in {here} or above", hint="make one with: wh init DIR", exit_code=ExitCode.USAGE
    )


def _build_memory(file: ProjectFile) -> str | None:
    memory = file.value("build", "memory", str, "")
    try:
        if memory and not size_bytes(memory):
            raise ValueError("a build needs some memory")
    except ValueError as error:
        raise file.fault("build", "memory", f"build.memory: {error}", 'for example: memory = "8GB"') from error
    return memory or None


def _scale(file: ProjectFile) -> Scale:
    engine = file.value("scale", "engine", str, "none")
    if engine not in ENGINES:
        raise file.fault("scale", "engine", f"scale.engine {engine!r} is not an engine", f"one of: {', '.join(ENGINES)}")
    address, part, table = file.value("scale", "address", str, ""), _bytes(file, "part", "128MB"), _bytes(file, "table", "1GB")
    return Scale(None if engine == "none" else engine, address, part or Scale.part_bytes, table or Scale.table_bytes)


def _bytes(file: ProjectFile, name: str, example: str) -> int | None:
    text = file.value("scale", name, str, "")
    try:
        if text and not size_bytes(text):
            raise ValueError("it needs some bytes")
        return size_bytes(text) if text else None
    except ValueError as error:
        raise file.fault("scale", name, f"scale.{name}: {error}", f'for example: {name} = "{example}"') from error


def project_folder(place: Path) -> Path | None:
    """The folder of the project that a resolved path lies in."""
    return next((folder for folder in (place, *place.parents) if (folder / PROJECT_FILE).is_file()), None)


def read_project(root: Path) -> Project:
    """The project in exactly this folder. Raises WH002 with the place when its file is not valid."""
    root = root.resolve()
    file = read_project_file(root)
    keep = file.value("build", "keep", int, DEFAULT_KEPT_BUILDS)
    if keep < 1:
        raise file.fault("build", "keep", "build.keep must be at least 1", "the current build is one of those kept")
    store_root, store_url = _store(root, file)
    lineage_file = file.value("openlineage", "file", str, "")
    lineage_url = os.environ.get("OPENLINEAGE_URL") or file.value("openlineage", "url", str, "")
    if lineage_url and not is_http_address(lineage_url):
        raise file.fault(
            "openlineage", "url", f"openlineage.url {lineage_url!r} is not an http or https address",
            'for example: url = "http://localhost:5000"',
        )
    return Project(
        root=root,
        name=file.value("project", "name", str, root.name),
        store_root=store_root,
        builds=root / file.value("build", "folder", str, ".wh/builds"),
        kept_builds=keep,
        build_memory=_build_memory(file),
        uses_standard=file.value("project", "standard", bool, True),
        sources=_sources(file),
        lineage_file=root / lineage_file if lineage_file else None,
        lineage_url=lineage_url or None,
        trusted_keys=_trusted_keys(file),
        requires_signatures=file.value("publication", "require_signatures", bool, False),
        retention=_retention(file),
        redact=_redact(file),
        sql_limits=_sql_limits(file),
        max_hot_series=_max_hot_series(file),
        freshness=read_freshness_limits(file),
        notify=read_notify_rules(file),
        scale=_scale(file),
        store_url=store_url,
        store_endpoint=_endpoint(file),
        store_region=file.value("store", "region", str, "") or None,
    )


def _store(root: Path, file: ProjectFile) -> tuple[Path, str | None]:
    """The store's folder, and where it is in S3 or reached by fsspec its URL; then the folder is for what is no evidence."""
    return store_at(
        root, file.value("store", "url", str, DEFAULT_STORE),
        lambda message, hint: file.fault("store", "url", f"store.url {message}", f"for example: url = {hint}"),
    )


def project_of_place(project: Project, place: str) -> Project:
    """`project` with the store at another place: a URL, a store's folder, or the folder of the project that has it.
    A bucket of another endpoint than the project's is reached by AWS's own variables. Raises WH002."""
    if "://" in place:
        store_root, store_url = store_at(
            project.root, place, lambda message, hint: WarehouseError("WH002", message, place, f"for example: {hint}", ExitCode.USAGE)
        )
        return replace(project, store_root=store_root, store_url=store_url)
    folder = Path(place).resolve()
    if not (folder / PROJECT_FILE).is_file():
        return replace(project, store_root=folder, store_url=None)
    other = read_project(folder)
    return replace(
        project, store_root=other.store_root, store_url=other.store_url, store_endpoint=other.store_endpoint,
        store_region=other.store_region,
    )


def _endpoint(file: ProjectFile) -> str | None:
    endpoint = file.value("store", "endpoint", str, "")
    if endpoint and not is_http_address(endpoint):
        raise file.fault(
            "store", "endpoint", f"store.endpoint {endpoint!r} is not an http or https address", 'for example: "http://localhost:8100"'
        )
    return endpoint or None


def project_of_store(root: Path, here: Project | None = None) -> Project:
    """A project that is nothing but a store in a folder, with the standard ingestors and those of the project `here`."""
    texts = here.root if here else root
    return Project(
        texts, root.name, store_root=root, builds=root / "builds", kept_builds=1, uses_standard=True,
        requires_signatures=here is not None and here.requires_signatures,
    )


def _sources(file: ProjectFile) -> dict[str, tuple[str, ...]]:
    """The named file sources: paths, patterns, or one call that reads them."""
    found = {}
    for name, value in file.section("sources").items():
        patterns = [value] if isinstance(value, str) else value
        hint = f'write it like this: {name} = "data/*.parquet"'
        if not (isinstance(patterns, list) and patterns and all(isinstance(item, str) for item in patterns)):
            raise file.fault("sources", name, f"sources.{name} is a path, a pattern or a list of them", hint)
        if not _SOURCE_NAME.fullmatch(name):
            raise file.fault("sources", name, f"{name} is not a table name", "use lower-case letters, digits and _")
        found[name] = tuple(patterns)
    return found


def _trusted_keys(file: ProjectFile) -> dict[str, str]:
    keys = file.section("trusted_keys")
    for name, key in keys.items():
        if not (isinstance(key, str) and _PUBLIC_KEY.fullmatch(key)):
            raise file.fault(
                "trusted_keys", name, f"trusted_keys.{name} is no public key: ed25519: and 64 hex characters",
                "wh keygen prints it",
            )
    return dict(keys)


def _retention(file: ProjectFile) -> Retention:
    tiers = ["hot_days", "warm_days", "cold_days"]
    days = {key: file.value("retention", key, int, getattr(Retention, key)) for key in tiers}
    for key, before in zip(tiers, [None, *tiers], strict=False):
        if days[key] < (days[before] if before else 1):
            told = f"at least {before}, {days[before]}" if before else "at least 1"
            stated = key if key in file.section("retention") else before
            raise file.fault("retention", stated, f"retention.{key} must be {told}", "a colder tier is kept as long as a hotter one")
        if days[key] > _MOST_DAYS:  # the calendar, and a bucket's lock, end somewhere
            raise file.fault("retention", key, f"retention.{key} must be at most {_MOST_DAYS}", "this is a hundred years")
    kept = file.section("retention").get("keep_detail", [])
    if not (isinstance(kept, list) and all(isinstance(run_id, str) for run_id in kept)):
        hint = 'write it like this: keep_detail = ["RUN_ID"]'
        raise file.fault("retention", "keep_detail", "retention.keep_detail is a list of runs", hint)
    return Retention(**days, kept_detail=tuple(sorted(set(kept))))


def _redact(file: ProjectFile) -> tuple[str, ...]:
    patterns = file.section("record").get("redact", [])
    hint = "write it like this: redact = ['INTERNAL-[0-9]+']"
    if not (isinstance(patterns, list) and all(isinstance(pattern, str) for pattern in patterns)):
        raise file.fault("record", "redact", "record.redact is a list of regular expressions", hint)
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise file.fault("record", "redact", f"record.redact: {pattern!r} is not a regular expression: {error}", hint) from error
    return tuple(patterns)


def _sql_limits(file: ProjectFile) -> SqlLimits:
    limits = SqlLimits()
    for key, kind in (("timeout", int), ("memory", str), ("spill", str), ("rows", int)):
        if key in file.section("sql"):
            value = file.value("sql", key, kind, 1000 if key == "rows" else getattr(limits, key))
            try:
                limits = replace(limits, **{key: value})
            except ValueError as error:
                raise file.fault("sql", key, f"sql.{key}: {error}", 'for example: timeout = 600, memory = "4GB"') from error
    return limits


def _max_hot_series(file: ProjectFile) -> int | None:
    if "max_series" not in file.section("hot_metrics"):
        return None
    most: int = file.value("hot_metrics", "max_series", int, 2_000_000)
    if most < 1:
        raise file.fault("hot_metrics", "max_series", "hot_metrics.max_series must be at least 1", "without it, 2,000,000 series are allowed")
    return most


def source_fault(root: Path, name: str, code: str, message: str, hint: str | None) -> WarehouseError:
    """A fault of a named source, at its line in the project's file."""
    return replace(read_project_file(root).fault("sources", name, message, ""), code=code, hint=hint)
