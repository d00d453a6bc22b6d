"""The members of an Akamas export of a study of vLLM on one GPU: two trials, of which one failed. All figures are made up."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

STUDY = "1f0e0d0c-0000-4000-8000-000000000001"
START = datetime(2026, 11, 20, 10, 0)
WINDOW = (5, 15)  # minutes after the start
QUERIES = {
    "gpu_sm_active": 'avg by(gpu)(DCGM_FI_PROF_SM_ACTIVE{pod=~"$POD$", gpu=~"$GPU$"})',
    "time_to_first_token_p95": '(histogram_quantile(0.95, sum by(le)(rate(vllm:time_to_first_token_seconds_bucket{pod=~"$POD$"}[$DURATION$]))))*1000',
    "decode_token_throughput": 'sum(rate(vllm:generation_tokens_total{pod=~"$POD$"}[$DURATION$]))',
    "own_metric": "sum(my_metric) / 2",
}


def value(metric: str, minute: float) -> float:
    """What a point of the first trial states."""
    return {"gpu_sm_active": 0.5 + minute / 100, "time_to_first_token_p95": 400 + minute, "decode_token_throughput": 600 - minute}.get(metric, 1.0)


def points(metric: str) -> list[dict[str, Any]]:
    """A point each half minute for 20 minutes, the newest first."""
    return [
        {
            "duration": 30000, "studyExperimentTrialIds": [{"trial": 1, "study": STUDY, "experiment": 1}], "metric": metric,
            "workspaceIds": ["w"], "value": value(metric, half / 2),
            "timestamp": (START + timedelta(minutes=half / 2)).isoformat(timespec="milliseconds"),
            "labels": {"systemId": "s", "componentId": "c-gpu", "componentName": "gpu"},
        }
        for half in range(40, -1, -1)
    ]


def study() -> dict[str, Any]:
    minutes = [half / 2 for half in range(2 * WINDOW[0], 2 * WINDOW[1] + 1)]
    active = [value("gpu_sm_active", minute) for minute in minutes]
    aggregated = {"gpu.gpu_sm_active": {"avg": sum(active) / len(active), "min": active[0], "max": active[-1]}}
    parameters = {"vLLM.max_num_seqs": {"value": 128, "render": True}, "vLLM.dtype": {"value": "auto", "render": True}}
    return {
        "study": {
            "id": STUDY, "name": "serving", "trialAggregation": "AVG", "baselineExperiment": 1,
            "goal": {"objective": "maximize", "function": {"formula": "vLLM.decode_token_throughput", "unit": "tokens"}},
        },
        "experiments": [
            {"study": STUDY, "id": 1, "suggestedConfiguration": {"parameters": {}}, "manualConfiguration": {"parameters": parameters}, "state": "FINISHED"},
            {"study": STUDY, "id": 2, "suggestedConfiguration": {"parameters": parameters | {"vLLM.dtype": {"value": "bfloat16"}}}, "state": "ERROR"},
        ],
        "trials": [
            {
                "study": STUDY, "experiment": 1, "id": 1, "score": 590.5, "state": "FINISHED", "statusMessage": "completed",
                "startTimestamp": START.isoformat(), "endTimestamp": (START + timedelta(minutes=20)).isoformat(),
                "windowStartTimestamp": (START + timedelta(minutes=WINDOW[0])).isoformat(timespec="milliseconds"),
                "windowEndTimestamp": (START + timedelta(minutes=WINDOW[1])).isoformat(timespec="milliseconds"),
                "aggregatedMetrics": aggregated,
            },
            {
                "study": STUDY, "experiment": 2, "id": 1, "score": None, "state": "ERROR", "statusMessage": "the pod did not start",
                "startTimestamp": (START + timedelta(minutes=30)).isoformat(), "endTimestamp": (START + timedelta(minutes=31)).isoformat(),
            },
        ],
    }


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "study.json").write_text(json.dumps(study(), indent=1))
    queries = [{"metric": metric, "datasourceMetric": query, "scale": 1.0} for metric, query in QUERIES.items()]
    (folder / "telemetry-instance-prometheus.json").write_text(json.dumps({"id": "t", "name": "prometheus", "metrics": queries}))
    for metric in QUERIES:
        (folder / f"metrics-gpu-{metric}.json").write_text(json.dumps(points(metric)))
