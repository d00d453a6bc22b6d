"""What is ours and what is upstream: the differences between runs, by whose they are. The one table of that is `SPLIT`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warehouse.analysis.conditions import Difference

UPSTREAM, HARDWARE, OURS, NOT_SAID = "upstream", "hardware", "ours", "not said here"
# By the kind of a condition: whose it is, and why.
SPLIT: dict[str, tuple[str, str]] = {
    "software": (UPSTREAM, "drivers, libraries, frameworks, servers, images and the operating system are made by others"),
    "package": (UPSTREAM, "installed packages are made by others"),
    "hardware": (HARDWARE, "machines, GPUs and networks"),
    "script": (OURS, "the measuring script"),
    "parameter": (OURS, "what the script was called with"),
    "workload": (OURS, "what was asked of the system"),
    "serving": (OURS, "how we configured the server"),
    "environment": (OURS, "the variables that the command inherited"),
    "limit": (OURS, "what the command could use of its machine"),
    "option": (NOT_SAID, "how the command was called: ours, and it may name what is ours"),
    "git": (NOT_SAID, "the revision of the folder where it was started: ours, and not for others"),
    "machine": (NOT_SAID, "the host where it ran: ours, and not for others"),
    "testbed": (NOT_SAID, "where it ran: ours, and not for others"),
    "declared": (NOT_SAID, "what we declared of a run: ours, and not for others"),
    "campaign": (NOT_SAID, "the campaign and cell of a run: ours, and not for others"),
    "log": (NOT_SAID, "what programs wrote into logs: an effect as often as a cause"),
    "host": (NOT_SAID, "what a host did meanwhile: an effect as often as a cause"),
    "telemetry": (NOT_SAID, "what a machine did meanwhile: an effect as often as a cause"),
    "reported": (NOT_SAID, "what the benchmark reports besides its results: an effect as often as a cause"),
    "evidence": (NOT_SAID, "which files it was read from"),
}


def side_of(kind: str) -> str:
    """Whose a condition of this kind is. What the table does not name is not said."""
    return SPLIT.get(kind, (NOT_SAID, ""))[0]


def of_side(found: Iterable[Difference], side: str) -> list[Difference]:
    return [each for each in found if side_of(each.kind) == side]


def smallest_change(found: Sequence[Difference]) -> str:
    """The smallest thing to do about a change that these differences go with."""
    upstream, hardware, ours = (of_side(found, side) for side in (UPSTREAM, HARDWARE, OURS))
    hardware += [each for each in found if each.kind == "machine"]
    ours += [each for each in found if (each.kind, each.name) == ("git", "commit") or each.kind == "option"]
    named = ", ".join(dict.fromkeys(each.name for each in upstream[:4]))
    more = f" and {len(upstream) - 4} more" if len(upstream) > 4 else ""
    if not upstream:
        if ours:
            return "none for others: only what is ours differs"
        return "none yet: only hardware differs" if hardware else "none yet: nothing differs, as far as the evidence says"
    if ours or hardware:
        what = " and ".join(word for word, differs in (("our own setup", ours), ("hardware", hardware)) if differs)
        return f"none yet: {what} differs too. We repeat it with only {named}{more} changed"
    return f"bisect {named} between its two versions" if len(upstream) == 1 else f"change {named}{more} one at a time, the first of them first"
