"""What a build is made from: the checked project, digests of its logic, and the inputs as they lie there now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.digest import domain_digest
from warehouse.project.project import Project
from warehouse.transform.build.known_project import sound_project
from warehouse.transform.build.state import Inputs, Logic
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.digests import Envelope, engine_leaf, landing_leaf
from warehouse.transform.finished.builds import FORM
from warehouse.transform.incremental.warm_tier import WarmTier, warm_tier
from warehouse.transform.inputs.landing_tables import LandingTables, arrivals
from warehouse.transform.inputs.sources import FileState, check_unchanged, file_set

if TYPE_CHECKING:
    from warehouse.landing.parse.batches import LandingFile


@dataclass(frozen=True)
class Material:
    """All that a build is made from. `root` is where relative paths of files start."""

    checked: CheckedProject
    made: Mapping[str, Envelope]
    logic: Mapping[str, Logic]
    landing: LandingTables
    inputs: Inputs
    root: Path
    tier: WarmTier | None = None  # without one every table is made whole
    memory: str | None = None  # that the engine may use
    project_key: str = ""  # of `known_project.SoundProject`; "": of no project

    @property
    def digest(self) -> str:
        """The build's digest: equal for equal projects over equal inputs, on every machine."""
        order = self.checked.graph.order
        document: dict[str, Any] = {
            "models": {self.checked.models[name].qualified: self.made[name].digest for name in order},
            "landing": [[file.table, file.path.name, file.sha256] for file in self._landing_files],
            "files": [[call, found.content] for call, found in sorted(self.inputs.files.items())],
            "form": FORM,
            "engine": engine_leaf(),
            "tests": {
                **{name: self.checked.models[name].text for name in order},
                **{test.place: test.source.text for test in self.checked.tests if test.model is None},
            },
            "damaged": sorted(f"{error.code} {error.place}" for error in self.landing.damaged),
        }
        if self.tier and any(self.tier.leaves_out(name) for name in self.tier.tables):
            document["ages"] = dict(self.inputs.ages)
        return domain_digest("wh/build/1", document)

    @property
    def _landing_files(self) -> "list[LandingFile]":
        return [file for name in sorted(self.landing.tables) for file in self.landing.tables[name].files]

    def check_unchanged(self) -> None:
        """Raise WH222 when a file that was read is not what it was."""
        check_unchanged(list(self.inputs.files.values()), self.root)


def gather(project: Project, landing: LandingTables, known: Mapping[str, FileState], now: datetime) -> Material:
    """Check a project and look at all it reads at a time (UTC), by which detail is past its age; `known` are files as an
    earlier build found them. Raises what the static check raises, and WH220 for a file that cannot be read."""
    sound = sound_project(project, landing.types, landing_leaves(landing))
    checked = sound.checked
    root = project.root.resolve()
    reads = {read.call: read for found in checked.graph.files.values() for read in found}
    files = {call: file_set(read.patterns, root, known) for call, read in reads.items()}
    tier = warm_tier(checked, arrivals(landing), project.retention, now)
    inputs = Inputs(landing_inputs(landing), files, tier.content_ids())
    return Material(checked, sound.made, sound.logic, landing, inputs, root, tier, project.build_memory, sound.key)


def landing_inputs(landing: LandingTables) -> dict[str, dict[str, str]]:
    """The sha256 of every landing table's files, by name."""
    return {name: {file.path.name: file.sha256 for file in table.files} for name, table in landing.tables.items()}


def landing_leaves(landing: LandingTables) -> dict[str, dict[str, Any]]:
    """The Merkle leaves of all landing tables."""
    return {
        name: landing_leaf(name, table.parsed_by, {column: arrow for column, arrow, _ in table.columns})
        for name, table in landing.tables.items()
    }
