"""What folder and file names tell of a run: the accelerator, how the model is spread over it, the load. One rule for every tool.

Result files of these tools state none of the hardware and little of the server, so people write it into names:
`runpod_h100sxm/Qwen3-8B/qwen3_8b_TP8_DP1_in128_out128_p1000_c10`, `minimax_vllm_tep8_isl1024_osl128_conc16`,
`SERVE--max_num_seqs=4-BENCH--max_concurrency=2-num_prompts=8`. What the file itself states is asked first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.landing.accelerators import accelerator_text, accelerators_in, numbers_in, separated
from warehouse.landing.contract import Tree
from warehouse.landing.deployments import accelerators_in_use

_START, _END = r"(?<![a-z0-9])", r"(?![a-z0-9])"
_INTEGER = r"[ =]?(\d{1,12})"
_ATTACHED = r"=?(\d{1,12})"  # for short names: `p 100` may be anything. `o1` and `o3` are models, and no length
_SETTINGS = {
    "tensor_parallel": rf"(?:te?p(?: ?size)?|tensor parallel(?: size)?){_INTEGER}",
    "data_parallel": rf"(?:de?p(?: ?size)?|data parallel(?: size)?){_INTEGER}",
    "pipeline_parallel": rf"(?:pp(?: ?size)?|pipeline parallel(?: size)?){_INTEGER}",
    "expert_parallel": rf"(?:[td]?ep(?: ?size)?){_INTEGER}",
    "input_length": rf"(?:(?:isl|ctx|input len|random input len){_INTEGER}|in{_ATTACHED})",
    "output_length": rf"(?:(?:osl|output len|random output len){_INTEGER}|out{_ATTACHED}|o=?(\d{{2,12}}))",
    "num_prompts": rf"(?:num prompts{_INTEGER}|p{_ATTACHED})",
    "max_concurrency": rf"(?:(?:conc|(?:max )?concurrency){_INTEGER}|c{_ATTACHED})",
    "repeat_number": r"run=(\d{1,9})",  # of a sweep, from 0
}
# InferenceX names a split deployment `gpus_16_ctx_8_gen_8`: accelerators in all, of prefill and of decode; `ctx` is no length.
_SPLIT = re.compile(rf"{_START}gpus (?P<count>[1-9]\d{{0,4}}) ctx \d+ gen \d+{_END}")
# How many workers prefill and decode of a split deployment have: `1p3d`. Replicas and nodes set deployments apart, too.
_TOPOLOGY = {
    r"\1P\2D": re.compile(rf"{_START}(\d{{1,3}})p(\d{{1,3}})d{_END}"),
    r"prefill \1, decode \2": re.compile(rf"{_START}gpus \d{{1,5}} ctx (\d{{1,4}}) gen (\d{{1,4}}){_END}"),
    r"\1\2 nodes": re.compile(rf"{_START}(?:(\d{{1,4}})(?: ?nodes|node)|nodes[ =]?(\d{{1,4}})){_END}"),
    r"\1\2 replicas": re.compile(rf"{_START}(?:(\d{{1,4}}) ?replicas?|replicas?[ =]?(\d{{1,4}})){_END}"),
}
_SEVERAL = re.compile(r"\dP\dD?|\d replicas")
# What a run varied, or when it was: a folder with such a word names a run, and no system.
_VARIED = re.compile(
    rf"{_START}(?:(?:run|rep(?:eat)?|trial|iter(?:ation)?|attempt|round|exp(?:eriment)?|qps|rps|rate|users?|clients?|streams?"
    rf"|requests?|prompts?|bs|batch(?: size)?|conc\w*|seed|c|p|in|out)[ =]?\d+(?:\.\d+)?k?|\d+(?:\.\d+)?(?:qps|rps|users?|conc)"
    rf"|20\d\d ?[01]\d ?[0-3]\d(?:t?\d{{4,6}})?){_END}"
)
_PATTERNS = {name: re.compile(f"{_START}{pattern}{_END}") for name, pattern in _SETTINGS.items()}
_PRECISION = re.compile(rf"{_START}((?:nv|mx)?fp[48]|bf16|fp16|int[48]|awq|gptq|w\d{{1,2}}a\d{{1,2}}){_END}")
# How the clients of vLLM and SGLang name a result if they are not told: the first word is their protocol, and no server.
_CLIENTS_NAME = re.compile(r"[a-z][a-z0-9-]*?-(?:inf|\d+(?:\.\d+)?)qps-.*|[a-z][a-z-]*_[01]\d[0-3]\d_\d+_[a-z][a-z-]*(?:_.*)?", re.DOTALL)
_FRAMEWORK = re.compile(rf"{_START}(vllm|sglang|tensorrt ?llm|trt ?llm|trt|lmdeploy|tgi){_END}")
# The folder of one combination of a vLLM sweep, or below it of one load of a search (vllm `vllm/benchmarks/sweep/serve.py`,
# `serve_workload.py`, `serve_sla.py`).
_COMBINATION = re.compile(r"(?:serve|bench|wl)--.*|(?:request_rate|max_concurrency)=\d+", re.DOTALL)
_LEVELS = 4  # folders above a file that may tell of it
_FOLDERS = "folders"  # of a bundle's identity
# What names tell of how a run's model was served, for families whose files state none of it, or not all.
NAMED_FIELDS = (
    pa.field("named_framework", pa.string()),
    pa.field("named_system", pa.string()),
    pa.field("named_accelerator", pa.string()),
    pa.field("named_accelerator_count", pa.int64()),
    pa.field("named_tensor_parallel", pa.int64()),
    pa.field("named_data_parallel", pa.int64()),
    pa.field("named_pipeline_parallel", pa.int64()),
    pa.field("named_expert_parallel", pa.int64()),
    pa.field("named_topology", pa.string()),  # of a split deployment and the like: `1P3D`
    pa.field("named_precision", pa.string()),
)
# A single letter says nothing by itself; beside a spelled-out setting it does.
_SPREAD = ("tensor_parallel", "data_parallel", "pipeline_parallel", "expert_parallel", "input_length", "repeat_number")


class Told(NamedTuple):
    """What a path tells; what it does not is None. Lengths in tokens; `accelerator_count` of the whole system."""

    framework: str | None = None
    topology: str | None = None  # of a deployment, as `1P3D`
    system_name: str | None = None
    accelerator: str | None = None
    accelerator_count: int | None = None
    tensor_parallel: int | None = None
    data_parallel: int | None = None
    pipeline_parallel: int | None = None
    expert_parallel: int | None = None
    precision: str | None = None
    input_length: int | None = None
    output_length: int | None = None
    num_prompts: int | None = None
    max_concurrency: int | None = None
    repeat_number: int | None = None
    contradictory: frozenset[str] = frozenset()  # of the fields above, those that the names state different values of

    @property
    def has_several_workers(self) -> bool:
        """Whether parallel sizes are those of one worker of several, and do not tell how many accelerators there are."""
        return bool(_SEVERAL.search(self.topology or ""))


def told_by(path: str) -> Told:
    """What the names in a path tell.

    Each name narrows what the others leave open: `tp2_vs_tp4` says 2 or 4, and `tp4` in that folder says which. Names that leave
    several values, or none because they contradict each other, state nothing of that field: which of them is right is not known.
    """
    *folders, file = path.split("/")
    names = [file.rpartition(".")[0] or file, *reversed(folders)]
    stated: dict[str, list[set[Any]]] = defaultdict(list)
    for name in names:
        values = _values(separated(name.casefold()))
        if _CLIENTS_NAME.fullmatch(name.casefold()):
            values.pop("framework", None)
        for field, found in values.items():
            stated[field].append(found)
    left = {field: set.intersection(*values) for field, values in stated.items()}
    return Told(
        # A folder names a system, a file a run; and so does a folder that says what was varied.
        system_name=next((name for name in names[1:] if _is_system(name)), None),
        accelerator=accelerator_text(names),
        contradictory=frozenset(field for field, values in left.items() if len(values) != 1),
        **{field: values.pop() for field, values in left.items() if len(values) == 1},
    )


@lru_cache(4096)
def is_telling(folder: str) -> bool:
    """Whether a folder's name tells of the run: then it is part of the evidence."""
    name = folder.casefold()
    spread = any(_PATTERNS[setting].search(separated(name)) for setting in _SPREAD)
    return bool(accelerators_in(name)) or spread or bool(_topologies(separated(name))) or bool(_COMBINATION.fullmatch(name))


def telling_parts(parts: tuple[str, ...]) -> tuple[str, ...]:
    """A path's parts from the outermost folder on that tells of the run, so that they do not depend on where the tree was cut."""
    above = parts[:-1][-_LEVELS:]
    first = next((index for index, folder in enumerate(above) if is_telling(folder)), len(above))
    return (*above[first:], parts[-1])


def folders_identity(tree: Tree, path: str) -> dict[str, Any]:
    """What tells of a run in the folders above a file, as a part of its bundle's identity; nothing where no folder does."""
    folders = telling_parts(tree.full_parts(path))[:-1]
    return {_FOLDERS: list(folders)} if folders else {}


def named_columns(identity: Mapping[str, Any], raw_path: str) -> dict[str, Any]:
    """The columns of `NAMED_FIELDS`, by the file's path and the folders in its bundle's identity. They count where the evidence states
    nothing else."""
    told = told_by("/".join((*identity.get(_FOLDERS, ()), raw_path)))
    sizes = {name: getattr(told, f"{name}_parallel") for name in ("tensor", "data", "pipeline", "expert")}
    in_use = accelerators_in_use({}, sizes, told.accelerator_count)
    is_known = not told.has_several_workers and not told.contradictory
    return {
        "named_framework": told.framework,
        "named_system": told.system_name,
        "named_accelerator": told.accelerator,
        "named_accelerator_count": in_use.accelerators if is_known else None,
        **{f"named_{name}_parallel": size for name, size in sizes.items()},
        "named_topology": told.topology,
        "named_precision": told.precision,
    }


def precision_in(text: str) -> str | None:
    """The weight data type or quantisation in a name such as `GLM-4.7-FP8`; None if it has several."""
    found = set(_PRECISION.findall(separated(text.casefold().replace("/", " "))))
    return found.pop() if len(found) == 1 else None


def _is_system(name: str) -> bool:
    words = separated(name.casefold())
    settings = (_PRECISION, _FRAMEWORK, _VARIED, _SPLIT, *_PATTERNS.values())
    return bool(accelerators_in(name)) and not _topologies(words) and not any(pattern.search(words) for pattern in settings)


def _topologies(name: str) -> set[str]:
    """How a name says that a deployment is laid out."""
    found = [match.expand(text) for text, pattern in _TOPOLOGY.items() if (match := pattern.search(name))]
    return {", ".join(found)} if found else set()


def _values(name: str) -> dict[str, set[Any]]:
    """The values that a name states, by the field of `Told`."""
    found: dict[str, set[Any]] = {
        "topology": _topologies(name),
        "framework": {framework.replace(" ", "") for framework in _FRAMEWORK.findall(name)},
        "precision": set(_PRECISION.findall(name)),
        "accelerator_count": numbers_in(name),
    }
    if any(_PATTERNS[setting].search(name) for setting in _SPREAD) or "conc" in name:
        found["accelerator_count"] |= {int(split["count"]) for split in _SPLIT.finditer(name)}
        lengths = _SPLIT.sub(" ", name)
        for setting, pattern in _PATTERNS.items():
            found[setting] = {int(next(filter(None, match.groups()))) for match in pattern.finditer(lengths)}
    return {field: values for field, values in found.items() if values}
