"""What served a model: the accelerator of a runner (`h200-nb_1`), how many the parallel sizes need, and the configuration that
a record of InferenceX states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

# InferenceX's `hw` may be the name of a runner: accelerator, dash, provider, underscore, index (`h200-nb_1`, `b200-dgxc-slurm_05`).
# A word that makes it another product or a part of one is no provider's.
_OF_PRODUCTS = "sxm|pcie|nvl|oam|cnx|d|ti|super|laptop|mobile|mig|vgpu|[cdqt]px"
_RUNNER = re.compile(rf"([a-z]+\d+[a-z]*)(?:-(?!(?:{_OF_PRODUCTS})[-_])[a-z]+)+_\d+")

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


def accelerator_of(hw: str) -> str:
    """The accelerator that InferenceX's `hw` states: all of it, or what comes before a runner's name."""
    runner = _RUNNER.fullmatch(hw)
    return runner[1] if runner else hw
