"""What is asked of each figure, and whether it is met. Pure: medians in, verdicts out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from measure import Cost
from tools import APPEND, FULL, NOOP, DbtState, Floor, Sqlmesh

# Medians of one project by (scenario, tool).
Medians = Mapping[tuple[str, str], Cost]


@dataclass(frozen=True)
class Target:
    """A bound in CPU seconds, None where what it is reckoned from, which `words` say, was not measured."""

    words: str
    bound_s: float | None

    def told(self, cost: Cost) -> str:
        if self.bound_s is None:
            return f"{self.words}: not measured here"
        bound = f"{self.words} = {self.bound_s:.2f}" if self.words else f"{self.bound_s:.2f} s"
        return f"{bound}: {'met' if cost.cpu_s <= self.bound_s else 'MISSED'}"


def targets(project: str, scenario: str, medians: Medians) -> list[Target]:
    """The targets for our own tool in one scenario of one project."""

    def of(tool: str, scenario: str) -> float | None:
        cost = medians.get((scenario, tool))
        return cost.cpu_s if cost else None

    def reckoned(base: float | None, factor: float, more: float = 0) -> float | None:
        return None if base is None else factor * base + more

    full, append = of(Floor.name, FULL), of(Floor.name, APPEND)
    match project, scenario:
        case "star", "full":
            return [Target("1.25 x floor", reckoned(full, 1.25))]
        case "star", "noop":
            others = [Target(f"{name} / 10", reckoned(of(name, NOOP), 0.1)) for name in (DbtState.name, Sqlmesh.name)]
            return [Target("", 0.30), *others]
        case "star", "changed":
            return [Target("0.25 x floor full + 0.3 s", reckoned(full, 0.25, 0.3))]
        case "star", "append":
            return [Target("floor append + 0.25 s", reckoned(append, 1, 0.25))]
        case "chain1000", "full":
            return [Target("2.5 x floor", reckoned(full, 2.5))]
        case "chain1000", "noop":
            return [Target("", 0.7)]
    return []
