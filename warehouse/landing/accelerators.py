"""The accelerators that a text such as the name of a folder or file mentions: `runpod_h100sxm`, `tm-l40sx2_qwen`, `h100sxm-vs-b200`,
`H100-SXM-MIG-1g10gb`. Which product each is, the warehouse's rules tell (`staging.named_accelerator`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Longer names first: L40S is not an L40 with something behind it. No P100: in names of runs it is a hundred prompts.
_MODELS = (
    "gb300", "gb200", "gh200", "gb10", "b300", "b200", "b100", "h800", "h200", "h100", "h20", "a100x", "a100", "a800", "a40", "a30",
    "a10[gm]", "a10", "l40s", "l40", "l20", "l4", "v100", "t4g?", "rtx ?pro ?6000", "rtx ?[2-6]000 ?ada", "rtx ?a6000",
    r"rtx ?[2345]0[5-9]0(?: ?(?:ti|d|super|laptop))*", "a6000", "mi355x", "mi350x", "mi325x", "mi308x", "mi300[xa]?", "mi250x?", "mi210",
    "mi100", "gaudi ?[23]", "tpu ?v[4-7][ep]?", "trn[12]", "inf2",
)
_FORM = r"sxm|pcie|nvl\d*|oam|cnx"  # before the size of the memory or behind it; which generation of socket is the model's
_START, _END = r"(?<![a-z0-9])", r"(?![a-z0-9])"
# `l40-s` and `a100-x` are other products than L40 and A100, as far as they are any.
_ANOTHER = rf"(?: (?:[dgms]|x(?! ?\d)|ti|super|ultra){_END})?"
_ACCELERATOR = re.compile(
    rf"{_START}(?:(?P<before>[1-9]\d{{0,4}}) ?x ?)?(?P<model>(?:{'|'.join(_MODELS)}){_ANOTHER})(?: ?(?P<form>{_FORM})[2-6]?)?"
    rf"(?: ?(?P<memory>\d{{2,3}})gb?(?: ?(?P<form_behind>{_FORM})[2-6]?)?)?(?: ?(?P<memory_type>hbm\de?))?"
    rf"(?: (?P<profile>\d{{1,2}}[acq]))?(?: ?x ?(?P<after>[1-9]\d{{0,4}}))?{_END}"
)
_PARTITION = re.compile(rf"{_START}(?:mig|vgpu|[cdqt]px|[1-7]g[. ]?\d{{1,3}}gb){_END}")


class Accelerator(NamedTuple):
    """An accelerator as far as a name describes it, in upper case. What the name leaves open is None."""

    model: str
    form: str | None = None
    memory: str | None = None
    memory_type: str | None = None
    profile: str | None = None  # of a vGPU: L40S-48Q

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def accelerators_in(name: str) -> list[Accelerator]:
    """Those that a name mentions; one that only says less of another (`h100_h100sxm`) is not listed."""
    found = {_accelerator(match) for match in _ACCELERATOR.finditer(separated(name.casefold()))}
    return sorted((one for one in found if not any(_both(one, other) == other for other in found - {one})), key=str)


def agree(some: Iterable[Accelerator], others: Iterable[Accelerator]) -> bool:
    """Whether one of some accelerators may be one of the others: `H100` and `H100 SXM` may."""
    others = list(others)
    return any(_both(one, other) for one in some for other in others)


def numbers_in(name: str) -> set[int]:
    """How many accelerators a name says there are of each that it mentions: 2 in `l40sx2`."""
    matches = _ACCELERATOR.finditer(separated(name.casefold()))
    return {int(number) for match in matches if (number := match["before"] or match["after"])}


def accelerator_text(names: Sequence[str]) -> str | None:
    """What names of one path, the innermost first, mention as the accelerator, and as its partition.

    Each name narrows what the others leave open: `h100sxm` in `compare_h100sxm_vs_b200` is the H100 SXM, as is an `h100` in
    `h100sxm`. Where several are left, or none because the names contradict each other, all are listed, so that a reader does not take one
    of them for the run's. So is a partition in any of the names: no other name can make an accelerator whole.
    """
    mentioned = [found for name in names if (found := accelerators_in(name))]
    if not mentioned:
        return None
    left = mentioned[0]
    for outer in mentioned[1:]:
        left = [both for one in left for other in outer if (both := _both(one, other))]
    stated = _unique(map(str, left or (one for found in mentioned for one in found)))
    parts = _unique(part.upper() for name in names for part in _PARTITION.findall(separated(name.casefold())))
    return " ".join((", ".join(stated), *parts))


def separated(name: str) -> str:
    """Underscores and dashes are word characters or not as people please: they separate here."""
    return re.sub(r"[_,-]", " ", name)


def _accelerator(match: re.Match[str]) -> Accelerator:
    form, memory = match["form"] or match["form_behind"], match["memory"] and f"{match['memory']}GB"
    others = (form, memory, match["memory_type"], match["profile"])
    return Accelerator(match["model"].upper(), *(part.upper() if part else None for part in others))


def _both(one: Accelerator, other: Accelerator) -> Accelerator | None:
    """The accelerator that both describe; None where they differ."""
    if any(mine and its and mine != its for mine, its in zip(one, other, strict=True)):
        return None
    return Accelerator(one.model, *(mine or its for mine, its in zip(one[1:], other[1:], strict=True)))


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
