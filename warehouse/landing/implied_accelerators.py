"""Whether the throughput per accelerator that a record states fits the number of accelerators that its deployment gives.

The throughput of the system over that of one accelerator is a number of accelerators too. If it is another one than the deployment's,
nothing says which is wrong: the number is taken as unknown, and with it all that would be divided or multiplied by it.
"""

from __future__ import annotations

from typing import NamedTuple

from warehouse.landing.consistency import rounding
from warehouse.landing.deployments import COUNT_DOUBT, Doubt, InUse, Stated
from warehouse.landing.readers.text import Entry
from warehouse.landing.severity import WARNING, disagreement

# Of all tokens, by both kinds of InferenceX's agentic records (process_agentic_result.py): over the accelerators of prefill and decode together.
_PAIRS = (
    ("tput_per_gpu", "total_tput_tps"),
    ("request_metrics/throughput/per_gpu/total_tput_tps", "request_metrics/throughput/total/tokens_per_second"),
)
# Its records of fixed lengths (process_result.py) state no throughput of the system. If prefill and decode are split, input is over the
# accelerators of prefill, and output over those of decode.
_BY_ROLE = ("tput_per_gpu", "input_tput_per_gpu", "output_tput_per_gpu")
KEYS = tuple({key for keys in (*_PAIRS, _BY_ROLE) for key in keys})


class Implied(NamedTuple):
    """The number of accelerators that throughputs imply, None if they imply none; the deployment's number over it, 1 if they agree; and what
    is wrong."""

    accelerators: float | None = None
    ratio: float | None = None
    doubt: Doubt | None = None

    @property
    def is_contradicted(self) -> bool:
        """Whether the number of accelerators is unknown."""
        return self.doubt is not None and self.doubt.code == COUNT_DOUBT


def implied_by_record(stated: Stated, in_use: InUse) -> Implied:
    """What a record of InferenceX implies."""
    for keys in _PAIRS:
        each, whole = (_positive(stated.get(key)) for key in keys)
        if each and whole:
            return implied_by(each, whole, in_use.accelerators)
    each, reads, writes = (_positive(stated.get(key)) for key in _BY_ROLE)
    if not (each and reads and writes and in_use.to_prefill and in_use.to_decode):
        return Implied()
    parts = ((reads, in_use.to_prefill), (writes, in_use.to_decode))
    tokens = sum((part.number or 0.0) * count for part, count in parts)
    of = f"{reads.key} of {in_use.to_prefill} accelerators and {writes.key} of {in_use.to_decode}"
    return _implied(each, tokens, of, sum(rounding(part.value or "") * count for part, count in parts), in_use.accelerators)


def implied_by(each: Entry, whole: Entry, configured: int | None) -> Implied:
    """What the throughput of one accelerator and that of the system imply."""
    if not _positive(each) or not _positive(whole) or whole.number is None:
        return Implied()
    return _implied(each, whole.number, whole.key, rounding(whole.value or ""), configured)


def _implied(each: Entry, whole: float, of: str, slack: float, configured: int | None) -> Implied:
    """`slack`: what `whole` may be off by rounding."""
    assert each.number
    count = whole / each.number
    if configured is None:
        return Implied(count)
    computed = each.number * configured
    doubt = None
    if abs(computed - whole) > slack + rounding(each.value or "") * configured + 1e-6 * whole:
        severity, apart = disagreement(computed, whole)
        message = f"{each.key} is {each.value}, but {of} is {whole:.10g}, of {configured} accelerators: {apart}"
        if round(count) == configured:
            doubt = Doubt("aggregate-disagrees", message, severity, each)
        else:
            doubt = Doubt(COUNT_DOUBT, f"{message}. {count:.6g} accelerators are implied: their number is taken as unknown", WARNING, each)
    return Implied(count, configured / count, doubt)


def _positive(entry: Entry | None) -> Entry | None:
    return entry if entry is not None and entry.number is not None and entry.number > 0 else None
