"""The files for nights and CI: they parse, their commands exist with the options that they use, and the nightly script keeps exit codes."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import REPOSITORY

from warehouse.cli.program import load_command

DEPLOY = REPOSITORY / "deploy"
PATHS = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
FILES = [path.relative_to(DEPLOY).as_posix() for path in PATHS]
COMMANDS = [
    (path.name, words)
    for path in PATHS
    for words in re.findall(r"(?:^|step |- |&& )(wh [a-z][^#\n|&>]*)", path.read_text().replace('"${1:?the folder with results}"', "results"), re.MULTILINE)
]


def read_yaml(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


@pytest.mark.parametrize(("name", "line"), COMMANDS)
def test_the_commands_are_commands_with_their_options(name: str, line: str) -> None:
    _, command, *arguments = shlex.split(re.sub(r"\s+2$", "", line.strip()))
    load_command(command).make_context(command, arguments)


def test_every_file_with_commands_was_read() -> None:
    found = {(name, words.split()[1]) for name, words in COMMANDS}
    assert found >= {("nightly.sh", "ingest"), ("nightly.sh", "build"), ("nightly.sh", "changes")}
    assert {command for name, command in found if name.endswith("-compare.yaml")} == {"ingest", "build", "compare"}


def test_every_file_is_in_the_documentation_with_its_commands() -> None:
    page = (REPOSITORY / "docs" / "nightly.md").read_text()
    assert [name for name in FILES if f"../deploy/{name}" not in page] == []


def test_no_file_names_a_registry_or_a_password() -> None:
    for name in FILES:
        text = (DEPLOY / name).read_text()
        assert not re.search(r"https?://|index-url|docker\.io|quay\.io|ghcr\.io|password", text, re.IGNORECASE), name


def test_the_image_has_locked_dependencies_and_is_not_root() -> None:
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    installs = [line for line in lines if " install " in line]
    assert len(installs) == 2 and "--require-hashes" in installs[0] and "--only-binary :all:" in installs[0] and "--no-deps" in installs[1]
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users[-1].split(":")[0].isdigit() and int(users[-1].split(":")[0]) > 0
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (REPOSITORY / source).exists(), source
    included = re.findall(r'^(\w+) = "warehouse/standard/', (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    assert included and all(f"COPY {folder} {folder}" in lines for folder in ("warehouse", *included))


def test_the_cron_job_runs_the_script_once_a_night_without_privileges() -> None:
    document = read_yaml("cronjob.yaml")
    assert (document["apiVersion"], document["kind"], document["spec"]["concurrencyPolicy"]) == ("batch/v1", "CronJob", "Forbid")
    assert re.fullmatch(r"\d+ \d+ \* \* \*", document["spec"]["schedule"])
    job = document["spec"]["jobTemplate"]["spec"]
    pod = job["template"]["spec"]
    (container,) = pod["containers"]
    script = re.findall(r"nightly\.sh /opt/wh/bin/([\w-]+)", (DEPLOY / "Containerfile").read_text())
    assert container["command"][0] == script[0] and job["backoffLimit"] == 0 and pod["restartPolicy"] == "Never"
    assert pod["securityContext"]["runAsNonRoot"] and f"USER {pod['securityContext']['runAsUser']}:" in (DEPLOY / "Containerfile").read_text()
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


@pytest.mark.parametrize("name", ["github-compare.yaml", "gitlab-compare.yaml"])
def test_the_jobs_of_ci_gate_on_what_is_confirmed(name: str) -> None:
    document = read_yaml(name)
    if name.startswith("github"):
        job = document["jobs"]["compare"]
        script = "\n".join(step.get("run", "") for step in job["steps"])
        assert "${{" not in script  # text of a pull request in a command could run commands
        assert "GITHUB_STEP_SUMMARY" in script and document["permissions"] == {"contents": "read"}
    else:
        script = "\n".join(document["compare"]["script"])
        assert document["compare"]["artifacts"] | {"expire_in": ""} == {
            "when": "always", "expose_as": "comparison", "paths": ["comparison.txt"], "expire_in": ""
        }
    assert "--fail-on confirmed" in script and script.rstrip().endswith('exit "$status"')


def fake_wh(folder: Path, codes: dict[str, int]) -> dict[str, str]:
    """An environment whose `wh` prints its arguments and returns the code of its command."""
    cases = "".join(f"{command}) exit {code};; " for command, code in codes.items())
    (folder / "wh").write_text(f'#!/bin/sh\necho "data of $*"\necho "notice of $1" >&2\ncase $1 in {cases} esac\n')
    (folder / "wh").chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("codes", "status", "ran"),
    [
        ({}, 0, ["ingest", "build", "changes", "notify"]),
        ({"ingest": 5}, 5, ["ingest", "build", "changes", "notify"]),
        ({"build": 1}, 1, ["ingest", "build", "notify"]),
        ({"ingest": 4, "build": 1}, 4, ["ingest", "build", "notify"]),
        ({"changes": 1}, 1, ["ingest", "build", "changes", "notify"]),
        ({"notify": 1}, 1, ["ingest", "build", "changes", "notify"]),
    ],
)
def test_the_nightly_script_goes_on_and_returns_the_first_failure(tmp_path: Path, codes: dict[str, int], status: int, ran: list[str]) -> None:
    done = subprocess.run(
        ["sh", DEPLOY / "nightly.sh", "/my results"], env=fake_wh(tmp_path, codes), capture_output=True, text=True
    )
    assert done.returncode == status
    assert [line.split()[2] for line in done.stdout.splitlines()] == ran and "ingest /my results" in done.stdout
    assert all(f"notice of {command}" in done.stderr for command in ran)
    assert all(f"nightly: exit code {code} of: wh {command}" in done.stderr for command, code in codes.items())


def test_the_nightly_script_needs_a_folder(tmp_path: Path) -> None:
    done = subprocess.run(["sh", DEPLOY / "nightly.sh"], env=fake_wh(tmp_path, {}), capture_output=True, text=True)
    assert done.returncode != 0 and "the folder with results" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("code", [0, 1, 5])
def test_the_github_job_leaves_the_comparison_as_its_summary_and_keeps_the_exit_code(tmp_path: Path, code: int) -> None:
    (script,) = (step["run"] for step in read_yaml("github-compare.yaml")["jobs"]["compare"]["steps"] if step.get("name") == "compare")
    environment = fake_wh(tmp_path, {"compare": code}) | {"BASE": "b=```", "HEAD": "h=$(id)", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code
    assert (tmp_path / "summary.md").read_text().splitlines() == [
        f"## Comparison (exit code {code})", "", "    data of compare b=``` h=$(id) --fail-on confirmed", "    notice of compare"
    ]


def test_the_timer_starts_the_service_that_runs_the_script() -> None:
    units = {}
    for kind in ("service", "timer"):
        units[kind] = configparser.ConfigParser(strict=False, interpolation=None)
        units[kind].read(DEPLOY / f"wh-nightly.{kind}")
    service = units["service"]["Service"]
    assert service["Type"] == "oneshot" and service["User"] != "root" and "/wh-nightly " in service["ExecStart"]
    assert units["timer"]["Install"]["WantedBy"] == "timers.target" and units["timer"]["Timer"]["OnCalendar"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    for kind in ("service", "timer"):
        text = (DEPLOY / f"wh-nightly.{kind}").read_text()
        (tmp_path / f"wh-nightly.{kind}").write_text(text)
    files = [tmp_path / f"wh-nightly.{kind}" for kind in ("service", "timer")]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *files], capture_output=True, text=True)
    assert not re.search(r"wh-nightly\.(service|timer):\d+: |Unknown|Failed to parse|bad unit", done.stderr), done.stderr
    calendar = re.findall(r"OnCalendar=(.+)", (DEPLOY / "wh-nightly.timer").read_text())
    assert subprocess.run(["systemd-analyze", "calendar", *calendar], capture_output=True).returncode == 0
