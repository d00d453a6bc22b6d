"""Fixtures that several test files share. Real evidence is used where it is, and its absence shows as a skip."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from campaign_clock import ahead as ahead
from cpu_time import CpuTime
from exhaustive import is_in_share

# Fixtures are found by their names here.
from odd_evidence import odd_evidence as odd_evidence
from odd_evidence import refuse_rejected_rows
from once import begin, end
from s3_server import bucket_name as bucket_name
from s3_server import endpoint as endpoint
from s3_server import fresh_client as fresh_client
from s3_server import lone_s3_server as lone_s3_server
from s3_server import s3_server as s3_server
from s3_server import stop_servers

from warehouse.cli.main import main
from warehouse.project.project import Project

REPOSITORY = Path(__file__).resolve().parents[1]
EVIDENCE = REPOSITORY.parent / "shared" / "evidence"

# `wh` on a test's project, and on one that is given first: exit code, standard output, standard error.
Wh = Callable[..., tuple[int, str, str]]
WhOn = Callable[..., tuple[int, str, str]]
WhBytes = Callable[..., tuple[int, bytes, str]]

# A suite that runs in the background finds SIGINT ignored, and what it starts would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)

def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the workers' parent, or the only process
        begin()
        # Compiling takes 15 s in each worker and 0.5 s in each `wh`: what they start finds it done.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        if config.getoption("dist", "no") != "no":
            rewrite_assertions(config)
    config.pluginmanager.register(CpuTime(config))
    refuse_rejected_rows()


def rewrite_assertions(config: pytest.Config) -> None:
    """Of the test files of a fresh checkout, before the workers start: each of them would do it, in 9 s."""
    for argument in config.args:
        place = Path(argument.partition("::")[0]).absolute()
        for path in sorted(place.rglob("test_*.py")) if place.is_dir() else [place]:
            compiled = rewrite.get_cache_dir(path) / (path.stem + rewrite.PYC_TAIL)
            if not compiled.exists():
                compiled.parent.mkdir(exist_ok=True)
                source, code = rewrite._rewrite_test(path, config)
                rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, compiled)


def pytest_unconfigure(config: pytest.Config) -> None:
    gc.unfreeze()  # what is left is given back in order
    if not hasattr(config, "workerinput"):
        stop_servers()
        end()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", metavar="NUMBER", type=int, help="of the exhaustive tests, run the share of the commit of this number")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    number = config.getoption("--share")
    if number is not None:
        kept = [item for item in items if not item.get_closest_marker("exhaustive") or is_in_share(item.nodeid, number)]
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept


def pytest_collection_finish() -> None:
    """The collector of garbage went through all tests and modules again and again: a fifth of the processor's time."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores: for an eighth of their time two workers waited for disks, servers and processes."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


def unpacked_evidence(name: str) -> Path:
    """The unpacked archive `name` of the shared evidence; skips the test where that is absent."""
    archive = EVIDENCE / f"{name}.tar.gz"
    if not archive.is_file():
        pytest.skip(f"real evidence is not here: {archive}")
    folder = REPOSITORY / ".cache" / "evidence"
    subprocess.run([EVIDENCE / "unpack", folder, name], check=True)
    return folder / name


@contextmanager
def unprivileged() -> Iterator[None]:
    """As a user whom permissions stop: root reads everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture(scope="session")
def mlperf_evidence() -> Path:
    """MLPerf Inference submissions of rounds v4.1 and v5.1."""
    return unpacked_evidence("mlperf-inference")


@pytest.fixture(scope="session")
def fabric_evidence() -> Path:
    """Logs of fabric and node checks."""
    return unpacked_evidence("fabric")


@pytest.fixture(scope="session")
def missed_evidence() -> Path:
    """Cases of all families that an earlier version read wrongly or not at all."""
    return unpacked_evidence("missed")


@pytest.fixture(scope="session")
def telemetry_evidence() -> Path:
    """Metrics of servers and GPUs: scrapes, answers, an exported study."""
    return unpacked_evidence("telemetry")


@pytest.fixture(scope="session")
def aisp_evidence() -> Path:
    """Documents of a suite that checks a cluster, and of the contract of its benchmarks."""
    return unpacked_evidence("aisp")


@pytest.fixture(scope="session")
def mlperf_training_evidence() -> Path:
    """MLPerf Training submissions of rounds v5.0 and v5.1."""
    return unpacked_evidence("mlperf-training")


@pytest.fixture(scope="session")
def serving_evidence() -> Path:
    """Outputs of serving benchmarks, of several tools."""
    return unpacked_evidence("serving")


@pytest.fixture(autouse=True)
def no_project_is_named() -> Iterator[None]:
    """`wh --project DIR`, run in this process, names its project in the environment. A fixture of a module may have run it, too."""
    os.environ.pop("WH_PROJECT", None)
    yield
    os.environ.pop("WH_PROJECT", None)


@pytest.fixture
def wh_bytes(capfdbinary: pytest.CaptureFixture[bytes]) -> WhBytes:
    """Run `wh` on a project: exit code, the bytes of standard output, standard error."""

    def run(project: Project, *arguments: str) -> tuple[int, bytes, str]:
        status = main(["--project", str(project.root), *arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return status, out, err.decode()

    return run


@pytest.fixture
def wh_on(wh_bytes: WhBytes) -> WhOn:
    """Run `wh` on a project: exit code, standard output, standard error."""

    def run(project: Project, *arguments: str) -> tuple[int, str, str]:
        status, out, err = wh_bytes(project, *arguments)
        return status, out.decode(), err

    return run


@pytest.fixture
def wh(project: Project, wh_on: WhOn) -> Wh:
    """Run `wh` on the test file's `project`: exit code, standard output, standard error."""
    return lambda *arguments: wh_on(project, *arguments)
