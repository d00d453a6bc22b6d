"""A sample of every standard family, for tests that hold for all ingestors.

A family joins by one entry: its ingestor's name, and a `fuzz.Family` with a function that writes some evidence of it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from fuzz import Family
from samples import (
    aisp_cluster,
    akamas,
    bench_serving,
    campaign,
    fabric_check,
    genai_perf,
    guidellm,
    inference_perf,
    kineto,
    kserve,
    kubernetes,
    kueue,
    llm_d_report,
    llmperf,
    lm_eval,
    mlflow,
    mlperf_endpoints,
    mlperf_inference,
    mlperf_training,
    node_health,
    node_tools,
    nsight,
    nvidia_smi,
    otlp,
    package_index,
    prices,
    prometheus,
    sbom,
    slurm,
    superbench,
    thoth,
    trtllm_bench,
)

from warehouse.record.command import record

_INDICATOR = {
    "name": "PiMatmul", "component": "tensorflow", "@parameters": {"dtype": "float32", "reps": 20000},
    "@result": {"rate": 0.0097, "elapsed_ms": 27366.39}, "overall_score": 0.3,
}


def _write_recording(folder: Path) -> None:
    """A recording of a command that lasts long enough for the host to be sampled."""
    folder.mkdir(parents=True)
    script = folder / "bench.py"
    script.write_text(f"import time\ntime.sleep(0.05)\nprint('warming up')\nprint({json.dumps(_INDICATOR)!r})")
    record([sys.executable, str(script)], folder / "recording", repeats=2)
    campaign.add_slot(folder / "recording")
    # As a machine with a GPU would have written it.
    of_gpu = Path(__file__).parents[1] / "recordings/gemm_h200/random"
    for run in ("run-01", "run-02"):
        lines = (of_gpu / run / "gpu.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "recording" / run / "gpu.jsonl").write_bytes(b"".join(lines[:3]))


def _write_llm_d_reports(folder: Path) -> None:
    llm_d_report.write(folder / "old", llm_d_report.old(), "yaml")
    llm_d_report.write(folder / "new", llm_d_report.new(), "yaml")
    llm_d_report.write(folder / "json", llm_d_report.new(), "json")


def _described(description: Path) -> Family:
    """A described format: the samples beside its description. `sample` is a value's place among those of its metric."""

    def write(folder: Path) -> None:
        folder.mkdir(parents=True)
        for sample in description.parent.glob("sample*"):
            shutil.copy(sample, folder)

    # k6 has numbers in its keys, p(90): another number is another key.
    free_text = r".*" if description.parent.name == "k6" else r".*\.(?:txt|out)"
    return Family(write, endless=r".*(?<!\.json)", free_text=free_text, counted=frozenset({"sample"}))


# The number of a series, and the value of the sample before, which the bytes of another row state.
_OF_SERIES = frozenset({"series_number", "previous_value"})
FAMILIES = {
    "akamas": Family(akamas.write_all, counted=_OF_SERIES),
    "otlp": Family(otlp.write_all, endless=r".*\.jsonl"),
    "prometheus": Family(prometheus.write_all, endless=r".*\.(?:prom|txt|jsonl)", counted=_OF_SERIES),
    "aisp_cluster": Family(
        aisp_cluster.write_all, endless=r".*\.(?:csv|jsonl)", counted=frozenset({"point_index", "step_index", "node_count"}),
    ),
    "bench_serving": Family(bench_serving.write_results, endless=r".*\.jsonl", free_text=r".*\.txt"),
    "fabric_check": Family(fabric_check.write_logs, endless=r".*\.log|.*summary\.csv"),
    "guidellm": Family(guidellm.write_reports, endless=r".*\.csv", counted=frozenset({"benchmark_index", "request_index"})),
    "llm_d_report": Family(_write_llm_d_reports, counted=frozenset({"engine_index"})),
    "genai_perf": Family(
        genai_perf.write_all,
        endless=r".*\.(?:jsonl|csv)",
        counted=frozenset({"point_index", "request_index", "response_gaps"}),
    ),
    "inference_perf": Family(
        inference_perf.write_all, endless=r".*(?:mine|config)\.yaml", counted=frozenset({"request_index", "token_times"}),
    ),
    "kserve": Family(kserve.write_all, endless=r".*\.yaml", counted=frozenset({"position"})),
    "kubernetes": Family(kubernetes.write_all, endless=r".*\.(?:txt|yaml)", counted=frozenset({"position"})),
    "kueue": Family(kueue.write_all, endless=r".*\.yaml", counted=frozenset({"position"})),
    "llmperf": Family(llmperf.write, counted=frozenset({"request_index"})),
    "kineto": Family(kineto.write_all),
    "lm_eval": Family(lm_eval.write_all),
    "mlflow": Family(
        mlflow.write_all, endless=r".*metrics/.*|.*meta\.yaml|.*experiment\.yaml", free_text=r".*(?:tags|params)/.*|.*experiment\.yaml|.*meta\.yaml",
        counted=frozenset({"sample_index", "baseline_index", "node_rank"}),
    ),
    "mlperf_endpoints": Family(mlperf_endpoints.write_all),
    "mlperf_inference": Family(
        mlperf_inference.write_submission,
        endless=r".*/(?:mlperf_log_detail|spl)\.txt",
        free_text=r".*/(?:user\.conf|accuracy\.txt|verify_\w+\.txt)",
    ),
    "mlperf_training": Family(mlperf_training.write_submission, counted=frozenset({"event_count"})),
    "package_index": Family(package_index.write_all, free_text=r"brought/.*"),
    "campaign": Family(campaign.write_all, free_text=r".*\.log"),
    "nsight": Family(nsight.write_all, endless=r".*"),
    "node_health": Family(node_health.write_all),
    "node_tools": Family(node_tools.write_all, endless=r".*", free_text=r".*"),
    "nvidia_smi": Family(nvidia_smi.write_all, endless=r".*", counted=frozenset({"log_index", "gpu_index"})),
    "prices": Family(prices.write_lists, endless=r".*"),
    "sbom": Family(sbom.write_all),
    "slurm": Family(slurm.write_all, endless=r".*\.txt"),
    "superbench": Family(superbench.write_all, endless=r".*\.jsonl"),
    "thoth": Family(
        thoth.write_all, endless=r".*scheduled\.txt", free_text=r".*build/log|.*Pipfile",
        counted=frozenset({"result_number", "result_count", "stack_number"}),
    ),
    "trtllm_bench": Family(trtllm_bench.write_all, counted=frozenset({"request_index"})),
    "recorded_run": Family(_write_recording, endless=r".*/(?:host|node|processes|servers|numa|gpu|gpu_processes)\.jsonl", counted=_OF_SERIES, free_text=r".*/std(?:out|err)\.txt"),
    **{path.parent.name: _described(path) for path in sorted((Path(__file__).parents[2] / "ingest").glob("*/format.toml"))},
}
