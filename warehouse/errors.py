"""One exception, one table of codes, one enum of exit statuses.

Every failure a user can cause or meet is a `WarehouseError` with a stable code, the place it happened
and, where there is one, the way out. Nothing in the library prints; the command line does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum

from warehouse.address import shown


class ExitCode(IntEnum):
    """What `wh` returns to the shell; `EXIT_CODES` has the meanings."""

    OK = 0
    FAILED = 1
    USAGE = 2
    TAMPERED = 3
    MISSING = 4
    NOT_FOUND = 5
    AMBIGUOUS = 6
    INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


EXIT_CODES: dict[ExitCode, str] = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "the work could not be done; standard error says why",
    ExitCode.USAGE: "the command line was wrong",
    ExitCode.TAMPERED: "stored bytes differ from their digest",
    ExitCode.MISSING: "stored bytes that a number needs are not there",
    ExitCode.NOT_FOUND: "nothing has that name, number or key",
    ExitCode.AMBIGUOUS: "several things have it; they are listed",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C; standard error says how to continue",
}


CODES: dict[str, str] = {
    # project
    "WH001": "no project found here or in a parent folder",
    "WH002": "the project file is not valid",
    "WH003": "the folder already holds a project",
    "WH004": "a path that must exist does not",
    "WH005": "the operating system refused",
    "WH006": "an optional package is not installed",
    "WH007": "nothing can be started from a file",
    # evidence
    "WH101": "nothing to ingest under this path",
    "WH102": "a file could not be read and was left out",
    "WH103": "a path leaves its bundle or is not normalised",
    "WH104": "a link or special file was left out",
    "WH105": "stored bytes differ from their digest",
    "WH106": "stored bytes are missing",
    "WH107": "a manifest is not valid",
    "WH108": "a file changed while it was read",
    "WH109": "the store could not be written",
    "WH110": "a key cannot be used",
    "WH111": "nothing that can be signed has this name",
    "WH112": "evidence was removed by retention policy",
    "WH113": "a signature is invalid",
    "WH114": "the store cannot be reached or used",
    "WH115": "a file is larger than the store takes",
    "WH116": "evidence is being removed, or is in use, by another process",
    "WH117": "nothing in the store accounts for an object",
    "WH118": "the ledger has no event about an object of the store",
    "WH119": "no digest covers an object (a warning)",
    # ingestors and landing
    "WH120": "several ingestors claim the same run of a file",
    "WH121": "an ingestor is not valid",
    "WH122": "no ingestor has this name, or it claims no file here",
    "WH123": "a landing batch is damaged",
    "WH124": "a parsing process ended before its work was done",
    "WH125": "a run declaration breaks rules",
    "WH126": "a crash left something in the store (a warning)",
    "WH127": "no check was interrupted, so none can be resumed",
    "WH128": "two stores have different bytes under one key",
    "WH129": "the store can only be read",
    "WH130": "an event was inserted into the ledger with an earlier time",
    "WH131": "fields of a BenchmarkRun that cannot be rendered: unknown, missing or not allowed",
    # models
    "WH201": "a model's header is not valid",
    "WH202": "a model's SQL could not be parsed",
    "WH203": "a table that no model, feed or landing table provides",
    "WH204": "a model does not bind: unknown column, function or type",
    "WH205": "two models have the same name",
    "WH206": "models depend on each other in a circle",
    "WH207": "a model's columns differ from its contract",
    "WH208": "a feed is not valid",
    "WH209": "a model failed while it was built",
    "WH210": "a test on the built tables failed",
    "WH211": "there is no build yet",
    "WH212": "another build is running",
    "WH213": "the query could not be run",
    "WH214": "no kept build, or more than one, has this digest",
    "WH215": "a query reached a limit of time, memory, temporary files or rows",
    "WH218": "a build's database was altered",
    "WH219": "a model that nothing reads (a warning)",
    "WH220": "a file source cannot be read or tracked",
    "WH221": "an incremental model is not local to its key",
    "WH222": "an input changed while it was read",
    "WH223": "an incremental build differs from a full one",
    "WH225": "the selection matches no model",
    "WH226": "a model's result does not depend on its inputs alone",
    "WH227": "the folder for the documentation contains something else",
    "WH228": "lineage events could not be delivered",
    "WH229": "a label that hot metrics must not have",
    "WH230": "a hot metric is not valid",
    "WH240": "a unit test is not valid",
    "WH241": "no test, and no model with tests, has this name",
    "WH242": "no failing rows are kept",
    # work of a build elsewhere
    "WH251": "an engine could not finish a task",
    "WH252": "a worker has other versions than the build",
    "WH253": "an engine cannot be used",
    "WH254": "tasks in a file wait to be run, or the file has none",
    # claims
    "WH301": "no query spec has this name",
    "WH302": "a query spec's rows are not unique at its grain",
    "WH303": "the query, run again or replayed from the evidence, yields another result than the build's rollup",
    "WH304": "no number matches",
    "WH305": "several numbers match",
    "WH306": "the SQL uses a construct that cannot be traced",
    "WH307": "a publication is damaged",
    "WH308": "a number depends on no evidence",
    "WH309": "a query cannot be replayed here",
    "WH310": "a number cannot be packed",
    "WH311": "the runs left out of a number cannot be determined",
    "WH312": "evidence is not signed as the project requires",
    "WH313": "the query depends on a run that is retracted or superseded",
    "WH314": "nothing can be decided about a run",
    "WH315": "the query's policy does not let its numbers be published",
    "WH316": "a policy is not valid",
    "WH317": "a query's claim does not fit its tables",
    "WH318": "a publication cannot be corrected so",
    "WH319": "a query has no rows to publish",
    # recorder
    "WH401": "the command could not be started",
    "WH402": "the spec of a campaign is not valid",
    "WH403": "the campaign stopped before its plan was done",
    "WH404": "the state of a package index cannot be had",
    # what changed
    "WH501": "no table has the measurements that are asked about",
    "WH502": "no measured run is meant",
    "WH503": "nothing can be decided about a finding",
    "WH504": "a series mixes values that cannot be compared",
    # serving
    "WH521": "no table has the load points, or the requests, that are asked about",
    "WH522": "no point is meant, or it has no such axis",
    # hot metrics
    "WH531": "hot metrics would have more series than their budget",
    "WH532": "two rows of a hot metric have the same labels",
    "WH533": "the start of runs is not known, so recent runs cannot be distinguished from old ones",
    # explanations
    "WH541": "a playbook is not known, or one of its checks is not valid",
    # exports
    "WH551": "an experiment tracker did not take a run",
    # notices
    "WH561": "a notice was not delivered",
    # surfaces
    "WH601": "a request cannot be read",
    "WH602": "a token is needed, or is not valid",
    "WH603": "a request comes from a place that is not allowed",
    "WH604": "there are too many requests",
    "WH605": "a query was ended before its last row",
    "WH610": "a report's scope names nothing that is published",
    "WH611": "a file is not a report that can be read",
    "WH612": "a report for partners would name what is ours",
}


@dataclass
class WarehouseError(Exception):
    """A failure with a code from `CODES`, a message, a place (`file:line:column`, a path or a key) and a hint. `also` are
    further failures of the same work: none a consequence of another, or told after it. None of it shows the password of a URL."""

    code: str
    message: str
    place: str | None = None
    hint: str | None = None
    exit_code: ExitCode = ExitCode.FAILED
    also: tuple["WarehouseError", ...] = ()

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown error code {self.code}")
        self.message = shown(self.message)
        self.place, self.hint = self.place and shown(self.place), self.hint and shown(self.hint)

    def __str__(self) -> str:
        where = f" {self.place}:" if self.place else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return "\n\n".join([f"{self.code}{where} {self.message}{hint}", *map(str, self.also)])


@contextmanager
def naming(path: object) -> Iterator[None]:
    """Give an error of the operating system the path that it happened at: one of writing or syncing an open file has none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def together(errors: Iterable[WarehouseError]) -> WarehouseError:
    """One error that carries all of `errors`, of which there is at least one, in the order of their places."""
    first, *rest = sorted(errors, key=by_place)
    return replace(first, also=tuple(rest))


def by_place(error: WarehouseError) -> tuple[str, list[int]]:
    """What to sort errors by: file, line, column."""
    file, *numbers = (error.place or "").split(":")
    return file, [int(number) for number in numbers if number.isdecimal()]


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint with the one of `known` that `word` is most likely a slip for; None when none is near."""
    import difflib  # 5 ms that only a fault needs

    by_lower = {name.lower(): name for name in known}
    # 0.65: `sped` finds `speed`, but `nosuch` does not find `cosh`.
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.65)
    return f"did you mean {by_lower[near[0]]}?" if near else None


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: 1 bundle, 2 bundles, 1,000 queries."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def printable(text: str) -> str:
    """`text` on one line, with control and invisible characters escaped: file names come from strangers and reach terminals."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def printable_lines(text: str) -> str:
    """The same for text of several lines, which may be indented by tabs."""
    return text if text.isprintable() else "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def place_of_byte(error: UnicodeDecodeError) -> str:
    """The `line:column` of the byte that is not UTF-8."""
    before = error.object[: error.start].decode("utf-8-sig")
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
