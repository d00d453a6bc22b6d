"""Evidence as Project Thoth writes it: inspections of Amun, a campaign of Dependency Monkey, documents of analysers. All figures are made up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

CONV2D = {
    "batch": 2, "data_format": "NHWC", "device": "cpu", "dtype": "float32", "filter_height": 10, "filter_width": 5, "input_channels": 1,
    "input_height": 100, "input_width": 50, "output_channels": 16, "padding": "SAME", "reps": 40, "strides": 2,
}
CONV2D_OPERATIONS = 2 * 100 * 50 * 10 * 5 * 1 * 16 * 2 / 4
SCRIPT = hashlib.sha256(b"conv2d").hexdigest()
IMAGE = "sha256:" + hashlib.sha256(b"image").hexdigest()
FAST, SLOW, BROKEN = "inspection-made-conv2d-0a1b2c3d", "inspection-made-conv2d-4e5f6a7b", "inspection-made-broken-8c9d0e1f"
PUSHED = f"Storing signatures\nSuccessfully pushed registry.example/inspections/made@{IMAGE}\nPush successful\n"
FAILED = "Writing manifest to image destination\nerror: build error: Failed to push image\n"


def indicator(elapsed_ms: float, name: str = "PiConv2D", parameters: dict[str, Any] | None = None, **result: Any) -> dict[str, Any]:
    return {
        "@parameters": CONV2D if parameters is None else parameters,
        "@result": {"elapsed": elapsed_ms, "rate": CONV2D_OPERATIONS / elapsed_ms / 1e6, **result},
        "component": "tensorflow", "name": name, "tensorflow_aicoe_buildinfo": None, "tensorflow_upstream_buildinfo": None,
    }


def hwinfo(pod: str, hertz: int = 2600000000) -> dict[str, Any]:
    return {
        "cpu_features": {
            "flags": ["aes", "avx2", "fma"], "hz_actual": [hertz, 0], "hz_actual_raw": None, "hz_advertised": [2600000000, 0],
            "l1_data_cache_size": 32768, "l1_instruction_cache_size": 32768, "l2_cache_size": 4194304, "l3_cache_size": 16777216,
        },
        "cpu_info": {"arch": "X86_64", "bits": 64, "brand_raw": "Made Processor 7", "count": 48, "family": 6, "model": 85, "stepping": 4},
        "cpu_type": {"has_sse": True, "is_AMD": False, "ncpus": 48},
        "platform": {"machine": "x86_64", "node": pod, "platform": "Linux-5.1-made", "release": "5.1.0-made", "version": "#1 SMP"},
    }


def result(inspection_id: str, number: int, elapsed_ms: float, *, switches: int = 900, hertz: int = 2600000000, **changes: Any) -> dict[str, Any]:
    """A result in the new form, with start and end; give `datetime` and neither for the old one."""
    pod = f"{inspection_id}-{1000 + number}"
    return {
        "end_datetime": f"2020-09-01T10:00:{30 + number}.250000", "exit_code": 0, "hostname": pod, "hwinfo": hwinfo(pod, hertz),
        "os_release": {"id": "made", "name": "Made Linux", "version_id": "8.2"},
        "runtime_environment": {
            "cuda_version": None, "hardware": {"cpu_family": 6, "cpu_model": 85}, "operating_system": {"name": "made", "version": "8.2"},
            "python_version": "3.6",
        },
        "script_sha256": SCRIPT, "start_datetime": f"2020-09-01T10:00:{20 + number}.250000", "stderr": "DTYPE set to float32\n",
        "stdout": indicator(elapsed_ms),
        "usage": {
            "ru_idrss": 0, "ru_inblock": 5, "ru_isrss": 0, "ru_ixrss": 0, "ru_majflt": 2, "ru_maxrss": 827, "ru_minflt": 1312, "ru_msgrcv": 0,
            "ru_msgsnd": 0, "ru_nivcsw": switches, "ru_nsignals": 0, "ru_nswap": 0, "ru_nvcsw": 130, "ru_oublock": 4, "ru_stime": 1.5, "ru_utime": 14.25,
        },
        **changes,
    }


def lock(**versions: str) -> dict[str, Any]:
    """A Pipfile.lock."""
    return {
        "_meta": {
            "hash": {"sha256": hashlib.sha256(b"pipfile").hexdigest()}, "pipfile-spec": 6, "requires": {"python_version": "3.6"},
            "sources": [{"name": "packages", "url": "https://packages.example/simple", "verify_ssl": True}],
        },
        "default": {
            name: {"hashes": ["sha256:" + hashlib.sha256(name.encode()).hexdigest()], "index": "pypi", "version": f"=={version}"}
            for name, version in versions.items()
        },
        "develop": {},
    }


STACK = {"numpy": "1.19.1", "six": "1.15.0"}


def specification(identifier: str, batch_size: int = 3) -> dict[str, Any]:
    return {
        "base": "registry.example/made-ubi8-py36", "batch_size": batch_size, "build": {"requests": {"cpu": "1", "memory": "1Gi"}}, "files": [],
        "identifier": identifier, "package_manager": "micropipenv", "packages": ["which"],
        "python": {"requirements": {"packages": {"six": "*"}}, "requirements_locked": lock(**STACK)}, "python_packages": [],
        "run": {"requests": {"cpu": "2", "memory": "4Gi"}}, "script": "https://example.org/performance/conv2d.py", "@created": "2020-09-01T09:55:01.5",
    }


def document(analyzer: str, result: Any, arguments: dict[str, Any], document_id: str | None) -> dict[str, Any]:
    return {
        "metadata": {
            "analyzer": analyzer, "analyzer_version": "0.16.0", "arguments": arguments, "datetime": "2020-09-01T09:50:04.048600",
            "document_id": document_id, "duration": 316, "hostname": "made", "thoth_deployment_name": "made-stage", "timestamp": 1598953804,
        },
        "result": result,
    }


def product(score: float, **versions: str) -> dict[str, Any]:
    return {
        "advised_runtime_environment": None, "justification": [{"message": "No observations", "type": "INFO"}],
        "project": {
            "requirements": {"packages": {"six": "*"}}, "requirements_locked": lock(**versions),
            "runtime_environment": {"cuda_version": None, "operating_system": {"name": "made", "version": "8"}, "python_version": "3.6"},
        },
        "score": score,
    }


def dependency_monkey_report() -> dict[str, Any]:
    responses = [{"product": product(0.5, **STACK), "response": FAST}, {"product": product(0.25, numpy="1.18.0"), "response": f"{SLOW}-xfh75"}]
    parameters = {"count": 4, "decision_type": "random", "predictor": "RandomWalk", "project": {}, "seed": 5654}
    return document(
        "thoth-adviser", {"error": False, "error_msg": None, "parameters": parameters, "report": {"responses": responses, "skipped": 1}},
        {"dependency-monkey": {"count": 4, "seed": 5654}}, None,
    )


def adviser(error: str | None = None) -> dict[str, Any]:
    report = None if error else {"pipeline": None, "products": [product(1.75, **STACK)], "resolver_iterations": 14, "stack_info": []}
    parameters = {"limit": 1, "recommendation_type": "performance", "seed": 42, "project": {}}
    return document(
        "thoth-adviser", {"error": error is not None, "error_msg": error, "parameters": parameters, "report": report}, {"advise": {"limit": 1}},
        "adviser-200901095004-0123456789abcdef" if error is None else "adviser-200901095004-fedcba9876543210",
    )


def solver() -> dict[str, Any]:
    tree = [{"dependencies": [], "index_url": "https://packages.example/simple", "package_name": "six", "package_version": "1.15.0", "sha256": ["ab" * 32]}]
    found = {"environment": {"os_name": "posix"}, "environment_packages": [{"package_name": "pipdeptree", "package_version": "0.13.2"}], "tree": tree}
    return document("thoth-solver", {**found, "errors": [], "unparsed": [], "unresolved": []}, {"python": {"requirements": "six===1.15.0"}}, "solver-made-py36-01234567")


def package_extract() -> dict[str, Any]:
    found = {
        "layers": ["ab" * 32],
        "mercator": [{"ecosystem": "Python-Dist", "path": "/usr/lib/six.egg-info", "result": {"name": "six", "version": "1.9.0"}}],
        "rpm": ["acl-2.2.51-12.el7.x86_64"],
        "rpm-dependencies": [{"arch": "x86_64", "dependencies": [], "epoch": None, "name": "acl", "release": "12.el7", "version": "2.2.51"}],
    }
    return document("thoth-package-extract", found, {"extract-image": {"image": "registry.example/made"}}, "package-extract-made")


PIP_LIST = [
    {"already_satisfied": None, "artifact": {"name": "click-6.7.whl", "size": "71kB"}, "from": None, "package": "click", "version_installed": "6.7", "version_specified": None},
]
OLD = {"datetime": "2020-08-01T10:00:40.5", "start_datetime": None, "end_datetime": None}


def write_inspection(folder: Path, results: dict[int, dict[str, Any]], log: str = PUSHED, batch_size: int = 3) -> None:
    put(folder / "build/specification", specification(folder.name.rpartition("-")[0].removeprefix("inspection-"), batch_size))
    put(folder / "build/log", "STEP 1: FROM registry.example/made-ubi8-py36\n" + log)
    for number, found in results.items():
        put(folder / f"results/{number}/result", {key: value for key, value in found.items() if not (key.endswith("datetime") and value is None)})
        put(folder / f"results/{number}/hwinfo", found.get("hwinfo") or hwinfo("made"))
        put(folder / f"results/{number}/log", "")


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))


def write_all(folder: Path) -> None:
    """Two inspections with results, one whose build failed, a campaign of the first two, and a document of each kind."""
    write_inspection(folder / FAST, {0: result(FAST, 0, 4.0), 1: result(FAST, 1, 5.0), 2: result(FAST, 2, 4.5)})
    write_inspection(folder / SLOW, {
        0: result(SLOW, 0, 40.0, switches=90000, hertz=2100000000, **OLD), 1: result(SLOW, 1, 1.0, exit_code=1, stdout={}, stderr="Killed"),
    })
    write_inspection(folder / BROKEN, {}, FAILED)
    put(folder / "made-campaign/dependency_monkey_report.json", dependency_monkey_report())
    put(folder / "made-campaign/scheduled.txt", f"{FAST}\n{SLOW}-xfh75\n{BROKEN}\n")
    put(folder / "made-campaign/Pipfile", '[packages]\nsix = "*"\n')
    put(folder / "sent-by-hand/inspection-made-matmul/specification.json", specification("made-matmul"))
    for name, content in (
        ("advised.json", adviser()), ("adviser-failed.json", adviser("Resolver was killed")), ("solver-made-py36-01234567", solver()),
        ("extracted.json", package_extract()), ("pip.txt.json", PIP_LIST),
    ):
        put(folder / "documents" / name, content)
