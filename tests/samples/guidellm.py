"""Reports of GuideLLM as each version of it writes them, made here: two benchmarks of four requests."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

RUN = "563b778f-8b3b-49d1-822f-edbf6c1cc93e"


def distribution(mean: float) -> dict[str, Any]:
    percentiles = {"p50": mean, "p90": mean * 1.5, "p95": mean * 1.75, "p99": mean * 2}
    zero = {"mean": 0.0, "min": 0.0, "max": 0.0, "count": 0, "percentiles": dict.fromkeys(percentiles, 0.0)}
    return {"successful": {"mean": mean, "min": mean / 2, "max": mean * 2, "count": 2, "percentiles": percentiles}, "errored": zero}


def requests(old: bool) -> dict[str, list[dict[str, Any]]]:
    def request(latency: float, first: float | None, late: float = 0.25, **more: Any) -> dict[str, Any]:
        targeted = 1700000000.5 - late
        info = {"scheduler_info": {"targeted_start_time": targeted}} if old else {"info": {"timings": {"targeted_start": targeted}}}
        return {
            **info, "start_time" if old else "request_start_time": 1700000000.5, "request_latency": latency, "prompt_tokens": 32,
            "output_tokens": 8, "time_to_first_token_ms": first, "inter_token_latency_ms": 2.5, "output_tokens_per_second": 8 / latency,
            **more,
        }

    failed = request(0.1, None)
    (failed if old else failed["info"])["error"] = "refused"
    return {
        "successful": [request(0.25, 10.0, late=-0.125), request(0.75, 30.0)], "errored": [failed], "incomplete": [request(9.0, 20.0)],
    }


def _benchmark(strategy: dict[str, Any], old: bool, **metrics: Any) -> dict[str, Any]:
    totals = {"successful": 2, "errored": 1, "incomplete": 1, "total": 4}
    measured = {
        "requests_per_second": distribution(1.25), "request_latency": distribution(0.5),
        "time_to_first_token_ms": distribution(20.0), "inter_token_latency_ms": distribution(2.5),
        "output_tokens_per_second": distribution(64.0), **metrics,
    }
    start = {"type_": "generative_benchmark", "start_time": 1700000000.0, "end_time": 1700000005.0}
    if old:
        return {**start, "run_id": RUN, "args": {"strategy": strategy}, "worker": {"backend_model": "acme/7b"}, "metrics": measured,
                "request_totals": totals, "requests": requests(old)}
    config = {"run_id": RUN, "strategy": strategy, "backend": {"kind": "openai_http", "model": "acme/7b"}}
    return {**start, "config": config, "metrics": {"request_totals": totals, **measured}, "requests": requests(old)}


def report(version: int, **metrics: Any) -> dict[str, Any]:
    """The same two benchmarks as 0.2, as report version 1, and as report version 2 have them."""
    old = version == 0
    strategies = [{"type_": "constant", "rate": 2.0, "max_concurrency": 512}, {"type_": "concurrent", "streams": 8}]
    benchmarks = [_benchmark(strategy, old, **metrics) for strategy in strategies]
    if version == 0:
        return {"benchmarks": benchmarks}
    metadata = {"version": version, "guidellm_version": "0.8.0"}
    data = {"args": {"data": ["prompt_tokens=32"]}} if version == 1 else {"config": {"spec": {"data": [{"prompt_tokens": 32}]}}}
    return {"metadata": metadata, **data, "benchmarks": benchmarks}


def write(top: Path, version: int = 2, **metrics: Any) -> Path:
    top.mkdir(parents=True)
    (top / "any_name.json").write_text(json.dumps(report(version, **metrics), indent=1 if version else None))
    return top


def _percentiles(mean: float) -> list[float]:
    return [mean / 2, mean / 2, mean / 2, mean / 2, mean / 2, mean * 0.75, mean * 1.25, mean * 1.5, mean * 1.75, mean * 2, mean * 2]


def _statistics(mean: float) -> list[Any]:
    """Mean, median, deviation and percentiles, as both tables write them."""
    return [mean, mean, mean / 4, str(_percentiles(mean))]


_MEANS = {"requests_per_second": 1.25, "request_latency": 0.5, "time_to_first_token_ms": 20.0, "inter_token_latency_ms": 2.5,
          "output_tokens_per_second": 64.0}
TIMES = ("2023-11-14 22:13:20", "2023-11-14 22:13:25")


def old_table() -> str:
    """The benchmarks of `report(0)` as `benchmarks.csv` of 0.2 and 0.3: one header row, zeros for what no request has."""
    counts = {"total": 4, "successful": 2, "incomplete": 1, "errored": 1}
    header: list[str] = ["Type", "Run Id", "Id", "Name", "Start Time", "End Time", "Duration"]
    rows: list[list[Any]] = [["generative_benchmark", RUN, f"b{n}", name, *TIMES, 5.0] for n, name in enumerate(("constant@2.00", "concurrent@8"))]
    for status, count in counts.items():
        header.append(f"{status.capitalize()} Requests")
        columns: list[Any] = [count]
        for metric, mean in _MEANS.items():
            name = f"{status.capitalize()} {metric.replace('_', ' ').capitalize()}"
            header += [f"{name} {statistic}" for statistic in ("mean", "median", "std dev", "[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]")]
            columns += _statistics(0.0 if status == "errored" else mean)
        rows = [[*row, *columns] for row in rows]
    header += ["Profile", "Backend", "Generator Data"]
    backend = {"type_": "openai_http", "target": "http://localhost:8000", "model": "acme/7b"}
    rows = [[*row, json.dumps({"type_": "sweep"}), json.dumps(backend), json.dumps("prompt_tokens=32")] for row in rows]
    return _csv([header, *rows])


def new_table(*, errored: tuple[int, ...] = (1, 1), profile: dict[str, Any] | None = None) -> str:
    """Two benchmarks at 4 and 8 streams as `benchmarks.csv` of 0.4 and later: three header rows, which are those of the first benchmark;
    no columns for what sums up to 0. `errored` requests of each."""
    tables = [_new_benchmark(index, count, profile or {"type_": "concurrent", "streams": [4, 8]}) for index, count in enumerate(errored)]
    return _csv([*([names[row] for names, _ in tables[0]] for row in range(3)), *([value for _, value in table] for table in tables)])


def _new_benchmark(index: int, errored: int, profile: dict[str, Any]) -> list[tuple[tuple[str, str, str], Any]]:
    found: list[tuple[tuple[str, str, str], Any]] = [
        (("Run Info", "Run ID", ""), RUN), (("Run Info", "Run Index", ""), index), (("Run Info", "Profile", ""), json.dumps(profile)),
        (("Run Info", "Requests", ""), json.dumps({"data": "prompt_tokens=32"})),
        (("Run Info", "Backend", ""), json.dumps({"type_": "openai_http", "model": "acme/7b"})), (("Run Info", "Environment", ""), "{}"),
        (("Benchmark", "Type", ""), "generative_benchmark"), (("Benchmark", "ID", ""), f"b{index}"),
        (("Benchmark", "Strategy", ""), "concurrent"), (("Benchmark", "Constraints", ""), json.dumps({"max_requests": 4})),
        (("Timings", "Start Time", ""), TIMES[0]), (("Timings", "End Time", ""), TIMES[1]), (("Timings", "Duration", "Sec"), 5.0),
        (("Request Counts", "Successful", ""), 2), (("Request Counts", "Incomplete", ""), 1), (("Request Counts", "Errored", ""), errored),
        (("Request Counts", "Total", ""), 3 + errored),
    ]
    groups = {
        ("Request Latency", "Sec"): 0.5, ("Time to First Token", "ms"): 20.0, ("Inter Token Latency", "ms"): 2.5,
        ("Server Throughput", "Requests/Sec"): 1.25, ("Token Throughput", "Output Tokens/Sec"): 64.0,
    }
    for (group, unit), mean in groups.items():
        statuses = ["Successful", "Incomplete", *(["Errored"] if errored and group == "Request Latency" else [])]
        for status in statuses:
            names = ((group, f"{status} {unit}", statistic) for statistic in ("Mean", "Median", "Std Dev", "Percentiles"))
            found += zip(names, _statistics(mean), strict=True)
    arguments = {"target": "http://localhost:8000", "data": ["prompt_tokens=32"]}
    return [
        *found, (("Scheduler Metrics", "Queued Time Avg", "Sec"), 0.0078125),
        (("Runtime Info", "Metadata", ""), json.dumps({"version": 1, "guidellm_version": "0.5.0"})),
        (("Runtime Info", "Arguments", ""), json.dumps(arguments)),
    ]


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def write_table(top: Path, text: str) -> Path:
    top.mkdir(parents=True, exist_ok=True)
    (top / "benchmarks.csv").write_text(text, newline="")
    return top


def write_reports(top: Path) -> None:
    """A report of the oldest version and one of the newest; a table of each of other runs."""
    for version in (0, 2):
        write(top / str(version), version)
    for name, text in (("old", old_table()), ("new", new_table())):
        write_table(top / name, text.replace(RUN, f"{RUN[:-3]}{name}"))
