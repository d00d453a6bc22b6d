"""Runs a campaign: session after session, block after block, one slot at a time, until the plan is done or the budget is spent.

What is done is known from the store alone, so a campaign that was killed goes on where it was, and several runners share one: a slot is run under
a lease, and its attempt is counted before it starts. What a killed runner had recorded but not handed over, the next on that machine hands over.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from warehouse.address import shown
from warehouse.campaign.cells import Cell, Slot, Wanted, cells_of, command_of, session_slots, variables_of, wanted
from warehouse.campaign.gpu_leases import held_gpus
from warehouse.campaign.leases import Leases
from warehouse.campaign.progress import Progress, attempt_key, choice_key, done_key, lock_key, session_key
from warehouse.campaign.search import front_runners, halved, proposed, question, results
from warehouse.campaign.spec import DRIVER, Confirmation, Search, Spec
from warehouse.campaign.stacks import BUILT, LOCK, NOT_BUILT, NOT_RESOLVED, RESOLVED, Outcome, Uv, in_use, locked, make_room, stack_digest
from warehouse.digest import canonical_json, file_digest
from warehouse.errors import ExitCode, WarehouseError, counted, did_you_mean, printable
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.record.gpu import gpus
from warehouse.record.nodes.launch import ended_on_nodes
from warehouse.transform.build.build import build

FORMAT_VERSION = 1
MOST_ENVIRONMENT_BYTES = 20 * 10**9
SAMPLE_INTERVAL_S = 1.0
_POLL_S = 5.0
_GRACE_S = 10.0  # more than a recorder gives its command


@dataclass(frozen=True)
class Told:
    """What happened to a slot, for who looks on: `reason` where it did not succeed."""

    slot: Slot
    cell: Cell
    status: str
    reason: str | None = None
    wall_s: float | None = None


class Runner:
    """One process that works on a campaign, whose spec is the file `path`. `on_slot` is told of every slot, `on_wait` why nothing is run now, and
    until when."""

    def __init__(
        self, project: Project, spec: Spec, path: Path, on_slot: Callable[[Told], None] = lambda told: None,
        on_wait: Callable[[str, datetime | None], None] = lambda why, until: None, rerun: str | None = None,
    ) -> None:
        self._project, self._spec = project, spec
        self._rerun, self._spec_file = rerun, path.name
        self._on_slot, self._on_wait = on_slot, on_wait
        self._store = open_store(project)
        self._ingestors = tuple(load_ingestors(project).values())
        self._files = {name: place or path.parent / name for name, place in spec.copied.items()}
        self.campaign_id = spec.campaign_id({name: file_digest(place) for name, place in self._files.items()}, rerun)
        self.cells = {cell.cell_id: cell for cell in cells_of(spec)}
        self._leases = Leases(self._store.objects, self.campaign_id)
        self._work = project.root / ".wh" / "campaigns" / self.campaign_id
        self._environments = project.root / ".wh" / "environments"
        self._uv: Uv | None = None
        self._progress = Progress()
        self._stacks: dict[str, Outcome] = {}
        self._elsewhere = _not_here(spec, self.cells)

    def run(self) -> Progress:
        """Work until nothing is left to do. Returns what the store then says of the campaign."""
        self._work.mkdir(parents=True, exist_ok=True)
        self._environments.mkdir(parents=True, exist_ok=True)
        self._declare()
        self._hand_over()
        if self._elsewhere:
            self._on_wait(f"{counted(len(self._elsewhere), 'cell')} of another GPU driver are left to a runner on a machine that has it", None)
        cells = list(self.cells)
        for session in range(1, self._spec.sessions + 1):
            if session > self._spec.whole_sessions and self._spec.search:
                cells = self._searched(self._spec.search, session, cells)
            if not cells:  # the program wants no more
                break
            self._run_session(session, cells)
        last = self._spec.sessions
        if self._spec.confirmation:
            searched = list(self.cells) if self._spec.search and self._spec.search.command else cells
            front = self._front_runners(self._spec.confirmation, searched)
            last += self._spec.confirmation.sessions
            for session in range(self._spec.sessions + 1, last + 1):
                self._run_session(session, front)
        for session in sorted(each for each in self.progress().chosen_sessions if each > last):
            self._run_session(session, self._chosen(session, dict))
        return self.progress()

    def add_sessions(self, cells: Sequence[str], count: int) -> None:
        """Add sessions after those of the plan, with some of the cells. Raises WH402 for a cell that is not in the campaign."""
        for cell in cells:
            if cell not in self.cells:
                hint = did_you_mean(cell, list(self.cells)) or f"{self.campaign_id} has {next(iter(self.cells))} to {list(self.cells)[-1]}"
                raise WarehouseError("WH402", "is not a cell of this campaign", printable(cell), hint, ExitCode.USAGE)
        planned = self._spec.sessions + (self._spec.confirmation.sessions if self._spec.confirmation else 0)
        session = max(planned, *self.progress().chosen_sessions) if self.progress().chosen_sessions else planned
        for _ in range(count):
            document = {"method": "added", "cells": [{"cell": cell} for cell in dict.fromkeys(cells)]}
            session += 1
            while not self._store.objects.create(choice_key(self.campaign_id, session), self._choice(session, document)):
                session += 1

    def progress(self) -> Progress:
        """What the store says now."""
        self._progress.look(self._store.objects, self.campaign_id)
        return self._progress

    def _run_session(self, session: int, names: Collection[str]) -> None:
        cells = tuple(cell for name, cell in self.cells.items() if name in names)
        slots = tuple(slot for slot in session_slots(self._spec, cells, session) if slot.cell_id not in self._elsewhere)
        if self.progress().lacks(slots):
            self._await_session(session)
            self._run_slots(slots)

    # -- which cells --------------------------------------------------------------------------------------------

    def _front_runners(self, confirmation: Confirmation, cells: Collection[str]) -> list[str]:
        def choose() -> dict[str, Any]:
            build(self._project)
            ranked = front_runners(self._project, self.campaign_id, confirmation.metric, confirmation.front_runners, cells)
            return {"cells": _listed(ranked)}

        return self._chosen(None, choose)

    def _searched(self, search: Search, session: int, cells: Collection[str]) -> list[str]:
        """The cells of a session: those that are the best of the session before, or that a program proposes."""
        def choose() -> dict[str, Any]:
            if session > 1:
                build(self._project)
            if search.metric is not None:
                kept, left_out = halved(self._project, self.campaign_id, search.metric, search.keep, cells)
                return {"method": "halving", "cells": _listed(kept), "left_out": _listed(left_out)}
            asked = question(self._spec, self.campaign_id, session, results(self._project, self.campaign_id) if session > 1 else ())
            scratch = self._scratch(f"choice-{session}.0")
            try:
                names, log = proposed(search.command, asked, self.cells, scratch, self._passed())
            finally:
                self._drop(scratch)
            return {"method": "command", "cells": [{"cell": name} for name in names], "asked": asked, "log": log}

        return self._chosen(session, choose)

    def _chosen(self, session: int | None, choose: Callable[[], dict[str, Any]]) -> list[str]:
        """The cells of a session, or of the confirmation: what the first runner chose that got so far, as evidence and for all others."""
        key = choice_key(self.campaign_id, session)
        while not self._store.objects.exists(key):
            with self._leases.held(f"choice-{session or 'confirmation'}") as is_ours:
                if is_ours and not self._store.objects.exists(key):
                    self._store.objects.create(key, self._choice(session, choose()))
            if not is_ours:
                self._on_wait("another runner chooses the cells", None)
                time.sleep(_POLL_S)  # it may die, and the choice is ours then
        chosen = self._store.objects.read(key)
        folder = self._work / "chosen"
        folder.mkdir(exist_ok=True)
        (folder / "choice.json").write_bytes(chosen)
        self._ingest(folder)
        return [each["cell"] for each in json.loads(chosen)["cells"]]

    def _choice(self, session: int | None, document: Mapping[str, Any]) -> bytes:
        named = {} if session is None else {"session": session}
        opening = {"format": "warehouse-campaign-choice", "format_version": FORMAT_VERSION, "campaign": self.campaign_id}
        return json.dumps({**opening, **named, **document}, indent=2, default=str).encode()

    # -- a session ----------------------------------------------------------------------------------------------

    def _await_session(self, session: int) -> None:
        """Wait until the session may begin, and say in the store that it has."""
        progress = self.progress()
        before = max((began for number, began in progress.session_began.items() if number < session), default=None)  # a search may skip some
        if session not in progress.session_began and before is not None:
            due = before + timedelta(seconds=self._spec.session_gap_s)
            if datetime.now(UTC) < due:
                self._on_wait(f"session {session} begins {self._spec.session_gap_s:g} s after the one before it", due)
            while datetime.now(UTC) < due:  # in short steps: a host that slept, or whose clock was set, is not late
                time.sleep(min(_POLL_S, max(0.01, (due - datetime.now(UTC)).total_seconds())))
        began = canonical_json({"began_at": datetime.now(UTC).isoformat()})
        self._store.objects.create(session_key(self.campaign_id, session), began)

    def _run_slots(self, slots: tuple[Slot, ...]) -> None:
        while left := self.progress().lacks(slots):
            is_busy = False
            for slot in left:
                self._check_budget()
                with self._leases.held(slot.slot_id) as is_ours:
                    if not is_ours:
                        is_busy = True
                    elif self.progress().lacks((slot,)):
                        with held_gpus(self._store.objects, self._spec.gpus, lambda why: self._on_wait(why, None)) as uuids:
                            self._run_slot(slot, uuids)
            if is_busy and self.progress().lacks(slots):
                self._on_wait("another runner has the rest of the session", None)
                time.sleep(_POLL_S)  # it may die, and its slots are ours then

    def _check_budget(self) -> None:
        budget, progress = self._spec.budget, self.progress()
        hours = progress.busy_s / 3600
        spent = {"runs": progress.started, "hours": hours, "dollars": hours * (budget.dollars_per_hour or 0)}
        for name, value in spent.items():
            most = getattr(budget, name)
            if most is not None and value >= most:
                hint = "what was run is kept; another budget makes another campaign"
                raise WarehouseError("WH403", f"the budget of {most:g} {name} is spent", self.campaign_id, hint)

    # -- a slot -------------------------------------------------------------------------------------------------

    def _run_slot(self, slot: Slot, uuids: Sequence[str]) -> None:
        cell = self.cells[slot.cell_id]
        need = wanted(self._spec, cell)
        stack = self._stack(need)
        with in_use(self._environments / (stack.stack_digest or need.key)):
            self._run_in(self._stack(need), slot, cell, uuids)  # asked again: another campaign may have removed it to make room

    def _run_in(self, stack: Outcome, slot: Slot, cell: Cell, uuids: Sequence[str]) -> None:
        attempt = self._begin(slot)
        if stack.status != BUILT:
            self._finish(slot, attempt, {"status": stack.status}, 0.0)
            self._on_slot(Told(slot, cell, stack.status, stack.reason))
            return
        folder, scratch = self._work / f"{slot.slot_id}.{attempt}", self._scratch(f"{slot.slot_id}.{attempt}")
        shutil.rmtree(folder, ignore_errors=True)
        began = time.monotonic()
        try:
            seen = self._record(cell, stack, folder, scratch, uuids)
        finally:
            self._drop(scratch)
        self._describe(slot, cell, attempt, stack, folder)
        self._hand_over_one(folder, slot, attempt, seen, time.monotonic() - began)
        self._on_slot(Told(slot, cell, seen["status"], seen.get("reason"), seen.get("wall_s")))

    def _record(self, cell: Cell, stack: Outcome, folder: Path, scratch: Path, uuids: Sequence[str]) -> dict[str, Any]:
        environment = self._environment(str(stack.stack_digest), cell) | ({"CUDA_VISIBLE_DEVICES": ",".join(uuids)} if uuids else {})
        asked = {
            "command": list(command_of(self._spec, cell)), "folder": str(folder), "working_folder": str(scratch), "environment": environment,
            "limits": asdict(self._spec.limits), "sample_interval_s": SAMPLE_INTERVAL_S, "redact": list(self._project.redact),
            "indicator": self._spec.indicator, "launcher": list(self._spec.launcher), "nodes": self._spec.nodes,
        }
        code, said = _recorded(asked)
        file = folder / "run-01" / "run.json"
        if code:
            if not file.parent.exists():
                hint = "the run is made again when the campaign goes on"
                raise WarehouseError("WH403", f"the recorder did not begin: {said}", self.campaign_id, hint)
            # It died beside the command, of too little memory or a disk that the command has filled: the run has that reason.
            self._drop(scratch)
            _write(file, {"status": "failed", "failure": f"the recorder ended with exit code {code}: {said}"})
        run = json.loads(file.read_text(encoding="utf-8"))
        seen: dict[str, Any] = {name: run.get(name) for name in ("status", "wall_s")}
        if run.get("ended_by_limit"):
            seen["reason"] = f"ended by its limit of {run['ended_by_limit']}"
        elif seen["status"] == "failed":
            ending = f"exit code {run.get('exit_code')}" if run.get("signal") is None else f"signal {run['signal']}"
            seen["reason"] = ended_on_nodes(folder) or run.get("indicator_breach") or run.get("failure") or ending
        if seen.get("reason") and run.get("refused_processes"):
            seen["reason"] += f", its limit of processes refused {run['refused_processes']}"
        return seen

    def _scratch(self, label: str) -> Path:
        """A new folder with the campaign's files: `label` is the name of a lease and a number."""
        scratch = self._work / "scratch" / label
        self._drop(scratch)
        scratch.mkdir(parents=True)
        for name, place in self._files.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, scratch / name)
        return scratch

    @staticmethod
    def _drop(scratch: Path) -> None:
        """Remove a folder in which something ran, and what its launcher was asked for."""
        shutil.rmtree(scratch, ignore_errors=True)
        Path(f"{scratch}.json").unlink(missing_ok=True)

    def _passed(self) -> dict[str, str]:
        """The variables of this process that programs see: those that every program needs, and those that the spec passes on."""
        return {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TZ", "TMPDIR", *self._spec.passed) if name in os.environ}

    def _environment(self, digest: str, cell: Cell) -> dict[str, str]:
        """The variables that a run sees: those that programs see, those of its environment, those that the spec sets."""
        programs = self._environments / digest / "bin"
        passed = self._passed()
        path = f"{programs}{os.pathsep}{passed.get('PATH', os.defpath)}"
        return {**passed, "PATH": path, "VIRTUAL_ENV": str(programs.parent), "PYTHONNOUSERSITE": "1", **variables_of(self._spec, cell)}

    def _describe(self, slot: Slot, cell: Cell, attempt: int, stack: Outcome, folder: Path) -> None:
        _write(folder / "slot.json", {
            "format": "warehouse-campaign-slot", "format_version": FORMAT_VERSION, "campaign": self.campaign_id, "slot": slot.slot_id,
            "session": slot.session, "number": slot.number, "is_warmup": slot.is_warmup, "cell": cell.cell_id, "values": dict(cell.values),
            "attempt": attempt, "stack_digest": stack.stack_digest,
        })
        (folder / LOCK).write_text(stack.lock or "", encoding="utf-8")

    # -- handing over -------------------------------------------------------------------------------------------

    def _begin(self, slot: Slot) -> int:
        attempt = self.progress().attempts.get(slot.slot_id, 0) + 1
        began = canonical_json({"began_at": datetime.now(UTC).isoformat()})
        while not self._store.objects.create(attempt_key(self.campaign_id, slot.slot_id, attempt), began):
            attempt += 1
        return attempt

    def _hand_over_one(self, folder: Path, slot: Slot, attempt: int, seen: Mapping[str, Any], busy_s: float) -> None:
        if (folder / "recording.json").exists():
            report = ingest(plan_ingest(folder, self._ingestors), self._store, "wh matrix")
            problems = [*report.problems, *(problem for bundle in report.bundles for problem in bundle.problems)]
            if problems or not all(bundle.digest for bundle in report.bundles):
                raise problems[0] if problems else WarehouseError("WH403", "the recording is not in the store", str(folder))
        self._finish(slot, attempt, seen, busy_s)
        shutil.rmtree(folder, ignore_errors=True)

    def _finish(self, slot: Slot, attempt: int, seen: Mapping[str, Any], busy_s: float) -> None:
        ended = {key: seen.get(key) for key in ("status", "reason")}
        self._store.objects.create(done_key(self.campaign_id, slot.slot_id, attempt), canonical_json({**ended, "busy_s": busy_s}))

    def _hand_over(self) -> None:
        """What an earlier process on this machine had recorded whole and not handed over; the rest of what it left is removed."""
        done = self.progress().done
        for scratch in sorted(self._work.glob("scratch/*.*")):
            with self._leases.held(scratch.name.partition(".")[0]) as is_ours:
                if is_ours:
                    self._drop(scratch)
        for folder in sorted(self._work.iterdir()):
            slot_id, _, attempt = folder.name.rpartition(".")
            if not attempt.isdigit() or not slot_id:
                continue
            with self._leases.held(slot_id) as is_ours:
                if is_ours and (folder / "slot.json").exists() and slot_id not in done:
                    slot = _slot(json.loads((folder / "slot.json").read_text(encoding="utf-8")))
                    run = json.loads((folder / "run-01" / "run.json").read_text(encoding="utf-8"))
                    self._hand_over_one(folder, slot, int(attempt), {"status": run["status"]}, run["wall_s"])
                elif is_ours:
                    shutil.rmtree(folder, ignore_errors=True)

    # -- what the campaign and its stacks are, as evidence ------------------------------------------------------

    def _declare(self) -> None:
        folder = self._work / "declared"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        _write(folder / "campaign.json", {
            "format": "warehouse-campaign", "format_version": FORMAT_VERSION, "campaign": self.campaign_id,
            "spec": {**self._spec.document(), "spec_file": self._spec_file},
            **({"rerun": self._rerun} if self._rerun else {}),
            "files": {name: file_digest(place) for name, place in self._files.items()},
            "cells": [
                {"cell": cell.cell_id, "values": dict(cell.values), "is_baseline": cell.is_baseline, "stack": wanted(self._spec, cell).key}
                for cell in self.cells.values()
            ],
        })
        self._ingest(folder)

    def _stack(self, need: Wanted) -> Outcome:
        """The stack of a cell, resolved once for the campaign and built where it is not."""
        known = self._stacks.get(need.key)
        if known is None or (known.status == BUILT and not (self._environments / str(known.stack_digest)).exists()):
            self._uv = self._uv or Uv(self._environments.parent / "uv")
            self._stacks[need.key] = self._resolved(self._uv, need)
        return self._stacks[need.key]

    def _resolved(self, uv: Uv, need: Wanted) -> Outcome:
        outcome = self._agreed(uv, need)
        logs = {"resolve.log": outcome.log}
        if outcome.lock is not None:
            folder = self._environments / str(outcome.stack_digest)
            with in_use(folder):
                built = Outcome(BUILT, "") if folder.exists() else self._built(uv, folder, outcome.lock, need)
            logs["build.log"] = built.log
            outcome = Outcome(built.status, built.log, outcome.lock, outcome.stack_digest)
        self._state_stack(need, outcome, logs, uv.version())
        return outcome

    def _agreed(self, uv: Uv, need: Wanted) -> Outcome:
        """What is resolved for a stack: by the first runner on such a machine, for all of the campaign. An index may answer otherwise later."""
        key = lock_key(self.campaign_id, f"{need.key}-{sysconfig.get_platform()}-{platform.python_version()}")
        if not self._store.objects.exists(key):
            outcome = uv.resolve(need, self._spec.resolving)
            if outcome.lock is None:
                return outcome
            self._store.objects.create(key, canonical_json({"lock": outcome.lock}))
        lock = json.loads(self._store.objects.read(key))["lock"]
        return Outcome(RESOLVED, "", lock, stack_digest(lock, need.python))

    def _built(self, uv: Uv, folder: Path, lock: str, need: Wanted) -> Outcome:
        make_room(self._environments, MOST_ENVIRONMENT_BYTES, [str(known.stack_digest) for known in self._stacks.values()])
        return uv.build(folder, lock, need)

    def _state_stack(self, need: Wanted, outcome: Outcome, logs: Mapping[str, str], uv_version: str) -> None:
        resolving = self._spec.resolving
        index = need.index or resolving.index or os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL")
        folder = self._work / f"stack-{need.key}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        _write(folder / "stack.json", {
            "format": "warehouse-stack", "format_version": FORMAT_VERSION, "campaign": self.campaign_id, "stack": need.key, "status": outcome.status,
            "reason": outcome.reason, "stack_digest": outcome.stack_digest, "python": need.python, "requirements": list(need.requirements),
            "locked_packages": None if outcome.lock is None else len(locked(outcome.lock)),
            "resolving": {
                **asdict(resolving), "index": index and shown(index), "torch_backend": need.torch_backend or resolving.torch_backend,
                "platform": sysconfig.get_platform(),
            },
            "tool_version": uv_version,
        })
        if outcome.lock is not None:
            (folder / LOCK).write_text(outcome.lock, encoding="utf-8")
        for name, log in logs.items():
            if log and outcome.status in (NOT_RESOLVED, NOT_BUILT):
                (folder / name).write_text(log, encoding="utf-8")
        self._ingest(folder)

    def _ingest(self, folder: Path) -> None:
        report = ingest(plan_ingest(folder, self._ingestors), self._store, "wh matrix")
        if report.problems:
            raise report.problems[0]
        shutil.rmtree(folder)


def _recorded(asked: Mapping[str, Any]) -> tuple[int, str]:
    """Record a run by a process of its own. Returns its exit code, and the last line that it said on standard error."""
    recorder = [sys.executable, "-P", "-m", "warehouse.campaign.slot"]
    with subprocess.Popen(recorder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            _, log = process.communicate(json.dumps(asked))
        except KeyboardInterrupt:  # it was interrupted, too, and ends the command
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
            process.kill()
            raise
    return process.returncode, log.strip().rpartition("\n")[2][-300:]


def _not_here(spec: Spec, cells: Mapping[str, Cell]) -> set[str]:
    """The cells whose GPU driver this machine does not have: it is chosen by the machine."""
    names = [factor.name for factor in spec.factors if factor.kind == DRIVER]
    here = {gpu["driver_version"] for gpu in gpus() or ()} if names else set()
    return {cell.cell_id for cell in cells.values() if any(cell.values[name] not in here for name in names)}


def _listed(cells: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"cell": cell, "value": value} for cell, value in cells.items()]


def _slot(document: Mapping[str, Any]) -> Slot:
    return Slot(document["session"], document["cell"], document["number"], document["is_warmup"])


def _write(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
