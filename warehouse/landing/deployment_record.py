"""The deployment that a flat record of InferenceX states, for every family whose runs such a record describes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from warehouse.landing.deployments import (
    CONFIGURATION_FIELDS,
    ROLE_FIELDS,
    SIZES,
    Doubt,
    Stated,
    accelerator_of,
    accelerator_stated,
    accelerators_in_use,
    configuration,
    roles,
    size_in,
    sizes_stated,
    split_deployment,
    stated_text,
)
from warehouse.landing.implied_accelerators import implied_by_record

DEPLOYMENT_FIELDS = (
    pa.field("system_name", pa.string()),
    pa.field("accelerator", pa.string()),
    pa.field("accelerator_count", pa.int64()),
    *ROLE_FIELDS,
    pa.field("implied_accelerator_count", pa.float64()),  # the system's throughput over that of one accelerator
    pa.field("accelerator_count_ratio", pa.float64()),  # the deployment's number over the implied one; another number than 1: it is not known
    pa.field("tensor_parallel", pa.int64()),
    pa.field("data_parallel", pa.int64()),
    pa.field("pipeline_parallel", pa.int64()),
    pa.field("expert_parallel", pa.int64()),
    pa.field("split_deployment", pa.string()),  # how prefill and decode are spread
    *CONFIGURATION_FIELDS,
    pa.field("framework", pa.string()),
    pa.field("image", pa.string()),
    pa.field("precision", pa.string()),
)


def deployment_columns(stated: Stated, tell: Callable[[Doubt], None]) -> dict[str, Any]:
    """The columns of `DEPLOYMENT_FIELDS`. What is in doubt is reported, and unknown."""
    def size(key: str) -> int | None:
        return size_in(stated[key].number) if key in stated else None

    sizes = sizes_stated(stated, "")
    entry, naming = accelerator_stated(stated)
    in_use = accelerators_in_use(stated, sizes.known)
    if sizes.are_in_doubt:
        in_use = in_use._replace(accelerators=None, to_prefill=None, to_decode=None)
    implied = implied_by_record(stated, in_use)
    for doubt in filter(None, (*sizes.doubts.values(), naming, *in_use.doubts, implied.doubt)):
        tell(doubt)
    system = entry.value if entry else None
    return {
        "system_name": system,
        "accelerator": accelerator_of(system) if system else None,
        "accelerator_count": None if implied.is_contradicted else in_use.accelerators,
        **roles(stated, None if implied.is_contradicted else in_use),
        "implied_accelerator_count": implied.accelerators,
        "accelerator_count_ratio": implied.ratio,
        **{f"{name}_parallel": sizes.known[name] for name in SIZES},
        "split_deployment": split_deployment(size, stated_text(stated, "disagg")),
        **configuration(lambda key: stated[key].value if key in stated else None),
        "framework": (stated_text(stated, "framework") or "").casefold() or None,
        "image": stated_text(stated, "image"),
        "precision": stated_text(stated, "precision"),
    }
