"""What folder and file names tell of a run: the accelerator, how the model is spread over it, the load.

Result files of these tools state none of the hardware and little of the server, so people write it into names:
`runpod_h100sxm/Qwen3-8B/qwen3_8b_TP8_DP1_in128_out128_p1000_c10`, `minimax_vllm_tep8_isl1024_osl128_conc16`,
`SERVE--max_num_seqs=4-BENCH--max_concurrency=2-num_prompts=8`. What the file itself states is asked first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

# Longer names first: L40S is not an L40 with something behind it. No P100: it is a hundred prompts.
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


def told_by(path: str) -> Told:
    """What the names in a path tell, the innermost first."""
    parts = path.split("/")
    parts[-1] = parts[-1].rpartition(".")[0] or parts[-1]
    told: dict[str, Any] = {}
    for index in reversed(range(len(parts))):
        name = parts[index].casefold()
        _add_accelerator(told, name)
        if "system_name" not in told and index < len(parts) - 1 and _ACCELERATOR.search(_separated(name)):
            told["system_name"] = parts[index]  # a folder names a system, a file a run
        if framework := _FRAMEWORK.search(_separated(name)):
            told.setdefault("framework", framework[1].replace(" ", ""))
        if precision := precision_in(name):
            told.setdefault("precision", precision)
        if any(_PATTERNS[setting].search(_separated(name)) for setting in _SPREAD) or "conc" in name:
            _add_settings(told, _separated(name))
    return Told(**told)


def is_telling(folder: str) -> bool:
    """Whether a folder's name tells of the run: then it is part of the evidence."""
    name = folder.casefold()
    spread = any(_PATTERNS[setting].search(_separated(name)) for setting in _SPREAD)
    return bool(_ACCELERATOR.search(_separated(name))) or spread or name.startswith(("serve--", "bench--"))


def accelerator_in(text: str) -> str | None:
    """The accelerator that a text such as a runner's name (`h200-nb_1`) names, in its usual spelling."""
    found = _ACCELERATOR.search(_separated(text.casefold()))
    return _spelled(found) if found else None


def precision_in(text: str) -> str | None:
    """The weight data type or quantisation that a name such as `GLM-4.7-FP8` tells; None where it tells several."""
    found = set(_PRECISION.findall(_separated(text.casefold().replace("/", " "))))
    return found.pop() if len(found) == 1 else None


def accelerators_used(sizes: Iterable[int | None]) -> int | None:
    """The product of the parallel sizes. One that is not stated is 1, the servers' default; NULL when none is."""
    known = [size for size in sizes if size]
    product = 1
    for size in known:
        product *= size
    return product if known and product < 1 << 31 else None


def _add_accelerator(told: dict[str, Any], name: str) -> None:
    found = _ACCELERATOR.search(_separated(name))
    if not found:
        return
    spelled, known = _spelled(found), told.get("accelerator")
    if known is None or spelled.startswith(f"{known} "):  # an H100 in a folder of the H100 SXM is one
        told["accelerator"] = spelled
    if count := found["before"] or found["after"]:
        told.setdefault("accelerator_count", int(count))


def _add_settings(told: dict[str, Any], name: str) -> None:
    if split := _SPLIT.search(name):
        told.setdefault("accelerator_count", int(split["count"]))
        name = name.replace(split[0], " ")
    for setting, pattern in _PATTERNS.items():
        if (found := pattern.search(name)) and setting not in told:
            told[setting] = int(next(filter(None, found.groups())))


def _separated(name: str) -> str:
    """Underscores and dashes are word characters or not as people please: they separate here."""
    return name.replace("_", " ").replace("-", " ").replace(",", " ")


def _spelled(found: re.Match[str]) -> str:
    model = re.sub(r"[ _-]+", " ", found["model"]).upper()
    form = found["form"] or found["form_behind"]
    return f"{model} {form.upper()}" if form else model
