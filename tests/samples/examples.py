"""The project in which every example of the help of `wh` runs as it stands."""

from __future__ import annotations

from pathlib import Path

from samples import declaration
from samples.bench_serving import requests, vllm_record, write
from samples.recording import write_recording
from standard import standard_project

from warehouse.cli.main import main
from warehouse.project.project import Project
from warehouse.scale.drive import place_of
from warehouse.scale.task import encoded

RECORDING = "01KG8Q3V5T2M4N6P8R0S1W3X5Y"
RUN = f"recorded_run/{RECORDING}/run-0"
# A campaign whose cells only wait, so that its example needs no package.
STACKS = """
[campaign]
name = "wait"
command = ["python", "-c", "import os, time; time.sleep(float(os.environ['WAIT_S']))"]
[factors.wait]
environment = "WAIT_S"
values = [0.01, 0.02]
[resolve]
exclude_newer = 2026-01-31T00:00:00Z
"""
NUMBER = "indicator_results[result_key=elapsed_ms].median"


def example_project(root: Path) -> Project:
    """The project in `root`/project. Beside it: the store `backup`. In it: evidence in `results`, a run that two bundles state
    differently, the key `nightly`, and the packet `number.whp` of `NUMBER`, which is published, and a file of tasks."""
    project = standard_project(root / "project")
    here = project.root
    declaration.write(here / "benchmark_run.yaml", declaration.benchmark_run())
    write_recording(here / "results" / "first", RECORDING)
    write_recording(here / "uploaded-again", RECORDING, (9.5,), first=4)
    for load in (4, 16):
        record = vllm_record(requests(40, load), model_id="MiniMaxAI/MiniMax-M2.5", max_concurrency=load, date=f"20260131-0200{load:02}")
        write(here / "serving" / f"h100_tp8_isl1024_osl128_conc{load}.json", record)
    (here / "group_by.py").write_text("print('{}')\n")  # what the recording ran, for `wh record --like`
    (here / "stacks.toml").write_text(STACKS)
    (here / "newest.txt").write_text("vllm==0.13.0\n")
    (here / "models" / "reference").mkdir(parents=True, exist_ok=True)
    slo = "/*\nfeeds: serving_slo\n*/\nselect 'chat' as slo, 500.0::double as ttft_ms, 0.95::double as target, 'our terms' as source\n"
    (here / "models" / "reference" / "our_slo.sql").write_text(slo)
    (here / "tasks.jsonl").write_bytes(encoded(place_of(project)) + b"\n")  # of a build whose tasks are all done
    (here / "readings.csv").write_text("run_id,temperature_c,started_at\nr1,61.5,2026-01-31T02:00:00Z\nr2,,2026-01-31T03:00:00Z\nr3,64.25,\n")
    for line in (
        ["keygen", "nightly"], ["ingest", *(str(here / name) for name in ("results", "uploaded-again", "serving"))], ["build"], ["publish", "indicator_results", "--as", "provisional"],
        ["audit-packet", NUMBER, "-o", str(here / "number.whp")], ["note", f"{RUN}1", "looked at"],
        ["push", str(root / "backup"), "--create"],
    ):
        assert main(["--project", str(here), *line]) == 0, line
    return project
