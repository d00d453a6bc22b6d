"""Cuts a tree into bundles: the files of one scenario from results, measurements, compliance and systems.

Sections are matched by exact folder names first, then without regard to case: submitters mix both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, TreeFile, Unclaimed

from .layout import AUTOMOTIVE, INFERENCE, LOG_ROLES, RUN_ROLES, SCENARIOS, Place, media_type_of, place_of, round_of, run_folder

# What only MLPerf Automotive has: its scenario, its only type of system, and the percentile that its load generator prints as the result.
_AUTOMOTIVE_MARKS = {
    "summary_log": re.compile(rb"^(?:Scenario\s*:\s*ConstantStream\b|99\.9th percentile latency)", re.MULTILINE),
    "detail_log": re.compile(rb'"key":\s*"(?:requested|effective)_scenario",\s*"value":\s*"ConstantStream"'),
    "system": re.compile(rb'"system_type"\s*:\s*"adas"', re.IGNORECASE),
}
_MARKED_BYTES = 1 << 17  # a detail log begins with the digests of the load generator's files
_MEASUREMENT_MARKS = (b"weight_data_types", b"starting_weights_filename", b"input_data_types")


class Owner(NamedTuple):
    """Whose files: a submission (the folders above it, division, submitter)."""

    above: tuple[str, ...]
    division: str
    submitter: str


class Key(NamedTuple):
    """One scenario of one submission, folder names verbatim."""

    owner: Owner
    platform: str
    benchmark: str
    scenario: str

    @property
    def folded(self) -> "Key":
        above, division, submitter = self.owner
        owner = Owner(above, division.casefold(), submitter.casefold())
        return Key(owner, self.platform.casefold(), self.benchmark.casefold(), self.scenario.casefold())


@dataclass(frozen=True)
class Found:
    """A file of the tree and its place in the submission."""

    place: Place
    file: TreeFile

    @property
    def owner(self) -> Owner:
        return Owner(self.place.above, self.place.division, self.place.submitter)


_Groups = dict[Key, list[Found]]


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a scenario, in the order of its key; then the submission's files that no scenario takes."""
    sections: dict[str, _Groups] = {name: defaultdict(list) for name in ("results", "measurements", "compliance")}
    shared: dict[Owner, list[Found]] = defaultdict(list)  # documents above a scenario's folder
    systems: dict[Owner, list[Found]] = defaultdict(list)
    known = list(_files(tree))
    taken: set[str] = set()
    for found in known:
        if found.place.kind == "systems":
            systems[found.owner].append(found)
        elif len(found.place.folders) >= 3:
            sections[found.place.kind][Key(found.owner, *found.place.folders[:3])].append(found)
        else:
            shared[found.owner].append(found)
    scenarios = dict(sections["results"])
    _attach(scenarios, sections["measurements"])
    _attach(scenarios, sections["compliance"])
    for key in sorted(scenarios):
        files = scenarios[key]
        if any(_is_evidence(tree, found) for found in files):
            documents = [found for found in shared[key.owner] if _fits(found.place, key)]
            files = [*files, *documents, *_system_of(key.platform, systems[key.owner])]
            draft = _draft(key, files, AUTOMOTIVE if any(_is_automotive(tree, found) for found in files) else INFERENCE)
            taken.update(file.file.path for file in draft.files)
            yield draft
    for found in known:
        if found.file.path not in taken:
            yield Unclaimed(found.file.path, _why_not(found))


def _why_not(found: Found) -> str:
    if found.place.kind == "systems":
        return "no result is of this system"
    return "no loadgen log and no document of a submission lies here"


def _files(tree: Tree) -> Iterator[Found]:
    for path, file in tree.files.items():
        place = place_of(tree.full_parts(path))
        if place is None:
            continue
        in_scenario = place.kind != "systems" and len(place.folders) >= 3
        if in_scenario or place.role in ("system", "measurement", "user_conf"):
            yield Found(place, file)


def _attach(scenarios: _Groups, section: _Groups) -> None:
    """Give each scenario the section's files of the same name; what no scenario takes is a scenario of its own."""
    by_folded: dict[Key, Key] = {}
    for key in sorted(section.keys() - scenarios.keys()):
        by_folded.setdefault(key.folded, key)
    taken: set[Key] = set()
    for key, files in scenarios.items():
        source = key if key in section else by_folded.get(key.folded)
        if source is not None:
            files.extend(section[source])
            taken.add(source)
    for key in section.keys() - taken:
        scenarios[key] = list(section[key])


def _is_evidence(tree: Tree, found: Found) -> bool:
    """Other suites share the folder names: only a loadgen's log or a submission's own documents make a bundle."""
    role = found.place.role
    if role in LOG_ROLES or role in ("user_conf", "verification"):
        return True
    if role != "measurement":
        return False
    head = tree.head(found.file.path)
    return any(mark in head for mark in _MEASUREMENT_MARKS)


def _is_automotive(tree: Tree, found: Found) -> bool:
    """Whether a file is of MLPerf Automotive, as it says itself: the rounds of both suites have the same names."""
    mark = _AUTOMOTIVE_MARKS.get(found.place.role or "")
    return mark is not None and mark.search(tree.head(found.file.path, _MARKED_BYTES)) is not None


def _fits(place: Place, key: Key) -> bool:
    """Whether a document above the scenario's folder speaks of this scenario: by its folders, then by its name."""
    platform, *below = place.folders
    if platform.casefold() != key.platform.casefold():
        return False
    if below and below[0].casefold() != key.benchmark.casefold():
        # A scenario's folder right under the platform (the benchmark's is missing) speaks of all benchmarks.
        if below[0].casefold() not in SCENARIOS or below[0].casefold() != key.scenario.casefold():
            return False
    named = place.name.rpartition(".")[0].rpartition("_")[2].casefold()
    return named not in SCENARIOS or named == key.scenario.casefold()


def _system_of(platform: str, systems: Iterable[Found]) -> list[Found]:
    named = {found.place.name[: -len(".json")]: found for found in systems}
    if platform in named:
        return [named[platform]]
    return [found for stem, found in sorted(named.items()) if stem.casefold() == platform.casefold()][:1]


def _draft(key: Key, files: list[Found], benchmark_suite: str) -> BundleDraft:
    by_path = {found.place.raw_path: found for found in files}
    round_name, collection = round_of(key.owner.above)
    identity = {
        **({} if benchmark_suite == INFERENCE else {"benchmark_suite": benchmark_suite}),
        "round": round_name,
        "division": key.owner.division,
        "submitter": key.owner.submitter,
        "platform": key.platform,
        "benchmark": key.benchmark,
        "scenario": key.scenario,
    }
    return BundleDraft(
        files=tuple(
            DraftFile(path, found.file, media_type_of(found.place.name), found.place.role)
            for path, found in sorted(by_path.items())
        ),
        identity=identity,
        # Only a folder that names the round is a collection: any other name is where somebody unpacked it.
        source={"collection": collection} if collection else {},
        runs=tuple(run_id(identity, folder) for folder in _run_paths(by_path.values())),
    )


def _run_paths(files: Iterable[Found]) -> list[str]:
    runs = (run_folder(found.place.folders[3:]) for found in files if found.place.role in RUN_ROLES)
    return sorted({run.path for run in runs if run})


def run_id(identity: Mapping[str, Any], run_path: str, unknown_round: str = "?") -> str:
    """The run's name: suite, round (or its substitute), then folder names verbatim."""
    names = (identity[part] for part in ("division", "submitter", "platform", "benchmark", "scenario"))
    return "/".join((f"mlperf-{identity.get('benchmark_suite', INFERENCE)}", identity["round"] or unknown_round, *names, run_path))
