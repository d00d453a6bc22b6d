"""How a build is reported: a line a model while it runs, then what was built, how much in all, and where the time went."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from warehouse.cli.output import NO_MODELS, counted, is_verbose, notice, print_json, say, table
from warehouse.transform.build.stopwatch import Stopwatch

if TYPE_CHECKING:
    from warehouse.transform.build.build import BuildReport
    from warehouse.transform.build.session import ModelResult

_DONE = {"build": "built", "update": "updated", "empty": "empty", "drop": "dropped", "keep": "kept"}
_NOT_RUN = ("empty", "keep")
_SHOWN_MODELS = 10
_LISTED_MODELS = 20  # more than these are summarised if stderr is not a terminal


class BuildReporter:
    """Reports one build. On a terminal every model as it is done, except those that are kept or need not run."""

    def __init__(self) -> None:
        self._stopwatch = Stopwatch()
        self.began = self._stopwatch.began
        self._done: list["ModelResult"] = []
        self._is_live = sys.stderr.isatty()

    def built(self, model: "ModelResult") -> None:
        if model.action in _NOT_RUN:
            return
        self._done.append(model)
        self._line(model)

    def _line(self, model: "ModelResult") -> None:
        if self._is_live:
            rows = "" if model.rows is None else counted(model.rows, "row")
            keys = "" if model.keys is None else counted(model.keys, "key")
            notice(f"  {model.action:<6}  {model.name:<40} {keys:>12} {rows:>16} {model.seconds:8.2f} s")

    def unfinished(self) -> None:
        """After a failure or Ctrl-C: what need not be done again."""
        names = [model.name for model in self._done]
        if names:
            more = f" and {len(names) - _SHOWN_MODELS} more" if len(names) > _SHOWN_MODELS else ""
            notice(f"done before that: {', '.join(names[:_SHOWN_MODELS])}{more}; to continue: wh build --retry")

    def finished(self, report: "BuildReport", *, as_json: bool, has_profile: bool) -> None:
        for model in report.models:
            if model.action == "drop":  # reported only now
                self._line(model)
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
        return f"{', '.join(parts)} in {self._stopwatch.total():.1f} s"

    def _print(self, report: "BuildReport") -> None:
        changed = [model for model in report.models if model.action not in _NOT_RUN]
        # Where the same lines were shown just above, the table would only repeat them.
        if changed and not (self._is_live and sys.stdout.isatty()):
            if len(changed) <= _LISTED_MODELS or is_verbose():
                rows = [[model.name, model.action, model.rows, model.keys, model.seconds] for model in changed]
                say(table(["table", "action", "rows", "keys", "seconds"], rows))
            else:
                say(table(["schema", "action", "tables", "rows", "seconds"], _by_schema(changed)))
                notice(f"-v lists all {len(changed):,} tables")
        if not report.is_partial:
            say(report.build.path)


def _by_schema(models: "list[ModelResult]") -> list[list[object]]:
    found: dict[tuple[str, str], list["ModelResult"]] = {}
    for model in models:
        found.setdefault((model.name.partition(".")[0], model.action), []).append(model)
    return [
        [schema, action, len(done), sum(model.rows or 0 for model in done), sum(model.seconds for model in done)]
        for (schema, action), done in found.items()
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
