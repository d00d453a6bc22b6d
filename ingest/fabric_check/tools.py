"""The tools whose output is known: how a file of each is recognised by its first bytes, and what reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from warehouse.landing.readers.text import Data, Report

from . import (
    fio_json,
    fio_text,
    gpcnet,
    gpu_burn,
    iperf3,
    iperf3_text,
    json_records,
    nccl_json,
    nccl_text,
    nvbandwidth_json,
    nvbandwidth_text,
    perftest,
    rccl_report,
    wrapped,
)
from .check import Rows
from .streams import begins_line

HEAD_BYTES = 64 << 10  # a launcher's own lines may come first


class Tool(NamedTuple):
    """`role` names the format in manifests; `rows` takes the bytes, a report, and the file's name. `is_line`: the mark begins a line."""

    role: str
    mark: re.Pattern[bytes]
    rows: Callable[[Data, Report, str], Rows]
    is_line: bool = False

    def begins(self, head: bytes) -> int | None:
        """Where the tool's output begins."""
        places = (match.start() for match in self.mark.finditer(head))
        return next((place for place in places if not self.is_line or begins_line(head, place)), None)


_TOOLS = (
    Tool("nccl_tests_log", nccl_text.MARK, nccl_text.rows, is_line=True),
    Tool("nccl_tests_json", nccl_json.MARK, nccl_json.rows),
    Tool("rccl_tests_report", rccl_report.MARK, rccl_report.rows),
    Tool("perftest_log", perftest.MARK, perftest.rows, is_line=True),
    Tool("nvbandwidth_log", nvbandwidth_text.MARK, nvbandwidth_text.rows, is_line=True),
    Tool("nvbandwidth_json", nvbandwidth_json.MARK, nvbandwidth_json.rows),
    Tool("gpcnet_log", gpcnet.MARK, gpcnet.rows, is_line=True),
    Tool("gpu_burn_log", gpu_burn.MARK, gpu_burn.rows),
    Tool("fio_json", fio_json.MARK, fio_json.rows),
    Tool("fio_log", fio_text.MARK, fio_text.rows),
    Tool("iperf3_json", iperf3.MARK, iperf3.rows),
    Tool("iperf3_log", iperf3_text.MARK, iperf3_text.rows),
    Tool("json_records", json_records.MARK, json_records.rows),
)


_OWN_JSON = re.compile(b"|".join(b"(?m:" + tool.pattern + b")" for tool in (fio_json.MARK, iperf3.MARK, nvbandwidth_json.MARK, nccl_json.MARK)))
_NEVER = re.compile(rb"(?!)")


def _wrapped_rows(data: Data, report: Report, file_name: str) -> Rows:
    return wrapped.rows(data, report, file_name, lambda part: [tool.rows for tool in _unwrapped(part[:HEAD_BYTES])])


_WRAPPER = Tool("json_wrapper", _NEVER, _wrapped_rows)
TOOLS = (*_TOOLS, _WRAPPER)


def tools_of(head: bytes) -> list[Tool]:
    """The tools whose output begins in these bytes, in the order in which they come."""
    return [_WRAPPER] if wrapped.holds_a_tool(head, _OWN_JSON) else _unwrapped(head)


def _unwrapped(head: bytes) -> list[Tool]:
    found = [(place, tool) for tool in _TOOLS if (place := tool.begins(head)) is not None]
    names = {tool.role for _, tool in found}
    # fio writes its text before the JSON when both are asked for, and an indented JSON may quote a line of text.
    return [tool for _, tool in sorted(found, key=lambda pair: pair[0]) if tool.role != "fio_log" or "fio_json" not in names]
