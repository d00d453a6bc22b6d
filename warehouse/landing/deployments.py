"""What served a model: the accelerator of a runner (`h200-nb_1`), how many the parallel sizes need, and the configuration that
a record of InferenceX states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import pyarrow as pa

# InferenceX's `hw` may be the name of a runner: accelerator, dash, provider, underscore, index (`h200-nb_1`, `b200-dgxc-slurm_05`).
# A word or letter that makes it another product or a part of one is no provider's.
_OF_PRODUCTS = "[a-z]|sxm|pcie|nvl|oam|cnx|ti|super|ultra|laptop|mobile|mig|vgpu|[cdqt]px"
_RUNNER = re.compile(rf"([a-z]+\d+[a-z]*)(?:-(?!(?:{_OF_PRODUCTS})[-_])[a-z]+)+_\d+")
# `8xH100`, `H100 x8`; the lanes of `PCIe x16` are not counted.
_COUNT = re.compile(
    r"(?<![\w.])([1-9]\d{0,3})[ _-]?x[ _-]?(?=[a-z])|(?<=[a-z0-9])(?<!pcie)(?<!gen\d)[ _-]?x[ _-]?([1-9]\d{0,3})(?![\w.])", re.IGNORECASE
)

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


def accelerators_used(sizes: Iterable[int | None], stated: int | None = None) -> int | None:
    """The product of the parallel sizes. One that is not stated is 1, the servers' default; where none is, it is what else states how
    many accelerators there are. None where that differs: eight may serve eight replicas, or seven of them idle."""
    known = [size for size in sizes if size]
    product = prod(known) if known else stated
    return product if product and product < 1 << 31 and stated in (None, product) else None


def accelerators_stated(accelerator: str) -> int | None:
    """How many accelerators a text that names them states, 8 of `8xH100` and `H100 x8`; None of several numbers."""
    found = {int(before or after) for before, after in _COUNT.findall(accelerator)}
    return found.pop() if len(found) == 1 else None


def count_disagreement(stated: int | None, sizes: Iterable[int | None]) -> str | None:
    """What is wrong with a stated number of accelerators, if the tensor, pipeline and data parallel sizes are all stated and multiply to
    another; else None."""
    known = [size for size in sizes if size]
    if not stated or len(known) < 3 or prod(known) == stated:
        return None
    return f"{stated} accelerators are stated, but tensor, pipeline and data parallel sizes multiply to {prod(known)}"


def accelerator_of(hw: str) -> str:
    """The accelerator that InferenceX's `hw` states: all of it, or what comes before a runner's name."""
    runner = _RUNNER.fullmatch(hw)
    return runner[1] if runner else hw
