"""Results of lm-evaluation-harness 0.4.9 of a served model, as its EvaluationTracker writes them, and InferenceX's meta_env.json. All figures are
made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def results(**changes: Any) -> dict[str, Any]:
    """Two tasks: gsm8k with two filters, and a group whose standard error the harness does not know. `changes` by section."""
    found: dict[str, Any] = {
        "results": {
            "gsm8k": {
                "alias": "gsm8k", "exact_match,strict-match": 0.9135708870356331, "exact_match_stderr,strict-match": 0.007740058563,
                "exact_match,flexible-extract": 0.9158453373768006, "exact_match_stderr,flexible-extract": 0.007647024046, "sample_len": 1319,
            },
            "mmlu": {"alias": "mmlu", "acc,none": 0.8125, "acc_stderr,none": "N/A", "sample_len": 16},
        },
        "groups": {"mmlu": {"alias": "mmlu", "acc,none": 0.8125, "acc_stderr,none": "N/A"}},
        "group_subtasks": {"gsm8k": [], "mmlu": ["mmlu_anatomy"]},
        "configs": {
            "gsm8k": {
                "task": "gsm8k", "dataset_path": "gsm8k", "doc_to_text": "Question: {{question}}\nAnswer:", "num_fewshot": 5,
                "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
                "filter_list": [{"name": "strict-match"}, {"name": "flexible-extract"}], "metadata": {"version": 3.0},
            },
        },
        "versions": {"gsm8k": 3.0, "mmlu": 2}, "n-shot": {"gsm8k": 5, "mmlu": 0},
        "higher_is_better": {"gsm8k": {"exact_match": True}, "mmlu": {"acc": True}},
        "n-samples": {"gsm8k": {"original": 1319, "effective": 1319}, "mmlu": {"original": 16, "effective": 16}},
        "config": {
            "model": "local-chat-completions",
            "model_args": "model=acme/7b,base_url=http://node7:8000/v1/chat/completions,num_concurrent=64,tokenized_requests=False",
            "batch_size": 1, "device": None, "limit": None, "bootstrap_iters": 100000, "gen_kwargs": {"temperature": 0, "max_tokens": 4096},
            "random_seed": 0, "numpy_seed": 1234, "torch_seed": 1234, "fewshot_seed": 1234,
        },
        "git_hash": "0123abc", "date": 1777622400.25, "pretty_env_info": "PyTorch version: 2.9.0", "transformers_version": "4.57.1",
        "lm_eval_version": "0.4.9.1", "upper_git_hash": None, "tokenizer_pad_token": None, "task_hashes": {"gsm8k": "d1e2"},
        "model_source": "local-chat-completions", "model_name": "acme/7b", "model_name_sanitized": "acme__7b", "system_instruction": None,
        "system_instruction_sha": None, "fewshot_as_multiturn": True, "chat_template": "", "chat_template_sha": None,
        "start_time": 812345.25, "end_time": 812445.75, "total_evaluation_time_seconds": "100.5",
    }
    return found | changes


def meta_env(**changes: Any) -> dict[str, Any]:
    """The deployment, as InferenceX's benchmark_lib.sh writes it."""
    return {
        "is_multinode": False, "framework": "vllm", "precision": "fp8", "spec_decoding": "mtp", "tp": 8, "conc": 64, "ep": 1,
        "dp_attention": "false", "model": "acme/7b", "infmax_model_prefix": "acme", "hw": "h200-nb_1", "isl": "1024", "osl": "1024",
        "image": "vllm/vllm-openai:v0.11.0", "eval_concs": [64], "completed_eval_concs": [64], "failed_eval_concs": [],
    } | changes


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2))
    return path


def write_all(folder: Path) -> None:
    """A served model with its deployment, and one that the harness ran by itself, of before 0.4.3."""
    write(folder / "served/results_2026-05-01T08-00-00.250000_conc64.json", results())
    write(folder / "served/meta_env.json", meta_env())
    unnamed = {key: value for key, value in results().items() if not key.startswith("model_")}
    config = unnamed["config"] | {"model": "hf", "model_args": "pretrained=acme/1b,dtype=bfloat16", "limit": 16}
    write(folder / "alone/acme__1b/results_2026-05-02T08-00-00.json", unnamed | {"config": config, "date": 1777708800.0})
