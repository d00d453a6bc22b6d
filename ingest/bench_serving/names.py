"""What folder and file names tell of a run: the accelerator, how the model is spread over it, the load.

Result files of these tools state none of the hardware and little of the server, so people write it into names:
`runpod_h100sxm/Qwen3-8B/qwen3_8b_TP8_DP1_in128_out128_p1000_c10`, `minimax_vllm_tep8_isl1024_osl128_conc16`,
`SERVE--max_num_seqs=4-BENCH--max_concurrency=2-num_prompts=8`. What the file itself states is asked first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

from warehouse.landing.accelerators import accelerator_text, accelerators_in, numbers_in, separated

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
_PATTERNS = {name: re.compile(f"{_START}{pattern}{_END}") for name, pattern in _SETTINGS.items()}
_PRECISION = re.compile(rf"{_START}((?:nv|mx)?fp[48]|bf16|fp16|int[48]|awq|gptq|w\d{{1,2}}a\d{{1,2}}){_END}")
_FRAMEWORK = re.compile(rf"{_START}(vllm|sglang|tensorrt ?llm|trt ?llm|trt|lmdeploy|tgi){_END}")
# The folder of one combination of a vLLM sweep, or below it of one load of a search (vllm `vllm/benchmarks/sweep/serve.py`,
# `serve_workload.py`, `serve_sla.py`).
_COMBINATION = re.compile(r"(?:serve|bench|wl)--.*|(?:request_rate|max_concurrency)=\d+", re.DOTALL)
# A single letter says nothing by itself; beside a spelled-out setting it does.
_SPREAD = ("tensor_parallel", "data_parallel", "pipeline_parallel", "expert_parallel", "input_length", "repeat_number")


class Told(NamedTuple):
    """What a path tells; what it does not is None. Lengths in tokens; `accelerator_count` of the whole system."""

    framework: str | None = None
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


def told_by(path: str) -> Told:
    """What the names in a path tell.

    Each name narrows what the others leave open: `tp2_vs_tp4` says 2 or 4, and `tp4` in that folder says which. Names that leave
    several values, or none because they contradict each other, state nothing of that field: which of them is right is not known.
    """
    *folders, file = path.split("/")
    names = [file.rpartition(".")[0] or file, *reversed(folders)]
    stated: dict[str, list[set[Any]]] = defaultdict(list)
    for name in names:
        for field, values in _values(separated(name.casefold())).items():
            stated[field].append(values)
    left = {field: set.intersection(*values) for field, values in stated.items()}
    return Told(
        # A folder names a system, a file a run.
        system_name=next((name for name in names[1:] if accelerators_in(name)), None),
        accelerator=accelerator_text(names),
        contradictory=frozenset(field for field, values in left.items() if len(values) != 1),
        **{field: values.pop() for field, values in left.items() if len(values) == 1},
    )


def is_telling(folder: str) -> bool:
    """Whether a folder's name tells of the run: then it is part of the evidence."""
    name = folder.casefold()
    spread = any(_PATTERNS[setting].search(separated(name)) for setting in _SPREAD)
    return bool(accelerators_in(name)) or spread or bool(_COMBINATION.fullmatch(name))


def precision_in(text: str) -> str | None:
    """The weight data type or quantisation in a name such as `GLM-4.7-FP8`; None if it has several."""
    found = set(_PRECISION.findall(separated(text.casefold().replace("/", " "))))
    return found.pop() if len(found) == 1 else None


def _values(name: str) -> dict[str, set[Any]]:
    """The values that a name states, by the field of `Told`."""
    found: dict[str, set[Any]] = {
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
