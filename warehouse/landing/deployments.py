"""What served a model: which accelerators, how many the parallel sizes need, and the configuration that a record of InferenceX states.

A record may state one thing under several keys. Where they contradict each other the thing is unknown, and a `Doubt` says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.landing.accelerators import accelerators_in, agree
from warehouse.landing.readers.json_text import is_lost_number, json_number
from warehouse.landing.readers.records import ABSENT, Record, shown
from warehouse.landing.readers.text import Entry, is_non_finite, whole
from warehouse.landing.severity import ERROR, NOTE, WARNING

# InferenceX's `hw` may be the name of a runner: accelerator, dash, provider, underscore, index (`h200-nb_1`, `b200-dgxc-slurm_05`).
# A word or letter that makes it another product or a part of one is no provider's.
_OF_PRODUCTS = "[a-z]|sxm|pcie|nvl|oam|cnx|ti|super|ultra|laptop|mobile|mig|vgpu|[cdqt]px"
_RUNNER = re.compile(rf"([a-z]+\d+[a-z]*)(?:-(?!(?:{_OF_PRODUCTS})[-_])[a-z]+)+_\d+")
# `8xH100`, `H100 x8`; the lanes of `PCIe x16` are not counted.
_COUNT = re.compile(
    r"(?<![\w.])([1-9]\d{0,3})[ _-]?x[ _-]?(?=[a-z])|(?<=[a-z0-9])(?<!pcie)(?<!gen\d)[ _-]?x[ _-]?([1-9]\d{0,3})(?![\w.])", re.IGNORECASE
)
_MOST_ACCELERATORS = 1 << 20  # of one run: the largest sites have some hundred thousand
SIZES = {"tensor": "tp", "data": "dp", "pipeline": "pp", "expert": "ep"}  # and how keys abbreviate them
_CONTEXT = "pcp_size"  # prefill context parallel: vLLM's and InferenceX's
MULTIPLIED = ("tensor", "pipeline", "data")  # experts are spread over the same accelerators
_NAME_KEYS = ("hw", "gpu", "gpu_type", "gpu_name", "gpu_model", "accelerator", "accelerator_type", "hardware")
_COUNT_KEYS = ("num_gpus", "num_gpu", "n_gpus", "gpu_count", "num_accelerators", "accelerator_count")
_SPLIT_NAMES = ("prefill_hw", "decode_hw")  # InferenceX, where they differ from each other
_SPLIT_COUNTS = ("num_prefill_gpu", "num_decode_gpu")
_SPLIT_KEY = re.compile(r"(?:prefill|decode)_(?:tp|pp|ep|num_workers)|num_(?:prefill|decode)_gpu")
COUNT_DOUBT = "accelerator-count-disagrees"
_GENERIC = frozenset({"accelerator", "accelerators", "amd", "cuda", "gpu", "gpus", "intel", "nvidia", "rocm", "x"})
_WORD = re.compile(r"[a-z]+|\d+")
_UNKNOWN = ABSENT - {"nan"}

# What InferenceX states of a deployment beside its parallel sizes. `none` is a value here.
CONFIGURATION_FIELDS = (
    pa.field("dp_attention", pa.string()),
    pa.field("spec_decoding", pa.string()),
    pa.field("disaggregation", pa.string()),
    pa.field("kv_offloading", pa.string()),
    pa.field("kv_offload_backend", pa.string()),
)
# Each role's accelerators, of a deployment that splits prefill and decode.
ROLE_FIELDS = (
    pa.field("prefill_accelerator", pa.string()),  # where it is another one than that of decode, as is decode_accelerator
    pa.field("decode_accelerator", pa.string()),
    pa.field("prefill_accelerator_count", pa.int64()),
    pa.field("decode_accelerator_count", pa.int64()),
)
_CONFIGURATION_KEYS = {
    "dp_attention": ("dp_attention", "server_info/enable_dp_attention"), "spec_decoding": ("spec_decoding",),
    "disaggregation": ("disagg",), "kv_offloading": ("kv_offloading", "offloading"),
    "kv_offload_backend": ("kv_offload_backend",),
}

Stated = Mapping[str, Entry]  # by key, of one record


class Doubt(NamedTuple):
    """An issue of what a record states of its deployment, and the entry to show it at."""

    code: str
    message: str
    severity: str
    entry: Entry | None  # None: the whole record


class Sizes(NamedTuple):
    """The parallel sizes by the names of `SIZES`, None if not stated or in doubt; and the doubts by the same names."""

    known: dict[str, int | None]
    doubts: dict[str, Doubt]

    @property
    def are_in_doubt(self) -> bool:
        """Whether a size is in doubt that adds accelerators."""
        return any(name != "expert" for name in self.doubts)


class InUse(NamedTuple):
    """How many accelerators a run used, of which how many in each role of a split deployment, and what is wrong with what states them."""

    accelerators: int | None
    to_prefill: int | None
    to_decode: int | None
    doubts: list[Doubt]


def configuration(text: Callable[[str], str | None]) -> dict[str, Any]:
    """The columns of `CONFIGURATION_FIELDS`, of a record whose texts `text` gives by key."""
    return {
        name: next((value for key in keys if (value := text(key))), None) for name, keys in _CONFIGURATION_KEYS.items()
    }


def split_deployment(size: Callable[[str], int | None], disaggregation: str | None = None) -> str | None:
    """How prefill and decode are spread, of a deployment that splits them: `prefill 2 x TP4 EP4, decode 1 x TP8`. `size` gives the
    numbers of InferenceX's record by key.

    InferenceX writes every deployment of several nodes as if it were split. One that states it is not has all of its servers
    under prefill, and is `2 x TP4 EP4`.
    """
    parts = []
    for role in ("prefill", "decode"):
        sizes = [(short, size(f"{role}_{short.casefold()}")) for short in ("TP", "PP", "EP")]
        # Context parallelism: 1 where there is none, and stated only since 2026.
        sizes += [(short, number) for short in ("PCP", "DCP") if (number := size(f"{role}_{short.casefold()}_size")) != 1]
        spread = " ".join(f"{short}{number}" for short, number in sizes if number)
        workers = size(f"{role}_num_workers")
        if spread and workers:
            parts.append(f"{role} {workers} x {spread}")
    if len(parts) == 1 and (disaggregation or "").casefold() == "false":
        return parts[0].partition(" ")[2]
    return ", ".join(parts) or None


def stated_text(stated: Stated, *keys: str) -> str | None:
    """The first of several keys that states something."""
    values = (stated[key].value for key in keys if key in stated)
    return next((value for value in values if value is not None and value.strip().casefold() not in _UNKNOWN), None)


def size_in(number: float | None) -> int | None:
    """The parallel size, or number of accelerators, that a number is; None if it is not a positive whole number, or larger than any
    site has."""
    found = whole(number)
    return found if found is not None and 0 < found < _MOST_ACCELERATORS else None


def size_doubt(entry: Entry) -> Doubt | None:
    """What is wrong with an entry that states a size; None if it is one, or states nothing."""
    if stated_text({entry.key: entry}, entry.key) is None or size_in(entry.number) is not None:
        return None
    return Doubt("not-a-size", f"{entry.key} is {shown(entry.value)}: a parallel size is a positive whole number", ERROR, entry)


def size_of(record: Record, key: str) -> int | None:
    """The size that a decoded record states, which is flagged if it is not a size; None, too, if it states nothing."""
    value = record.values.get(key)
    if value is None or (isinstance(value, str) and value.strip().casefold() in _UNKNOWN):
        return None
    number = json_number(value)
    if number is None:
        is_lost = is_lost_number(value) or (isinstance(value, str) and is_non_finite(value))
        record.flag("non-finite-number" if is_lost else "not-a-number", f"{key}: {shown(value)}")
    elif size_in(number) is None:
        record.flag("not-a-size", f"{key} is {shown(value)}: a size is a positive whole number")
    return size_in(number)


def sizes_stated(stated: Stated, *speakers: str) -> Sizes:
    """The parallel sizes of a record or console. `speakers` are the prefixes of keys, the one that counts first.

    A size that is impossible is in doubt, and so is one that two keys state differently. The servers' default, 1, applies only to a
    size that is not stated.
    """
    sizes: dict[str, int | None] = {}
    doubts: dict[str, Doubt] = {}
    for name, short in (*SIZES.items(), (_CONTEXT, "")):
        ends = (f"{name}_parallel_size", f"{short}_size", short) if short else (name,)
        entries = [stated[key] for speaker in speakers for end in ends if (key := f"{speaker}{end}") in stated]
        known = [(entry, size) for entry in entries if (size := size_in(entry.number)) is not None]
        sizes[name] = known[0][1] if known else None
        impossible = next((doubt for entry in entries if (doubt := size_doubt(entry))), None)
        other = next((entry for entry, size in known if size != known[0][1]), None)
        if impossible:
            doubts[name] = impossible
        elif other:
            doubts[name] = _contradiction("size-contradicted", (known[0][0], other), "the size is taken as unknown")
    return Sizes({name: None if name in doubts else size for name, size in sizes.items()}, doubts)


def accelerator_stated(stated: Stated) -> tuple[Entry | None, Doubt | None]:
    """The entry that names the accelerators of a record; none, and a doubt, if two of them name different ones.

    Names that no list knows are the same if they have the same letters and digits. A `hardware` without a known name is a machine. Where
    prefill and decode of a split deployment have different ones, both are named.
    """
    split = [stated[key] for key in _SPLIT_NAMES if stated_text(stated, key)]
    if len(split) == len(_SPLIT_NAMES) and not _is_same_accelerator(*split):
        return split[0]._replace(value=", ".join(accelerator_of((entry.value or "").strip()) for entry in split)), None
    found = _named(stated)
    if not found:
        return None, None
    first = found[0]
    for other in found[1:]:
        if not _is_same_accelerator(first, other):
            return None, _contradiction("accelerator-contradicted", (first, other), "the accelerator is taken as unknown")
    return first, None


def roles(stated: Stated, in_use: InUse | None) -> dict[str, Any]:
    """The columns of `ROLE_FIELDS`. `in_use` is None if the number of accelerators is not known."""
    split = [stated[key] for key in _SPLIT_NAMES if stated_text(stated, key)]
    are_different = len(split) == len(_SPLIT_NAMES) and not _is_same_accelerator(*split)
    named = [accelerator_of((entry.value or "").strip()) for entry in split] if are_different else [None, None]
    return {
        "prefill_accelerator": named[0], "decode_accelerator": named[1],
        "prefill_accelerator_count": in_use.to_prefill if in_use else None, "decode_accelerator_count": in_use.to_decode if in_use else None,
    }


def accelerators_in_use(stated: Stated, sizes: Mapping[str, int | None], named: int | None = None, *, is_shared: bool = False) -> InUse:
    """The accelerators that a record's run used: those of prefill and decode, else the product of the parallel sizes, where a size that is
    not stated is 1, the servers' default; else the number that is stated outright.

    Their number is unknown where another one is stated: eight may serve eight replicas, or seven of them idle. `sizes` may be known from
    elsewhere too, and `named` is the number in the names of the path. `is_shared`: attention is data-parallel within the
    tensor-parallel group, where the replicas add no accelerators; a record may state that.
    """
    count, doubt = _count_stated(stated)
    doubts = [doubt] if doubt else []
    if count and named not in (None, count):
        message = f"the record states {count} accelerators, the path {named}: their number is taken as unknown"
        doubts.append(Doubt(COUNT_DOUBT, message, WARNING, None))
    outright = count or named
    # 0 where nothing is split.
    doubts += [
        wrong for key, entry in stated.items() if _SPLIT_KEY.fullmatch(key) and entry.number != 0 and (wrong := size_doubt(entry))
    ]
    split = [size_in(stated[key].number) or 0 for key in _SPLIT_COUNTS if stated_text(stated, key)]
    if len(split) == len(_SPLIT_COUNTS):
        used = sum(split) or outright
        if outright not in (None, used):
            message = f"{outright} accelerators are stated, but {split[0]} of prefill and {split[1]} of decode: their number is taken as unknown"
            doubts.append(Doubt(COUNT_DOUBT, message, WARNING, None))
        if split[0] == split[1] and (stated_text(stated, "disagg") or "").casefold() == "false":
            # Old versions wrote the accelerators of one worker, which does both, under both keys.
            message = f"prefill and decode are not split, but {split[0]} accelerators are stated for each: their number is taken as unknown"
            doubts.append(Doubt(COUNT_DOUBT, message, WARNING, None))
        known = [None] * 3 if doubts else [used, *(size or None for size in split)]
        return InUse(known[0], known[1], known[2], doubts)
    shares = is_shared or "true" in [(stated_text(stated, key) or "").casefold() for key in _CONFIGURATION_KEYS["dp_attention"]]
    names = [name for name in (*MULTIPLIED, _CONTEXT) if sizes.get(name) and not (name == "data" and shares)]
    product = prod(sizes[name] or 1 for name in names) if names else outright
    if outright and product != outright:
        is_explained = outright % (product or 1) == 0 and any(sizes.get(name) is None for name in MULTIPLIED)
        if count or not is_explained:  # a machine that a path names may have more than the run used
            spread = " and ".join(f"{name} {sizes[name]}" for name in names)
            message = f"{outright} accelerators are stated, but the parallel sizes ({spread}) multiply to {product}: their number is taken as unknown"
            doubts.append(Doubt(COUNT_DOUBT, message, NOTE if is_explained else WARNING, None))
        product = None
    return InUse(product if product and product < _MOST_ACCELERATORS and not doubts else None, None, None, doubts)


def accelerators_stated(accelerator: str) -> int | None:
    """How many accelerators a text that names them states, 8 of `8xH100` and `H100 x8`; None of several numbers."""
    found = {int(before or after) for before, after in _COUNT.findall(accelerator)}
    return found.pop() if len(found) == 1 else None


def count_disagreement(stated: int | None, sizes: Iterable[int | None]) -> str | None:
    """What is wrong with a stated number of accelerators, if the tensor, pipeline and data parallel sizes are all stated and multiply to
    another; else None."""
    known = [size for size in sizes if size]
    if not stated or len(known) < len(MULTIPLIED) or prod(known) == stated:
        return None
    return f"{stated} accelerators are stated, but tensor, pipeline and data parallel sizes multiply to {prod(known)}"


def _count_stated(stated: Stated) -> tuple[int | None, Doubt | None]:
    """How many accelerators a record states outright, as a number or before or after a name (`8xH100`), and what contradicts that."""
    found = [(entry, size_in(entry.number)) for key in _COUNT_KEYS if (entry := stated.get(key)) and stated_text(stated, key)]
    named = ((entry, accelerators_stated(entry.value or "")) for entry in _named(stated))
    found += [(entry, count) for entry, count in named if count is not None]
    for entry, count in found:
        if count is None:
            message = f"{entry.key} is {shown(entry.value)}: a number of accelerators is a positive whole number"
            return None, Doubt("not-a-size", message, ERROR, entry)
        if count != found[0][1]:
            return None, _contradiction(COUNT_DOUBT, (found[0][0], entry), "their number is taken as unknown")
    return (found[0][1] if found else None), None


def _named(stated: Stated) -> list[Entry]:
    """The entries that name accelerators. `"gpu": 8` is no name, and `cuda` names none beside an entry that does."""
    texts = ((stated[key], stated_text(stated, key)) for key in _NAME_KEYS if key in stated)
    found = [entry for entry, text in texts if text and any(map(str.isalpha, text))]
    return [entry for entry in found if _words(entry) - _GENERIC] or found[:1]


def _is_same_accelerator(one: Entry, other: Entry) -> bool:
    mine, its = (accelerators_in(accelerator_of(entry.value or "")) for entry in (one, other))
    if mine and its:
        return agree(mine, its)
    machine = one if one.key == "hardware" else other if other.key == "hardware" else None
    if machine is not None and not (mine if machine is one else its):
        return True
    return _words(one) - _GENERIC == _words(other) - _GENERIC


def _words(entry: Entry) -> set[str]:
    return set(_WORD.findall((entry.value or "").casefold()))


def _contradiction(code: str, entries: Sequence[Entry], outcome: str) -> Doubt:
    both = ", but ".join(f"{entry.key} is {shown(entry.value)}" for entry in entries)
    return Doubt(code, f"{both}: {outcome}", WARNING, entries[-1])


def accelerator_of(hw: str) -> str:
    """The accelerator that InferenceX's `hw` states: all of it, or what comes before a runner's name."""
    runner = _RUNNER.fullmatch(hw)
    return runner[1] if runner else hw
