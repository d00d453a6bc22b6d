"""The cells of a campaign, the order of its runs, and what each cell asks of its environment: all follow from the spec alone."""

from __future__ import annotations

import math
import random
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from warehouse.campaign.spec import ARGUMENT, COMMAND, ENVIRONMENT, IMAGE, INDEX, PACKAGE, PYTHON, TORCH_BACKEND, Spec
from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import ExitCode, WarehouseError
from warehouse.record.indicators import SUPPLIED

MOST_RUNS = 1_000_000  # as many as the warehouse lists of one plan


@dataclass(frozen=True)
class Cell:
    """One combination of values, by factor. `cell_id` is `c` and its number in the product, so that a sample keeps the ids."""

    cell_id: str
    values: Mapping[str, str]
    is_baseline: bool

    @property
    def label(self) -> str:
        """The values as people write them: `numpy=2.2.0 size=256`."""
        return " ".join(f"{name}={value}" for name, value in self.values.items())


@dataclass(frozen=True)
class Slot:
    """One run that the campaign is to have. `number` counts from 1 among the runs of a cell in a session that are of its kind."""

    session: int
    cell_id: str
    number: int
    is_warmup: bool

    @property
    def slot_id(self) -> str:
        return f"s{self.session:02d}-{'w' if self.is_warmup else 'r'}{self.number:02d}-{self.cell_id}"


@dataclass(frozen=True)
class Wanted:
    """What a cell's environment is resolved from. Cells that differ in variables and arguments alone share it. `index` and `torch_backend` are those
    of the cell, where they are factors; None: those of the campaign."""

    python: str | None
    requirements: tuple[str, ...]
    index: str | None = None
    torch_backend: str | None = None

    @property
    def key(self) -> str:
        varied = {name: value for name, value in ((INDEX, self.index), (TORCH_BACKEND, self.torch_backend)) if value}
        return bytes_digest(canonical_json({"python": self.python, "requirements": list(self.requirements), **varied}))[:12]


def cells_of(spec: Spec) -> tuple[Cell, ...]:
    """The cells, in the order of the product; a sample has the baseline, too. Raises WH402 for a plan of more than a million runs."""
    count = math.prod(len(factor.values) for factor in spec.factors)
    sessions = spec.sessions + (spec.confirmation.sessions if spec.confirmation else 0)
    if (runs := count * sessions * (spec.repeats + spec.warmups)) > MOST_RUNS:
        hint = f"a plan has at most {MOST_RUNS:,}: give fewer values, sessions or repeats"
        raise WarehouseError("WH402", f"{count:,} cells make {runs:,} runs", "factors", hint, ExitCode.USAGE)
    names = [factor.name for factor in spec.factors]
    width = max(2, len(str(count)))
    cells = []
    for number, values in enumerate(product(*(factor.values for factor in spec.factors)), start=1):
        chosen = dict(zip(names, values, strict=True))
        is_baseline = bool(spec.baseline) and chosen.items() >= spec.baseline.items()
        cells.append(Cell(f"c{number:0{width}d}", chosen, is_baseline))
    if spec.sample is None or spec.sample >= count:
        return tuple(cells)
    drawn = {cell.cell_id for cell in random.Random(f"cells {spec.seed}").sample(cells, spec.sample)}
    return tuple(cell for cell in cells if cell.is_baseline or cell.cell_id in drawn)


def most_confirmed(spec: Spec, cells: tuple[Cell, ...]) -> int:
    """How many cells a confirming session has at most: the front-runners of each piece of work, which variables, arguments and commands make, and
    the baseline."""
    if spec.confirmation is None:
        return 0
    works = math.prod(len(factor.values) for factor in spec.factors if factor.kind in (ENVIRONMENT, ARGUMENT, COMMAND))
    return min(len(cells), works * spec.confirmation.front_runners + sum(cell.is_baseline for cell in cells))


def session_slots(spec: Spec, cells: tuple[Cell, ...], session: int) -> Iterator[Slot]:
    """The runs of a session in their order: blocks in which each cell has one run, shuffled anew by the spec's seed."""
    shuffled = random.Random(f"session {session} of {spec.seed}")
    for is_warmup, blocks in ((True, spec.warmups), (False, spec.repeats)):
        for number in range(1, blocks + 1):
            for cell in shuffled.sample(cells, len(cells)):
                yield Slot(session, cell.cell_id, number, is_warmup)


def wanted(spec: Spec, cell: Cell) -> Wanted:
    """The Python and the packages of a cell: those of all cells, and its own in the versions that it has."""
    packages = [f"{factor.target}=={cell.values[factor.name]}" for factor in spec.factors if factor.kind == PACKAGE]
    python = _value(spec, cell, PYTHON) or spec.resolving.python
    return Wanted(python, tuple(sorted({*spec.needs, *packages})), _value(spec, cell, INDEX), _value(spec, cell, TORCH_BACKEND))


def command_of(spec: Spec, cell: Cell) -> tuple[str, ...]:
    """The command with the arguments of a cell; without one, the supplied indicator under the cell's Python."""
    own = _value(spec, cell, COMMAND)
    command = tuple(shlex.split(own)) if own else spec.command or ("python", *SUPPLIED[str(spec.indicator)])
    image = _value(spec, cell, IMAGE)
    if image is not None:
        command = tuple(word.replace("{image}", image) for word in command)
    return (*command, *spec.arguments, *(factor.target.replace("{}", cell.values[factor.name]) for factor in spec.factors if factor.kind == ARGUMENT))


def _value(spec: Spec, cell: Cell, kind: str) -> str | None:
    """The cell's value of the factor of a kind of which there is one at most; None: there is none."""
    return next((cell.values[factor.name] for factor in spec.factors if factor.kind == kind), None)


def variables_of(spec: Spec, cell: Cell) -> dict[str, str]:
    """The variables that the spec sets for a cell."""
    own = {factor.target: cell.values[factor.name] for factor in spec.factors if factor.kind == ENVIRONMENT}
    return {**spec.environment, **own}
