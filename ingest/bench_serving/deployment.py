"""How a run's model was served, from all that speaks of it: its record first, then the console beside it, then the names in its path.

The accelerator is the exception: a path that names another one than the record counts, as it does for every identity.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from warehouse.landing.accelerators import accelerators_in, agree
from warehouse.landing.deployments import (
    MULTIPLIED,
    SIZES,
    Doubt,
    Sizes,
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
from warehouse.landing.serving.path_names import Told, precision_in
from warehouse.landing.severity import WARNING

RECORD, CONSOLE, NAME = "record", "console", "name"  # where a configuration is stated
_SERVER, _ENGINE = "server/", "engine/"
_Value = TypeVar("_Value")


class Deployment(NamedTuple):
    """The columns of a run's row, and what is wrong with what the record, its path and the console state."""

    columns: dict[str, Any]
    doubts: list[Doubt]
    console_doubts: list[Doubt]


def deployment_of(stated: Stated, console: Stated, told: Told, places: set[str]) -> Deployment:
    """`places` gets where sizes and precision were stated."""
    record = sizes_stated(stated, "server_info/", "")
    printed = [sizes_stated(console, who) for who in (_SERVER, _ENGINE)]  # vLLM's engine may print the sizes of one replica
    doubts, console_doubts = list(record.doubts.values()), [doubt for one in printed for doubt in one.doubts.values()]
    has_doubts = any(one.are_in_doubt for one in (record, *printed))
    sizes = {f"{name}_parallel": _size(name, record, printed, told, places, doubts) for name in SIZES}
    multiplied = record.known | {name: sizes[f"{name}_parallel"] for name in SIZES}
    is_shared = (stated_text(console, f"{_SERVER}enable_dp_attention") or "").casefold() == "true"
    in_use = accelerators_in_use(stated, multiplied, told.accelerator_count, is_shared=is_shared)
    # A size that names state twice is not the servers' default.
    is_unknown = any(f"{name}_parallel" in told.contradictory and multiplied[name] is None for name in MULTIPLIED)
    if has_doubts or ((is_unknown or told.has_several_workers) and in_use.to_decode is None):
        in_use = in_use._replace(accelerators=None, to_prefill=None, to_decode=None)
    implied = implied_by_record(stated, in_use)
    doubts += [implied.doubt] if implied.doubt else []
    accelerator, system, naming = _accelerator(stated, told)
    columns = {
        **sizes,
        "split_deployment": split_deployment(
            lambda key: size_in(stated[key].number) if key in stated else None, stated_text(stated, "disagg")
        ),
        "topology": told.topology,
        **configuration(lambda key: stated[key].value if key in stated else None),
        "system_name": system,
        "accelerator": accelerator,
        "accelerator_count": None if implied.is_contradicted else in_use.accelerators,
        **roles(stated, None if implied.is_contradicted else in_use),
        "implied_accelerator_count": implied.accelerators,
        "accelerator_count_ratio": implied.ratio,
        "precision": first(
            places,
            record=_precision(stated, "precision", "server_info/quantization", "quantization"),
            console=_precision(console, "server/quantization", "engine/quantization"),
            name=precision_in(stated_text(stated, "model_id", "model") or "") or told.precision,
        ) or first(
            # The data type of what is not quantised.
            places, record=_precision(stated, "server_info/dtype", "dtype"), console=_precision(console, "server/dtype", "engine/dtype"),
        ),
    }
    return Deployment(columns, [*doubts, *in_use.doubts, *naming], console_doubts)


def first(places: set[str], **found: _Value | None) -> _Value | None:
    """The first of what the record, the console and the names state, and its place among `places`."""
    for place, value in found.items():
        if value is not None:
            places.add(place)
            return value
    return None


def _size(name: str, record: Sizes, printed: list[Sizes], told: Told, places: set[str], doubts: list[Doubt]) -> int | None:
    if name in record.doubts:
        return None
    of_console = next((size for one in printed if (size := one.known[name])), None)
    named = getattr(told, f"{name}_parallel")
    found = first(places, record=record.known[name], console=of_console, name=named)
    if found is not None and named is not None and named != found:
        by = RECORD if record.known[name] else CONSOLE
        message = f"the {by} states a {name}-parallel size of {found}, the path one of {named}; that of the {by} is taken"
        doubts.append(Doubt("size-mismatch", message, WARNING, None))
    return found


def _accelerator(stated: Stated, told: Told) -> tuple[str | None, str | None, list[Doubt]]:
    """The accelerator, the system's name, and what is wrong. A name is landed whole: what its words mean, the warehouse's rules tell."""
    entry, doubt = accelerator_stated(stated)
    doubts = [doubt] if doubt else []
    if entry is None:
        return told.accelerator, told.system_name, doubts
    system = (entry.value or "").strip()
    named = accelerator_of(system) if entry.key == "hw" else system
    mine, its = accelerators_in(named), accelerators_in(told.accelerator or "")
    if mine and its and not agree(mine, its):
        message = f"the record says {entry.key} {named!r}, the path {told.accelerator!r}; the path is taken"
        return told.accelerator, told.system_name, [Doubt("accelerator-mismatch", message[:300], WARNING, entry)]
    return named, system, doubts


def _precision(stated: Stated, *keys: str) -> str | None:
    """The first of several keys that states one; `auto` leaves it to the server."""
    values = (stated_text(stated, key) for key in keys)
    return next((value.removeprefix("torch.") for value in values if value and value.casefold() != "auto"), None)
