"""What differs between two sets of runs: software, packages, options, hardware, workload, script, and what their hosts did meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from warehouse.analysis.measurements import Measured

# A measured condition, such as a clock, differs a little from run to run.
_NUMERIC_SHARE = 0.1
_LISTED = 3  # values a side
_LONGEST = 80  # characters of a value
_DOCUMENT = "workload_document"
NOT_STATED = "(not stated)"
EVIDENCE = "evidence"  # a kind of condition that always differs: each run has evidence of its own
_FOLDED = 3  # packages that are named where there are more
_MACHINE = "machine", "host"
_OPTION = "option"  # of a command; what it sets may be stated as a parameter, too
_COMMIT = "git", "commit"
_DIGEST = "workload", "workload_spec_digest"
# How likely a condition matters, the likeliest first; and of packages those that run the model.
_ORDER = (
    "script", "machine", "git", "package", "software", "serving", "parameter", "option", "environment", "limit", "log", "workload", "hardware",
    "testbed", "declared", "campaign", "host", "telemetry", "reported", EVIDENCE,
)
_PACKAGES = re.compile(
    r"(torch|pytorch|triton|vllm|sglang|tensorrt[_-]?llm|tensorrt|jax|jaxlib|tensorflow|flash[_-]attn\w*|flashinfer\w*|xformers|deepspeed|megatron\w*"
    r"|transformer[_-]engine|cuda\w*|nccl|rccl|cudnn|nvidia-\w.*|transformers|numpy|onnxruntime\w*)"
)
_VERSIONED = ("script", "git", "package", "software")  # of runs in the order of time, those next to the change count
_COLUMNS_OF_OURS = ("software", "hardware", "workload", "testbed")  # kinds of condition that are named by the columns of their tables
_SESSION_OWN = ("job_uid",)  # each session has its own
_COMMIT_LENGTH = 10

# A run's conditions: kind and name, to the text and where it is a measured quantity the number.
Conditions = Mapping[tuple[str, str], tuple[str, float | None]]


@dataclass(frozen=True)
class Difference:
    """One condition of which the sides have different values; for a measured quantity `ratio` is head's median over base's, and
    `is_apart` whether every run of one side is above every run of the other. `is_move`: it is the machine, and the later side ran on none of
    those of the earlier."""

    kind: str
    name: str
    base: tuple[str, ...]
    head: tuple[str, ...]
    ratio: float | None = None
    is_apart: bool = True
    is_move: bool = False

    def __str__(self) -> str:
        if self.is_move:
            return f"moved from {self.name} {listed(self.base)} to {listed(self.head)}"
        return f"{self.kind} {self.name}: {self._change}"

    @property
    def called(self) -> str:
        """Its name in words where it is a column of ours; an option, a variable or a package is called as its users type it."""
        return self.name.replace("_", " ") if self.kind in _COLUMNS_OF_OURS else self.name

    @property
    def words(self) -> str:
        """The difference in short, without its kind."""
        return f"{'moved' if self.is_move else self.name} {self._change}"

    @property
    def _change(self) -> str:
        if self.ratio is not None:
            return f"{self.base[0]} -> {self.head[0]} ({self.ratio:.2f}x{'' if self.is_apart else ', ranges overlap'})"
        length = _COMMIT_LENGTH if (self.kind, self.name) == _COMMIT else None
        return " -> ".join(listed(tuple(each[:length] for each in side)) for side in (self.base, self.head))


def read_conditions(found: Measured, run_ids: Collection[str]) -> dict[str, dict[tuple[str, str], tuple[str, float | None]]]:
    """The conditions of runs, by run id, with the machine that each ran on. A project without a table of conditions has only the machine."""
    conditions: dict[str, dict[tuple[str, str], tuple[str, float | None]]] = {run_id: {} for run_id in run_ids}
    if found.conditions is not None:
        number = "c.value_number" if "value_number" in found.conditions.columns else "null"
        sql = f"select c.run_id, c.kind, c.name, c.value_text, {number} from {found.conditions.sql} as c where list_contains(?, c.run_id)"
        for run_id, kind, name, text, value in found.con.execute(sql, [list(run_ids)]).fetchall():
            if name == _DOCUMENT:
                leaves = _leaves(text)
                conditions[run_id] |= {(kind, leaf): (value_text, None) for leaf, value_text in leaves.items()}
            else:
                conditions[run_id][kind, name] = text, value
    machines = (
        f"select run_id, any_value(node), any_value(testbed) from {found.measurements.sql} where list_contains(?, run_id) group by run_id"
    )
    for run_id, node, testbed in found.con.execute(machines, [list(run_ids)]).fetchall():
        if node is not None:
            conditions[run_id][_MACHINE] = node, None
        elif testbed is not None and not any(kind == "testbed" for kind, _ in conditions[run_id]):
            conditions[run_id]["machine", "testbed"] = testbed, None
    return conditions


def differences(base: Iterable[Conditions], head: Iterable[Conditions], *, in_time: bool = False) -> tuple[Difference, ...]:
    """What differs between the runs of two sides, what is likeliest to matter first, and the evidence last. Each thing that differs is one: another
    name of the machine, the digest of a document whose parts are listed, or the option that set a parameter is not listed again. Of sides that are
    `in_time`, the last runs before a change and the first after it, versions that no side shares are those of the two runs next to the change."""
    sides = list(base), list(head)
    names = {name for side in sides for run in side for name in run}
    found = list(filter(None, (
        _difference(kind, name, *([run.get((kind, name)) for run in side] for side in sides), in_time=in_time) for kind, name in names
    )))
    machines = [(each.base, each.head) for each in found if (each.kind, each.name) == _MACHINE]
    stated = {(each.base, each.head) for each in found if each.kind != _OPTION}
    has_parts = any(each.kind == _DIGEST[0] and each.name != _DIGEST[1] for each in found)
    once = [
        each for each in found
        if (each.kind, each.name) == _MACHINE or (each.base, each.head) not in machines
        if not (has_parts and (each.kind, each.name) == _DIGEST)
        if each.kind != _OPTION or (each.base, each.head) not in stated
    ]
    return tuple(sorted(once, key=_likelihood))


def in_lines(found: Sequence[Difference], *, is_short: bool = True) -> list[str]:
    """A line for each difference; in short, of many packages only the first, and how many more there are."""
    packages = [each for each in found if each.kind == "package"]
    left = packages[_FOLDED:] if is_short and len(packages) > _FOLDED + 1 else []
    lines = []
    for each in found:
        if each not in left:
            lines.append(str(each))
        elif each is left[0]:
            lines.append(f"and {len(left)} more packages")
    return lines


def _likelihood(each: Difference) -> tuple[Any, ...]:
    is_minor = each.kind == "package" and not _PACKAGES.fullmatch(each.name)
    rank = len(_ORDER) - 1 if each.name in _SESSION_OWN else _ORDER.index(each.kind) if each.kind in _ORDER else len(_ORDER)
    return rank, is_minor, each.ratio is None, each.name


def _difference(
    kind: str, name: str, base: list[tuple[str, float | None] | None], head: list[tuple[str, float | None] | None], *,
    in_time: bool,
) -> Difference | None:
    numbers = [[value[1] for value in side if value and value[1] is not None] for side in (base, head)]
    if all(numbers):
        return _numeric(kind, name, *numbers)
    texts = [tuple(sorted({value[0] if value else NOT_STATED for value in side})) for side in (base, head)]
    if in_time and not set(texts[0]) & set(texts[1]):
        if kind == _MACHINE[0]:
            return Difference(kind, name, texts[0], texts[1], is_move=NOT_STATED not in (*texts[0], *texts[1]))
        if kind in _VERSIONED:
            texts = [(value[0] if value else NOT_STATED,) for value in (base[-1], head[0])]
    return Difference(kind, name, texts[0], texts[1]) if texts[0] != texts[1] else None


def _numeric(kind: str, name: str, base: list[float], head: list[float]) -> Difference | None:
    before, after = median(base), median(head)
    is_apart = max(base) < min(head) or max(head) < min(base)
    if before == after or (before and abs(after / before - 1) < _NUMERIC_SHARE):
        return None
    return Difference(kind, name, (f"{before:g}",), (f"{after:g}",), after / before if before else None, is_apart)


def _leaves(text: str) -> dict[str, str]:
    """The values of a JSON document by their paths."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {_DOCUMENT: text}
    leaves: dict[str, str] = {}
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting += [(f"{path}.{key}" if path else key, each) for key, each in value.items()]
        else:
            leaves[path] = value if isinstance(value, str) else json.dumps(value)
    return leaves


def listed(values: tuple[str, ...]) -> str:
    """The values of a side in a few words: the first of them, and how many more there are."""
    shown = [value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..." for value in values[:_LISTED]]
    return ", ".join(shown) + (f" and {len(values) - _LISTED} more" if len(values) > _LISTED else "")
