"""Kills processes in the middle of a build, on a real cluster of two nodes on this machine: the tables must equal those of an undisturbed build.

    python benchmarks/scale/kills.py local|ray|spark [--victims task executor node driver] [--store s3://bucket]

`task` is the process that runs a task, `executor` (Spark) the process above it, `node` one of the two nodes with all that it runs, `driver`
`wh build` itself, which is then run again. Afterwards `wh gc --apply --grace 0` removes what is left over: then the store has the receipts and
parts that it has after an undisturbed build from nothing, and no other. The AWS variables name a bucket's server and keys.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "benchmarks")]

from scale.equal import compared, contents
from scale.run import INGESTOR, MODELS, WH, write_runs

from warehouse.evidence.objects.location import open_store
from warehouse.maintenance.task_work import TASK_WORK as WORK
from warehouse.project.project import Project, read_project
from warehouse.scale.task import RECEIPTS
from warehouse.transform.finished.builds import current_build

RUNS, RECEIPTS_BEFORE_KILL = 40, 3
SPARK = "spark://127.0.0.1:7077"  # where its cluster's master listens
TOKEN = token_hex(32)  # one for all clusters: Ray reads it when it is imported
VICTIMS = {"local": ("task", "driver"), "ray": ("task", "node", "driver"), "spark": ("task", "executor", "node", "driver")}
# Each parse of a bundle takes its time, and tells who does it.
PARSE = "def parse(self, bundle):\n"
SLOW = f"""{PARSE}        import os, time
        with open("PIDS_PATH", "a") as log:
            log.write(f"{{os.getpid()}}\\n")
        time.sleep(0.25)  # so that there is a time in which to kill it
"""


@dataclass(frozen=True)
class Cluster:
    """Where it is, what its drivers need in their environment, and the process ids of its second node."""

    address: str
    environment: dict[str, str]
    node: list[int]


def project_in(folder: Path, store: str | None) -> Project:
    """A project of telemetry with its evidence."""
    folder.mkdir(parents=True)
    root, pids = folder / "project", folder / "pids"
    wh(folder, {}, "init", str(root), "--bare", *(["--store", store] if store else []))
    slow = INGESTOR.replace(PARSE, SLOW.replace("PIDS_PATH", str(pids)))
    for name, text in {**MODELS, "ingest/telemetry_file.py": slow}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with (root / "warehouse.toml").open("a") as file:
        file.write('\n[scale]\npart = "250KB"\ntable = "1KB"\n')
    write_runs(folder / "evidence", 0, RUNS)
    wh(root, {}, "ingest", str(folder / "evidence"))
    return read_project(root)


def wh(folder: Path, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([*WH, *arguments], cwd=folder, env=_environment(environment), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"wh {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def _environment(more: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **more}


def work_of(project: Project) -> set[str]:
    """The keys of what tasks have left in the store, the parts of builds, and what processes have left behind."""
    objects = open_store(project).objects
    held = {entry.key for top in WORK for entry in objects.entries(top)}
    stray = [path for path in (project.root / ".wh").rglob("*") if path.is_file() and "incoming" in path.parts and path.name != ".lock"]
    return held | {str(path.relative_to(project.builds)) for path in [*project.builds.glob("parts/*/*"), *stray]}


def begin_again(project: Project) -> None:
    """Forget all that builds have made."""
    objects = open_store(project).objects
    for key in [entry.key for top in WORK for entry in objects.entries(top)]:
        objects.remove(key)
    for folder in (project.builds, project.store_root / "landing"):
        shutil.rmtree(folder)


# --- clusters ---------------------------------------------------------------------------------------------------


@contextmanager
def local() -> Iterator[Cluster]:
    yield Cluster("", {}, [])


@contextmanager
def ray() -> Iterator[Cluster]:
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0"}
    os.environ.update(token | {"PYTHONPATH": str(REPOSITORY)})
    from ray.cluster_utils import Cluster as RayCluster

    memory = 100 << 20
    cluster = RayCluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": memory, "include_dashboard": False})
    try:
        node = cluster.add_node(num_cpus=1, object_store_memory=memory)
        yield Cluster(cluster.address, token, [found.process.pid for found in node.all_processes["raylet"]])
    finally:
        cluster.shutdown()


@contextmanager
def spark() -> Iterator[Cluster]:
    import pyspark

    home = Path(pyspark.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        own = {
            "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "384m",
            "SPARK_WORKER_DIR": f"{folder}/work", "SPARK_LOCAL_DIRS": f"{folder}/local",
        }
        started = []

        def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
            command = [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
            with open(f"{folder}/{len(started)}.log", "wb") as log:
                started.append(subprocess.Popen(command, env=_environment(own), stdout=log, stderr=log))
            return started[-1]

        try:
            start("master.Master", "--host", "127.0.0.1", "--port", "7077", "--webui-port", "8180")
            nodes = [  # of two hosts: Spark runs a slow task's twin on another one
                start("worker.Worker", "--host", f"127.0.0.{number}", "--port", f"709{number}", "--webui-port", f"819{number}", "--cores", "1",
                      "--memory", "2g", SPARK)
                for number in (1, 2)
            ]  # fmt: skip
            _wait(lambda: Path(folder, "0.log").read_text().count("Registering worker") == 2, 300)
            yield Cluster(SPARK, own, [nodes[1].pid])
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait(30)


CLUSTERS: dict[str, Callable[[], Any]] = {"local": local, "ray": ray, "spark": spark}


# --- killing ----------------------------------------------------------------------------------------------------


def _wait(is_so: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise SystemExit("waited too long")
        time.sleep(0.05)  # between looks


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and so on."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and _parent(int(folder.name)) == pid:
                found += [int(folder.name), *_below(int(folder.name))]
        except OSError:
            continue
    return found


def victims_of(victim: str, cluster: Cluster, driver: int, pids: Path) -> list[int]:
    """The processes to kill."""
    if victim == "driver":
        return [driver]
    if victim == "node":
        return [each for pid in cluster.node for each in (pid, *_below(pid))]
    for _ in range(200):
        for pid in [int(line) for line in reversed(pids.read_text().split())]:
            try:
                above = pid
                while victim == "executor" and "CoarseGrainedExecutorBackend" not in _command(above):
                    above = _parent(above)
                os.kill(above, 0)
                return [above]
            except OSError:
                continue
        time.sleep(0.05)  # between looks
    raise SystemExit(f"there is no {victim} to kill")


def killed(engine: str, victim: str, folder: Path, store: str | None) -> tuple[Project, str]:
    """A project that was built while one of its processes was killed, and what happened."""
    project = project_in(folder, store)
    objects = open_store(project).objects
    with CLUSTERS[engine]() as cluster:
        build = ["build", "--engine", engine, *(["--address", cluster.address] if cluster.address else [])]
        started = time.monotonic()
        with open(folder / "driver.log", "wb") as log:
            driver = subprocess.Popen([*WH, *build], cwd=project.root, env=_environment(cluster.environment), stdout=log, stderr=log)
        _wait(lambda: driver.poll() is not None or len(list(objects.entries(RECEIPTS))) >= RECEIPTS_BEFORE_KILL, 300)
        if driver.poll() is not None:
            raise SystemExit(f"it ended before anything was killed: {(folder / 'driver.log').read_text()[-3000:]}")
        for pid in victims_of(victim, cluster, driver.pid, folder / "pids"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        code = driver.wait(600)
        if victim == "driver":
            there = len(list(objects.entries(RECEIPTS)))
            wh(project.root, cluster.environment, *build)
            return project, f"ended with {code}, {there} receipts were there, then built in {time.monotonic() - started:.0f} s"
        if code:
            raise SystemExit((folder / "driver.log").read_text()[-3000:])
        return project, f"built in {time.monotonic() - started:.0f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=list(CLUSTERS))
    parser.add_argument("--victims", nargs="+")
    parser.add_argument("--store", help="a bucket, s3://bucket: each project has a folder of its own in it")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)

        def store(part: str) -> str | None:
            return f"{args.store}/{scratch.name}-{part}" if args.store else None

        plain = project_in(scratch / "plain", store("plain"))
        wh(plain.root, {}, "build")
        wanted = contents(plain)
        for victim in args.victims or VICTIMS[args.engine]:
            project, told = killed(args.engine, victim, scratch / victim, store(victim))
            is_same, words = compared(wanted, contents(project), set(current_build(project).parts))
            before = work_of(project)
            wh(project.root, {}, "gc", "--apply", "--grace", "0")
            after = work_of(project)
            fsck = wh(project.root, {}, "fsck").strip()
            begin_again(project)
            wh(project.root, {}, "build", "--engine", "local")
            wh(project.root, {}, "gc", "--apply", "--grace", "0")
            is_clean = after == work_of(project)
            failed += not (is_same and is_clean)
            print(
                f"{args.engine}, {victim} killed: {told}; {words}; wh gc removed {len(before - after)}"
                f" objects, {'none' if is_clean else 'SOME'} left over; wh fsck: {fsck or 'nothing is wrong'}", flush=True,
            )
            shutil.rmtree(scratch / victim)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
