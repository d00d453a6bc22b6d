"""Stacks that are no longer fresh: with newer releases than those measured, locked long ago, or of which nobody asked the index."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.alive.index_state import normalised, parsed
from warehouse.alive.row import RECORDED, Known, Row, again, run_ids
from warehouse.claims.publish.publication import RUN_LINES
from warehouse.errors import counted, printable
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import role_table
from warehouse.transform.project.model import RUNS

if TYPE_CHECKING:
    import duckdb

NEWER, LOCK, INDEX = "newer release", "old lock", "package index"
_LISTED, _INSTALLED = 3, 6
_PACKAGES, _SOFTWARE = "main.software_package_dim", "main.software_version_dim"
_CAMPAIGNS, _CELLS = "main.campaign_dim", "main.campaign_cell_fact"


@dataclass(frozen=True)
class _Stacks:
    """What published numbers were measured with: by publication, for each package its versions, each with a run that had it; and which packages are
    frameworks."""

    packages: dict[str, dict[str, list[tuple[str, str]]]]
    frameworks: frozenset[str]


def newer_releases(known: Known) -> Iterator[Row]:
    """Publications none of whose runs had the newest release of a package that the state of the index names. Of the others than frameworks some has
    one every night: that is no news."""
    index = known.index
    if index is None:
        return
    stacks = _stacks(known)
    for each in known.counting:
        publication, used = str(each.query), stacks.packages.get(each.digest, {})
        newer = {}
        for package, versions in used.items():
            ordered = sorted(((at, version, run_id) for version, run_id in versions if (at := parsed(version))), key=lambda each: (each[0], each[2]))
            if ordered and (release := index.newer(package, ordered[-1][1])):
                newer[package] = (ordered[-1][1], release, ordered[-1][2])
        if not newer:
            continue
        names = sorted(newer, key=lambda name: (name not in stacks.frameworks, name))
        listed = ", ".join(f"{name} {newer[name][0]} -> {newer[name][1]}" for name in names[:_LISTED])
        more = f" and {len(newer) - _LISTED} more" if len(newer) > _LISTED else ""
        run_id = newer[names[0]][2]
        command = again(run_id)
        if run_id.startswith(RECORDED):
            wanted = " ".join(shlex.quote(f"{name}=={newer[name][1]}") for name in names[:_INSTALLED])
            command = f"uv pip install {wanted} && {command}"
        words = f"{publication}: newer than measured are {listed}{more}"
        news = ", ".join(f"{name} {newer[name][1]}" for name in names if name in stacks.frameworks)
        evidence = (f"index state {index.digest}", run_id)
        yield Row(NEWER, f"{NEWER} {publication}", publication, words, command, index.at, evidence, len(newer), each.digest, news)


def index_state(known: Known) -> Iterator[Row]:
    """That nobody asked the index for packages that published numbers were measured with, or long ago. A file that was brought names what matters."""
    index, days = known.index, known.project.freshness.index_days
    is_recent = index is not None and not known.is_older(index.at, days)
    if index and is_recent and index.unknown is None:
        return
    names = packages(known)
    if index and is_recent and index.unknown is not None:
        names = [name for name in names if name not in index.newest and name not in index.unknown]
    if names:
        said = f"was asked on {index.at:%Y-%m-%d}" + (", and not for all" if is_recent else "") if index else "was never asked"
        words = f"the package index {said}: whether {counted(len(names), 'package')} of published numbers have newer releases is not known"
        yield Row(INDEX, INDEX, "package index", words, "wh freshness --ask-index", index.at if index else None)


def packages(known: Known) -> list[str]:
    """The packages that published numbers were measured with."""
    return sorted({package for used in _stacks(known).packages.values() for package in used})


def old_locks(known: Known) -> Iterator[Row]:
    """Campaigns, the last of each name, that chose their packages from an index of long ago."""
    if known.build is None:
        return
    con = open_build(known.build.path)
    try:
        if not {"name", "campaign_key", "parameters", "started_at"} <= _columns(con, _CAMPAIGNS) or "stack_digest" not in _columns(con, _CELLS):
            return
        campaigns = con.execute(
            f"select name, campaign_key, parameters from {_CAMPAIGNS} where name is not null"
            f" and campaign_key in (select campaign_key from {_CELLS} where stack_digest is not null and run_id is not null)"
            " qualify row_number() over (partition by name order by started_at desc nulls last, campaign_key) = 1 order by name"
        ).fetchall()
    finally:
        con.close()
    for name, key, parameters in campaigns:
        at = _locked_at(parameters)
        if at and known.is_older(at, known.project.freshness.lock_days):
            words = f"the stacks of campaign {name} have no package that is newer than {at:%Y-%m-%d}"
            yield Row(LOCK, f"{LOCK} {name}", printable(name), printable(words), _lock_again(known, name), at, (key,), -at.timestamp())


def _stacks(known: Known) -> _Stacks:
    """Only what runs state as a list of packages: names of drivers and libraries in other evidence are no names of an index."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    runs = role_table(known.build.path, RUNS) if known.build else None
    if known.build is None or runs is None or "software_version_key" not in runs.columns:
        return _Stacks({}, frozenset())
    con = open_build(known.build.path)
    try:
        if not {"software_version_key", "component", "version"} <= _columns(con, _PACKAGES) or "packages_digest" not in _columns(con, _SOFTWARE):
            return _Stacks({}, frozenset())
        sql = (
            f"with stack as (select software_version_key, min(run_id) as run_id from {runs.sql} where run_id in (select unnest(?::varchar[]))"
            f" and software_version_key in (select software_version_key from {_SOFTWARE} where packages_digest is not null) group by all)"
            f" select component, version, min(run_id) from stack inner join {_PACKAGES} using (software_version_key)"
            " where version is not null group by component, version order by component, version"
        )
        same: dict[str, dict[str, list[tuple[str, str]]]] = {}  # publications often depend on the same runs
        for each in known.counting:
            runs_digest = each.record["sha256"][RUN_LINES]
            if runs_digest in same:
                found[each.digest] = same[runs_digest]
                continue
            used = found[each.digest] = same[runs_digest] = {}
            for component, version, run_id in con.execute(sql, [run_ids(each)]).fetchall():
                used.setdefault(normalised(component), []).append((version, run_id))
        frameworks = con.execute(f"select distinct framework from {_SOFTWARE} where framework is not null").fetchall()
    finally:
        con.close()
    return _Stacks(found, frozenset(normalised(name) for name, in frameworks))


def _columns(con: "duckdb.DuckDBPyConnection", table: str) -> set[str]:
    schema, name = table.split(".")
    found = con.execute("select column_name from duckdb_columns() where schema_name = ? and table_name = ?", [schema, name]).fetchall()
    return {column for column, in found}


def _locked_at(parameters: str | None) -> datetime | None:
    """Until when packages were looked for, by the spec of a campaign. None where that does not say, as of one without packages."""
    try:
        spec = json.loads(parameters or "{}")
        at = datetime.fromisoformat(spec["resolving"]["exclude_newer"])
    except (ValueError, KeyError, TypeError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _lock_again(known: Known, name: str) -> str:
    """The command that resolves its stacks anew and measures them; where the project has no spec of that name, the one that shows what it found."""
    for path in sorted(known.project.root.glob("*.toml")):
        if _campaign_name(path) == name:
            file = shlex.quote(path.name)
            return f"sed -i 's/^exclude_newer *=.*/exclude_newer = {known.now:%Y-%m-%dT%H:%M:%SZ}/' {file} && wh matrix {file}"
    return f"wh advise {shlex.quote(name)}"


def _campaign_name(path: Path) -> str | None:
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8")).get("campaign", {})
        return str(said.get("name")) if isinstance(said, dict) else None
    except (OSError, ValueError):
        return None
