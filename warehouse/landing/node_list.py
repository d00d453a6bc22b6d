"""Node lists as schedulers compress them: `cnode2-[001,003-005],login1`."""

from __future__ import annotations

import re

MAX_NODES = 100_000  # a list that names more is not a node list
_PART = re.compile(r"[^,\[\]]*(?:\[[^\[\]]*\][^,\[\]]*)*(?:,|$)")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)


def expanded(text: str) -> list[str] | None:
    """Each node by its name, in the order of the list; None where the text is no node list. Numbers keep their leading
    zeros (Slurm's hostlist: https://slurm.schedmd.com/scontrol.html, `show hostnames`)."""
    names: list[str] = []
    position = 0
    text = text.strip()
    while position < len(text):
        part = _PART.match(text, position)
        if part is None or part.end() == position:
            return None
        found = _expanded_part(part[0].rstrip(",").strip())
        if found is None or len(names) + len(found) > MAX_NODES:
            return None
        names += found
        position = part.end()
    return names


def _expanded_part(part: str) -> list[str] | None:
    bracket = _BRACKET.search(part)
    if bracket is None:
        return [part] if part else []
    before, after = part[: bracket.start()], _expanded_part(part[bracket.end() :] or " ")
    if after is None:
        return None
    numbers: list[str] = []
    for piece in bracket[1].split(","):
        found = _RANGE.fullmatch(piece.strip())
        if found is None:
            return None
        first, last = found[1], found[2] or found[1]
        if not 0 <= int(last) - int(first) < MAX_NODES:
            return None
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    names = [before + number + ending.strip() for number in numbers for ending in after]
    return names if len(names) <= MAX_NODES else None
