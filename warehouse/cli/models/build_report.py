"""How a build is reported: what was built, how much in all, and where the time went; with --verbose each table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from warehouse.cli.output import NO_MODELS, counted, is_verbose, notice, print_json, progress_bar, say, table
from warehouse.transform.build.stopwatch import Stopwatch

if TYPE_CHECKING:
    from warehouse.scale.drive import Work
    from warehouse.transform.build.build import BuildReport
    from warehouse.transform.build.session import ModelResult

_DONE = {"build": "built", "update": "updated", "empty": "empty", "drop": "dropped", "keep": "kept"}
_TASKS = {"parse": "parsing", "model": "partitions"}
_NOT_RUN = ("empty", "keep")
_SHOWN_MODELS = 10
_SCHEMAS = 4
_LISTED_MODELS = 4  # more than these are summarised


class BuildReporter:
    """Reports one build, in at most eight lines unless --verbose lists the tables."""

    def __init__(self) -> None:
        self._stopwatch = Stopwatch()
        self.began = self._stopwatch.began
        self._done: list["ModelResult"] = []
        self._bar: Any = None  # made when the first model is done
        self._tasks: Any = None  # and when the first task is handed out

    def built(self, model: "ModelResult") -> None:
        if model.action in _NOT_RUN:
            return
        self._done.append(model)
        if self._bar is None:
            self._bar = progress_bar(None, " tables")
        self._bar.update(1)

    def worked(self, work: "Work") -> None:
        """Tasks that an engine did: a bar of them, and at the end what they cost."""
        if self._tasks is None and work.done < work.total:
            self._tasks = progress_bar(work.total, f" {_TASKS[work.kind]}")
        if self._tasks is not None:
            self._tasks.update(work.done - self._tasks.n)
        if work.done == work.total:
            self.close()
            before = f", {work.found:,} of them by an earlier build" if work.found else ""
            notice(f"{counted(work.total, 'task')} ({_TASKS[work.kind]}){before}: {work.seconds:.1f} s of workers")

    def close(self) -> None:
        """End the bars."""
        if self._tasks is not None:
            self._tasks.close()
        self._tasks = None
        if self._bar is not None:
            self._bar.close()
        self._bar = None

    def unfinished(self) -> None:
        """After a failure or Ctrl-C: what need not be done again."""
        self.close()
        names = [model.name for model in self._done]
        if names:
            more = f" and {len(names) - _SHOWN_MODELS} more" if len(names) > _SHOWN_MODELS else ""
            notice(f"done before that: {', '.join(names[:_SHOWN_MODELS])}{more}; to continue: wh build --retry")

    def finished(self, report: "BuildReport", *, as_json: bool, has_profile: bool) -> None:
        self.close()
        if as_json:
            print_json(_document(report, self._stopwatch.parts()))
        else:
            self._print(report)
        if has_profile:
            notice(_profile(report, self._stopwatch.parts()))

    def summary(self, report: "BuildReport") -> str:
        """What was done, in one line."""
        if report.is_restored:
            return "the same as an earlier build, which is current again"
        if not report.models:
            return NO_MODELS if report.is_new else "nothing changed"
        parts = []
        for action, word in _DONE.items():
            found = [model for model in report.models if model.action == action]
            keys = f" ({counted(sum(model.keys or 0 for model in found), 'key')})" if action == "update" else ""
            if found:
                parts.append(f"{len(found):,} {word}" if action == "empty" else f"{word} {len(found):,}{keys}")
        is_folded = sum(model.action not in _NOT_RUN for model in report.models) > _LISTED_MODELS and not is_verbose()
        return f"{', '.join(parts)} in {self._stopwatch.total():.1f} s{'; -v lists the tables' * is_folded}"

    def _print(self, report: "BuildReport") -> None:
        changed = [model for model in report.models if model.action not in _NOT_RUN]
        if changed and (len(changed) <= _LISTED_MODELS or is_verbose()):
            rows = [[model.name, model.action, model.rows, model.keys, model.seconds] for model in changed]
            say(table(["table", "action", "rows", "keys", "seconds"], rows))
        elif changed:
            say(table(["schema", "tables", "rows", "seconds", "done"], _by_schema(changed)))
        if not report.is_partial:
            say(report.build.path)


def _by_schema(models: "list[ModelResult]") -> list[list[object]]:
    """A row for each of the schemas that took the longest, and one for the others."""
    found: dict[str, list["ModelResult"]] = {}
    for model in models:
        found.setdefault(model.name.partition(".")[0], []).append(model)
    ranked = sorted(found.items(), key=lambda item: -sum(model.seconds for model in item[1]))
    shown = ranked if len(ranked) <= _SCHEMAS else ranked[: _SCHEMAS - 1]
    if others := ranked[len(shown) :]:
        shown = [*shown, (f"and {len(others)} more", [model for _, done in others for model in done])]
    return [
        [name, len(done), sum(model.rows or 0 for model in done), sum(model.seconds for model in done),
         ", ".join(f"{_DONE[action]} {count:,}" for action, count in Counter(model.action for model in done).items())]
        for name, done in shown
    ]


def _profile(report: "BuildReport", parts: dict[str, float]) -> str:
    """Two tables, of the parts of the build and of its models, the slowest first; the share is of the whole build."""
    whole = sum(parts.values())
    by_part = [[part, seconds, _share(seconds, whole)] for part, seconds in parts.items()]
    done = [model for model in report.models if model.action not in _NOT_RUN]
    by_model = [
        [model.name, model.action, model.rows, model.seconds, _share(model.seconds, whole)]
        for model in sorted(done, key=lambda model: -model.seconds)
    ]
    tables = [table(["part", "seconds", "share"], by_part)]
    if by_model:
        tables.append(table(["table", "action", "rows", "seconds", "share"], by_model))
    return "\n\n".join(tables) + "\n"


def _share(seconds: float, whole: float) -> str:
    return f"{seconds / whole:4.0%}"


def _document(report: "BuildReport", parts: dict[str, float]) -> dict[str, object]:
    return {
        "build_digest": None if report.is_partial else report.build.digest,
        "database": None if report.is_partial else str(report.build.path),
        "is_new": report.is_new,
        "models": [
            {
                "name": model.name,
                "action": model.action,
                "reason": model.reason,
                "rows": model.rows,
                "keys": model.keys,
                "seconds": round(model.seconds, 4),
            }
            for model in report.models
        ],
        "parts": {part: round(seconds, 4) for part, seconds in parts.items()},
        "damaged": [str(error) for error in report.damaged],
        "left_out": [{"table": found.table, "rows": found.rows, "bundles": found.bundles} for found in report.rejected],
    }
