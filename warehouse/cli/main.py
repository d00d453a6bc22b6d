"""The `wh` command: arguments in, library calls, text out. stdout is data, everything else goes to stderr.

argparse, not typer: importing typer costs more than everything `wh --help` has to do (benchmarks/README.md).
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from warehouse import __version__
from warehouse.cli.output import notice, refused
from warehouse.errors import ExitCode, WarehouseError

# Each command is a module here with `add_arguments(parser)` and `run(args) -> ExitCode`, imported only when it runs:
# name, what it does. The modules that add arguments must stay cheap to import.
COMMANDS = {
    "init": "make a project in a folder",
    "record": "run a command under observation and keep it as evidence",
    "ingest": "copy evidence into the store and recognise it",
    "ingestors": "list the ingestors, the formats they read and the tables they fill",
    "validate": "hold a run declaration against its rules",
    "check": "find every fault of the models before a byte moves",
    "plan": "say what a build would do with every model, and why",
    "build": "bring facts, dimensions and rollups up to date",
    "builds": "list the builds that are kept",
    "test": "test the current build, or models on given rows without any data",
    "docs": "make the documentation site, and manifest.json for catalogues",
    "sql": "query the current build",
    "columns": "say what a column is computed from, down to the landing columns",
    "keygen": "make a pair of keys to sign with",
    "sign": "sign bundles of evidence, publications and decisions on runs",
    "publish": "freeze a rollup under its query_spec_digest",
    "lineage": "walk a number back to the bytes",
    "impact": "list the published numbers that rest on a run, bundle, file or model",
    "verify": "hash a number's raw files again, and replay it from them",
    "audit-packet": "pack a published number with all that it rests on",
    "retract": "say that a run counts no more, or that another stands in its stead",
    "reinstate": "take back that a run was retracted or superseded",
    "settle": "say which bundle is a run's evidence, where several state it differently",
    "note": "keep a word on a run in the ledger",
    "ledger": "list what arrived, was published and was decided, when and by whom",
    "fsck": "hold every object of the store against its digests and the ledger",
    "gc": "remove what crashes have left in the store",
    "push": "bring evidence, publications or a build to another store",
    "pull": "bring evidence, publications or a build from another store",
    "doctor": "try what the store promises, and say what protects it",
    "retention": "remove raw evidence past its age, but none that is needed",
}

_GARBAGE_THRESHOLD = 100_000
_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


def run() -> NoReturn:
    """`wh` as a process of its own: run it, and end at once. All that is to stay is closed by then, and to take an interpreter
    apart that has loaded DuckDB takes 40 ms."""
    # What is read and traced here is kept until the end: to look for garbage after every 700 objects finds little, and took a
    # tenth of the time.
    gc.set_threshold(_GARBAGE_THRESHOLD)
    # Nothing here multiplies matrices: the threads that numpy starts for it take 50 ms.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = main()
    with suppress(OSError):  # the reader has gone: nothing more can be said
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `wh` and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(arguments)
    args = parser.parse_args(arguments)
    if args.project:
        os.environ["WH_PROJECT"] = args.project
    elif args.command != "init":
        _notice_other_project()
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except WarehouseError as error:
        notice(error)
        return int(error.exit_code)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except RuntimeError as error:
        if str(error) != "Query interrupted":  # so DuckDB tells of Ctrl-C while it runs a statement
            raise
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`wh sql ... | head`): nothing is wrong, and nothing more can be said.
        _drop_output()
        return int(ExitCode.OK)
    except OSError as error:
        notice(refused(error))
        _drop_output()
        return int(ExitCode.FAILED)


def _notice_other_project() -> None:
    """Say which project answers where the current folder lies in another one."""
    if not (named := os.environ.get("WH_PROJECT")):
        return
    from pathlib import Path

    from warehouse.project import project_folder

    with suppress(OSError):  # of a current folder that is gone
        here, answers = project_folder(Path.cwd()), project_folder(Path(named).resolve())
        if here and answers and here != answers:
            notice(f"the project {answers} answers, as WH_PROJECT says, and not that of the current folder, {here}")


def _drop_output() -> None:
    """What is still in stdout's buffer cannot be written: Python must not try again at its end."""
    if not sys.stdout.closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _asked(arguments: Sequence[str]) -> str | None:
    """The command among the arguments: the first that is neither an option nor an option's value."""
    previous = ""
    for word in arguments:
        if not word.startswith("-") and previous != "--project":
            return word
        previous = word
    return None


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    codes = "\n".join(f"  {code.value}  {_meaning(code)}" for code in ExitCode)
    parser = argparse.ArgumentParser(
        prog="wh", description="Published numbers that walk back to their raw bytes.",
        epilog=f"exit codes:\n{codes}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"wh {__version__}")
    parser.add_argument("--project", metavar="DIR", help="the project (default: WH_PROJECT, or the current folder and up)")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = _asked(arguments)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name == asked:
            module = importlib.import_module(f"warehouse.cli.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _meaning(code: ExitCode) -> str:
    return {
        ExitCode.OK: "done",
        ExitCode.FAILED: "the work could not be done",
        ExitCode.USAGE: "the command line was wrong",
        ExitCode.TAMPERED: "stored bytes differ from their digest",
        ExitCode.MISSING: "stored bytes that a number needs are not there",
        ExitCode.NOT_FOUND: "nothing carries that name, number or key",
        ExitCode.AMBIGUOUS: "several things carry it; they are listed",
    }[code]


if __name__ == "__main__":
    run()
