"""Metrics in the formats of Prometheus: scrapes of a node's GPUs (dcgm-exporter's names) and of a vLLM server, answers, exports. All figures are
made up; the names, types and units are those that the exporters document."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
GPUS = ("GPU-5d2a0000-0000-4000-8000-000000000000", "GPU-5d2a0000-0000-4000-8000-000000000001")


def gpus(second: int, *, node: str = "gpu01", power: float = 400, energy_mj: int = 128_000_000) -> str:
    """What dcgm-exporter answers `second` seconds after `START`. The second GPU has no memory temperature."""
    lines = []
    for name, kind, text, values in (
        ("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", (power, power / 2)),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Total energy consumption since boot (in mJ).",
         (energy_mj + int(second * power * 1000), int(second * power * 500))),
        ("DCGM_FI_PROF_SM_ACTIVE", "gauge", "The ratio of cycles an SM has at least 1 warp assigned (in %).", (0.5, 0.25)),
        ("DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", (61, 9223372036854775794)),
        ("DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error encountered.", (0, 0 if second < 60 else 79)),
        ("DCGM_FI_DEV_POWER_VIOLATION", "counter", "Throttling duration due to power constraints (in ns).", (second * 10**8, 0)),
    ):
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        for number, (uuid, value) in enumerate(zip(GPUS, values, strict=True)):
            lines.append(f'{name}{{gpu="{number}",UUID="{uuid}",device="nvidia{number}",modelName="NVIDIA H100",Hostname="{node}"}} {value}')
    return "\n".join(lines) + "\n"


def server(scrape: int) -> str:
    """What vLLM answers at its scrape of a number: each brings ten requests, nine of which are answered within a second."""
    labels = 'engine="0",model_name="acme/7b"'
    lines = ["# HELP vllm:num_requests_waiting Number of requests waiting to be processed.", "# TYPE vllm:num_requests_waiting gauge",
             f"vllm:num_requests_waiting{{{labels}}} {float(scrape)}",
             "# HELP vllm:e2e_request_latency_seconds Histogram of end to end request latency in seconds.",
             "# TYPE vllm:e2e_request_latency_seconds histogram"]
    for bound, count in (("0.5", 5), ("1.0", 9), ("2.0", 10), ("+Inf", 10)):
        lines.append(f'vllm:e2e_request_latency_seconds_bucket{{{labels},le="{bound}"}} {count * scrape}.0')
    lines += [f"vllm:e2e_request_latency_seconds_count{{{labels}}} {10 * scrape}.0",
              f"vllm:e2e_request_latency_seconds_sum{{{labels}}} {7.5 * scrape}"]
    return "\n".join(lines) + "\n"


# What ping_exporter and node-problem-detector answer. No capture of them is public: names, labels, TYPE and HELP are those that their READMEs
# and sources document (czerwonk/ping_exporter; kubernetes/node-problem-detector), the figures are made up.
PING = """\
# HELP ping_loss_ratio Packet loss from 0.0 to 1.0
# TYPE ping_loss_ratio gauge
ping_loss_ratio{target="gpu02",ip="192.0.2.2",ip_version="4"} 0.25
# HELP ping_rtt_best_seconds Best round trip time in seconds
# TYPE ping_rtt_best_seconds gauge
ping_rtt_best_seconds{target="gpu02",ip="192.0.2.2",ip_version="4"} 0.0001
# HELP ping_rtt_mean_seconds Mean round trip time in seconds
# TYPE ping_rtt_mean_seconds gauge
ping_rtt_mean_seconds{target="gpu02",ip="192.0.2.2",ip_version="4"} 0.0002
# HELP ping_rtt_std_deviation_seconds Standard deviation in seconds
# TYPE ping_rtt_std_deviation_seconds gauge
ping_rtt_std_deviation_seconds{target="gpu02",ip="192.0.2.2",ip_version="4"} 5e-05
# HELP ping_rtt_worst_seconds Worst round trip time in seconds
# TYPE ping_rtt_worst_seconds gauge
ping_rtt_worst_seconds{target="gpu02",ip="192.0.2.2",ip_version="4"} 0.004
"""
PROBLEMS = """\
# HELP problem_counter Number of times a specific type of problem have occurred.
# TYPE problem_counter counter
problem_counter{reason="OOMKilling"} 3
# HELP problem_gauge Whether a specific type of problem is affecting the node or not.
# TYPE problem_gauge gauge
problem_gauge{reason="DockerHung",type="KernelDeadlock"} 1
"""
OPENMETRICS = """\
# TYPE requests counter
# HELP requests Requests \\"served\\" by C:\\\\proxy.
requests_total{path="/a b} c",code="200"} 10.0 1795168800.5 # {trace_id="4bf92f3577b34da6"} 0.25 1795168800.25
requests_created{path="/a b} c",code="200"} 1795168000.0 1795168800.5
# TYPE latency_seconds histogram
# UNIT latency_seconds seconds
latency_seconds{code="200"} {count:12,sum:3.5,schema:3,zero_threshold:0.001,zero_count:0,positive_spans:[0:2],positive_deltas:[5,2]} 1795168800.5
# EOF
"""
ANSWER = {
    "status": "success",
    "data": {
        "resultType": "matrix",
        "result": [
            {
                "metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": GPUS[0], "Hostname": "gpu01"},
                "values": [[1795168800, "90"], [1795168815.25, "95.5"], [1795168830, "NaN"]],
            },
        ],
    },
}
EXPORT = {
    "metric": {"__name__": "node_network_receive_errs_total", "device": "ib0", "instance": "gpu01:9100"},
    "values": [1, 1, 7.0], "timestamps": [1795168800000, 1795168815000, 1795168830000],
}
DUMP = """\
{__name__="up",instance="gpu01:9100"} 1 1795168800000
{__name__="up",instance="gpu01:9100"} 0 1795168815000
"""


def stamp(second: int) -> str:
    return (START + timedelta(seconds=second)).strftime("%Y%m%dT%H%M%SZ")


def write_all(folder: Path) -> None:
    """A folder of each kind."""
    for name, text in (
        *((f"scrapes/gpu01-{stamp(second)}.prom", gpus(second)) for second in (0, 15, 30)),
        *((f"scrapes/vllm-{stamp(15 * scrape)}.prom", server(scrape)) for scrape in (0, 1)),
        (f"probes/ping-{stamp(0)}.prom", PING), (f"probes/problems-{stamp(0)}.prom", PROBLEMS), ("openmetrics/scrape.txt", OPENMETRICS), ("answers/util.json", json.dumps(ANSWER, indent=1)),
        ("answers/export.jsonl", json.dumps(EXPORT) + "\n"), ("dump/tsdb.txt", DUMP),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


_TEXTS = ("plain", "", "a b} c", 'quote " here', "back\\slash", "line\nbreak", "ünï", "# no comment", "a=b,c", "{", "} 1 2", "\\n", "💥")
_VALUES = ("0", "1", "-2.5", "1e3", "+Inf", "-Inf", "NaN", "3.14159265358979", "1.7976931348623157e308", "0.1e-5", "9223372036854775807")
_NAMES = ("up", "a:b:c", "_under", "http_requests_total", "latency_seconds", "x2")
_BROKEN = ("1bad 1", 'open{a="b 1', 'twice{a="1",a="2"} 1', "noval{}", 'm{a=b} 1', 'm{a="b"} x1', 'm{a="b"}} 1', "m 1_0", 'm{a="b" c="d"} 1')


def hostile(seed: int) -> tuple[str, list[str]]:
    """A text that is lawful and unpleasant: texts that look like syntax, odd blanks, times, values at the limits. And lines that are not samples."""
    chance = random.Random(seed)
    lines = []
    for name in chance.sample(_NAMES, chance.randint(1, len(_NAMES))):
        if chance.random() < 0.5:
            lines.append(f"# TYPE {name} {chance.choice(('gauge', 'counter', 'untyped'))}")
        if chance.random() < 0.3:
            lines += [f"# HELP {name} {chance.choice(('some text', 'a {b} 1', 'two  blanks'))}", "# a comment", "#"]
        for number in range(chance.randint(1, 6)):
            lines.append(_sample(chance, name, number))
    return "\n".join(lines) + ("\n" if chance.random() < 0.8 else ""), chance.sample(_BROKEN, 2)


def _sample(chance: random.Random, name: str, number: int) -> str:
    blank = chance.choice(("", "", " "))
    labels = [f'{key}{blank}={blank}"{_escaped(chance.choice(_TEXTS))}"' for key in chance.sample(("a", "b", "c", "_d"), chance.randint(0, 3))]
    labels.append(f'n="{number}"')
    comma = chance.choice((",", ", ", ","))
    braces = f"{{{comma.join(labels)}{chance.choice(('', ','))}}}" if number or chance.random() < 0.7 else ""
    gap = chance.choice((" ", " ", "  ", "\t"))
    time = chance.choice(("", "", f" {chance.randint(0, 2 * 10**12)}"))
    return f"{name}{braces}{gap}{chance.choice(_VALUES)}{time}{chance.choice(('', ' '))}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
