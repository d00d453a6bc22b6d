"""What served a model: the accelerator that a name tells (of a runner, `h200-nb_1`; a folder, `runpod_h100sxm`; a file,
`tm-l40sx2_qwen`), how many the parallel sizes need, and the configuration that a record of InferenceX states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyarrow as pa

# Longer names first: L40S is not an L40 with something behind it. No P100: in names of runs it is a hundred prompts.
_ACCELERATORS = (
    "gb300", "gb200", "gh200", "b300", "b200", "b100", "h800", "h200", "h100", "h20", "a100", "a800", "a40", "a30", "a10g",
    "a10", "l40s", "l40", "l20", "l4", "v100", "t4", "rtx[ _-]?pro[ _-]?6000", "rtx[ _-]?a6000",
    r"rtx[ _-]?[2345]0[5-9]0(?:ti|d)?", "a6000", "mi355x", "mi350x", "mi325x", "mi308x", "mi300[xa]", "mi250x?", "mi210",
    "mi100", "gaudi[ _-]?[23]", "tpu[ _-]?v[4-7][ep]?", "trn[12]", "inf2",
)
_FORM = r"sxm\d?|pcie|nvl\d*|oam"  # before the size of the memory or behind it
_START, _END = r"(?<![a-z0-9])", r"(?![a-z0-9])"
_ACCELERATOR = re.compile(
    rf"{_START}(?:(?P<before>[1-9]\d{{0,4}})x[ _-]?)?(?P<model>{'|'.join(_ACCELERATORS)})"
    rf"(?:[ _-]?(?P<form>{_FORM}))?(?:[ _-]?\d{{2,3}}gb?(?:[ _-]?(?P<form_behind>{_FORM}))?)?(?:[ _-]?x(?P<after>[1-9]\d{{0,4}}))?{_END}"
)


class Accelerator(NamedTuple):
    """An accelerator in its usual spelling, and how many of them the name tells."""

    name: str
    number: int | None


# What InferenceX states of a deployment beside its parallel sizes. `none` is a value here.
CONFIGURATION_FIELDS = (
    pa.field("dp_attention", pa.string()),
    pa.field("spec_decoding", pa.string()),
    pa.field("disaggregation", pa.string()),
    pa.field("kv_offloading", pa.string()),
    pa.field("kv_offload_backend", pa.string()),
)
_CONFIGURATION_KEYS = {
    "dp_attention": ("dp_attention", "server_info/enable_dp_attention"), "spec_decoding": ("spec_decoding",),
    "disaggregation": ("disagg",), "kv_offloading": ("kv_offloading", "offloading"),
    "kv_offload_backend": ("kv_offload_backend",),
}


def configuration(text: Callable[[str], str | None]) -> dict[str, Any]:
    """The columns of `CONFIGURATION_FIELDS`, of a record whose texts `text` gives by key."""
    return {
        name: next((value for key in keys if (value := text(key))), None) for name, keys in _CONFIGURATION_KEYS.items()
    }


def split_deployment(size: Callable[[str], int | None]) -> str | None:
    """How prefill and decode are spread, of a deployment that splits them: `prefill 2 x TP4 EP4, decode 1 x TP8`. `size` gives the
    numbers of InferenceX's record by key."""
    parts = []
    for role in ("prefill", "decode"):
        sizes = [(short, size(f"{role}_{short.casefold()}")) for short in ("TP", "PP", "EP")]
        spread = " ".join(f"{short}{number}" for short, number in sizes if number)
        workers = size(f"{role}_num_workers")
        if spread and workers:
            parts.append(f"{role} {workers} x {spread}")
    return ", ".join(parts) or None


def accelerators_used(sizes: Iterable[int | None]) -> int | None:
    """The product of the parallel sizes. One that is not stated is 1, the servers' default; None when none is."""
    known = [size for size in sizes if size]
    product = 1
    for size in known:
        product *= size
    return product if known and product < 1 << 31 else None


def accelerator_at(text: str) -> Accelerator | None:
    """The first accelerator that a text names."""
    found = _ACCELERATOR.search(separated(text.casefold()))
    if found is None:
        return None
    model = re.sub(r"[ _-]+", " ", found["model"]).upper()
    form, count = found["form"] or found["form_behind"], found["before"] or found["after"]
    return Accelerator(f"{model} {form.upper()}" if form else model, int(count) if count else None)


def separated(name: str) -> str:
    """Underscores and dashes are word characters or not as people please: they separate here."""
    return name.replace("_", " ").replace("-", " ").replace(",", " ")
