"""The runs that a run is compared with where none are given: alike, at the same place, not at the same time, healthy, and several.

A baseline that is slow itself hides the trouble. Two runs of which a machine is not stated are not known to share one, and the words say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Any

from warehouse.analysis.measurements import Measured, Measurement
from warehouse.errors import counted

if TYPE_CHECKING:
    from warehouse.transform.finished.role_tables import RoleTable

_MOST = 10  # runs, the nearest in time
_SEVERAL = 2  # fewer runs do not show how much such runs differ
# The columns that make runs comparable, in words; so does their mode.
_SAME = {"benchmark_case_id": "case", "workload_spec_digest": "workload", "hardware_topology_key": "machine"}
# Two groups of runs are of different speed if nothing lies between them for this factor: the least slowdown that a playbook takes for a symptom.
_GAP = 1.1


@dataclass(frozen=True)
class _Candidate:
    """A comparable run. `bundle` stands for the session that measured it; `level` is the logarithm of its speed, None where it states none."""

    run_id: str
    bundle: str | None
    is_after: bool
    is_simultaneous: bool
    is_same_place: bool
    level: float | None = None


def nearest(found: Measured, runs: "RoleTable", run_id: str) -> tuple[tuple[str, ...], str]:
    """Comparable runs, the nearest in time; and in words which they are and why."""
    candidates = _candidates(found, runs, run_id)
    apart = [each for each in candidates if not each.is_simultaneous] or candidates
    levels = _levels(found, [each.run_id for each in apart])
    own = _own_bundle(found, runs, run_id)
    alike = [replace(each, level=levels.get(each.run_id)) for each in apart]
    healthy = _healthy(alike, own)
    here = [each for each in healthy if each.is_same_place]
    is_here = len(here) >= _SEVERAL or len(here) == len(healthy)
    kept = here if is_here else healthy
    # What a session did to one of its runs, it did to the others.
    others = [each for each in kept if each.bundle != own]
    is_own_session = bool(kept) and not others
    kept = others or kept
    before = [each for each in kept if not each.is_after]
    chosen = tuple(each.run_id for each in (before if len(before) >= _SEVERAL else kept)[:_MOST])
    notes = []
    if any(each.is_simultaneous for each in apart):
        notes.append("all at the same time, so what slowed both cannot be seen")
    elif simultaneous := len(candidates) - len(apart):
        notes.append(f"{counted(simultaneous, 'run')} at the same time left out")
    if left := [each for each in alike if each not in healthy]:
        slowest = min((each.level for each in healthy if each.level is not None), default=0)
        is_slower = all(each.level is not None and each.level < slowest for each in left)
        words = counted(len(left), "slower run") if is_slower else counted(len(left), "run of another speed", "runs of another speed")
        notes.append(f"{words} left out")
    if chosen and not is_here:
        notes.append(f"{len(here)} of {len(healthy)} in its place, so those of other places count, too")
    if is_own_session:
        notes.append("all of its own session, so what slowed the session cannot be seen")
    if len(chosen) == 1:
        notes.append("one run does not show how much such runs differ")
    return chosen, "; ".join([_common(found, runs, run_id, is_here=is_here and bool(chosen)), *notes])


def _candidates(found: Measured, runs: "RoleTable", run_id: str) -> list[_Candidate]:
    columns = runs.columns
    where = [f"other.{name} is not distinct from run.{name}" for name in (*_SAME, "mode") if name in columns]
    where += [f"other.{name} = '{value}'" for name, value in (("status", "succeeded"), ("state", "admitted")) if name in columns]
    distance = "abs(epoch(other.started_at) - epoch(run.started_at))" if "started_at" in columns else "0"
    is_after = "coalesce(other.started_at > run.started_at, true)" if "started_at" in columns else "true"
    times = {"started_at", "ended_at"} <= {*columns}
    meets = "coalesce(other.started_at < run.ended_at and other.ended_at > run.started_at, false)" if times else "false"
    bundle = "other.artifact_manifest_digest" if "artifact_manifest_digest" in columns else "null"
    rows = found.con.execute(
        f"select other.run_id, {bundle}, {is_after} as is_after, {meets} from {runs.sql} as run inner join {runs.sql} as other"
        f" on other.run_id <> run.run_id and {' and '.join(where) or 'true'} where run.run_id = ? order by is_after, {distance}, other.run_id",
        [run_id],
    ).fetchall()
    places = _places(found, runs, [run_id, *(row[0] for row in rows)])
    return [_Candidate(name, of, is_later, meets_it, places.get(name) == places.get(run_id)) for name, of, is_later, meets_it in rows]


def _places(found: Measured, runs: "RoleTable", run_ids: Sequence[str]) -> Mapping[str, Any]:
    """Where each run ran: its nodes, as its evidence and the scheduler state them, and its cluster."""
    places: dict[str, set[str]] = {}
    for name in ("cluster_region_key", "node_name"):
        if name in runs.columns:
            stated = f"select run_id, lower({name}) from {runs.sql} where run_id in (select unnest(?::varchar[])) and {name} is not null"
            for run_id, place in found.con.execute(stated, [list(run_ids)]).fetchall():
                places.setdefault(run_id, set()).add(place.split(".", 1)[0])
    if found.con.execute("select 1 from duckdb_columns() where table_name = 'run_node' limit 1").fetchall():
        nodes = "select run_id, lower(node_name) from run_node where run_id in (select unnest(?::varchar[])) and node_name is not null"
        for run_id, place in found.con.execute(nodes, [list(run_ids)]).fetchall():
            places.setdefault(run_id, set()).add(place.split(".", 1)[0])
    return places


def _own_bundle(found: Measured, runs: "RoleTable", run_id: str) -> str | None:
    if "artifact_manifest_digest" not in runs.columns:
        return None
    row = found.con.execute(f"select artifact_manifest_digest from {runs.sql} where run_id = ?", [run_id]).fetchone()
    return row[0] if row else None


def _levels(found: Measured, run_ids: Sequence[str]) -> Mapping[str, float]:
    """The logarithm of each run's speed, by the metrics that all of those have that state any: throughputs, else what a lower value is better of.
    A tail says more of a run's luck than of its health."""
    by_run: dict[str, dict[tuple[str, str, str], Measurement]] = {}
    for each in found.read("m.run_id in (select unnest(?::varchar[])) and m.value > 0 and m.better in ('higher', 'lower')", [list(run_ids)]):
        if not any(word in each.metric for word in ("p90", "p95", "p99", "max")):
            by_run.setdefault(each.run_id, {})[each.name] = each
    shared = set.intersection(*(set(each) for each in by_run.values())) if by_run else set()
    first = next(iter(by_run.values()), {})
    throughputs = {name for name in shared if first[name].better == "higher" and name[1].endswith("_per_s")}
    names = throughputs or shared
    if not names:
        return {}
    return {
        run_id: sum(log(of[name].value) * (1 if of[name].better == "higher" else -1) for name in names) / len(names) for run_id, of in by_run.items()
    }


def _healthy(candidates: Sequence[_Candidate], own: str | None) -> list[_Candidate]:
    """The fastest group of runs, in their order, and those whose speed is not stated. A group ends where the next run is slower by the gap. One fast
    run alone is a group only if it is of another session, and no later group has several runs of other sessions: it may be a fluke."""
    groups: list[list[_Candidate]] = []
    for each in sorted((each for each in candidates if each.level is not None), key=lambda each: -(each.level or 0)):
        if groups and (groups[-1][-1].level or 0) - (each.level or 0) < log(_GAP):
            groups[-1].append(each)
        else:
            groups.append([each])
    if len(groups) < 2:
        return list(candidates)
    for number, group in enumerate(groups):
        followed = any(len([each for each in later if each.bundle != own]) > _SEVERAL for later in groups[number + 1 :])
        if len(group) >= _SEVERAL or (group[0].bundle != own and not followed):
            return [each for each in candidates if each in group or each.level is None]
    return list(candidates)


def _common(found: Measured, runs: "RoleTable", run_id: str, *, is_here: bool) -> str:
    """What the runs have in common that are compared."""
    names = [name for name in (*_SAME, "started_at") if name in runs.columns]
    texts = ", ".join(f"{name} is not null" for name in names) or "true"
    stated = dict(zip(names, found.con.execute(f"select {texts} from {runs.sql} where run_id = ?", [run_id]).fetchone() or (), strict=False))
    known, unknown = ([word for name, word in _SAME.items() if bool(stated.get(name)) == is_known] for is_known in (True, False))
    if is_here and _places(found, runs, [run_id]):
        known.append("place")
    words = [f"the same {_listed(known)}" if known else "any", "nearest in time" if stated.get("started_at") else "its time is not known"]
    return ", ".join(words) + (f"; its {_listed(unknown)} {'is' if len(unknown) == 1 else 'are'} not stated" if unknown else "")


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]
