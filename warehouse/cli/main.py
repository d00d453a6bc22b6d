"""The `wh` command: arguments in, library calls, text out. stdout is data, everything else goes to stderr."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import typer

from warehouse.cli.output import STDOUT, refused, reset_output, warn
from warehouse.cli.program import program, usage_text
from warehouse.errors import ExitCode, WarehouseError, naming

_GARBAGE_THRESHOLD = 100_000
_COMPLETION = "_WH_COMPLETE"  # set by the completion of a shell


def run() -> NoReturn:
    """`wh` as a process of its own. It ends at once: everything to keep is closed by then, and taking apart an interpreter that has
    loaded DuckDB takes 40 ms."""
    # What is read and traced is kept until the end: looking for garbage after every 700 objects finds little, and took a tenth of the time.
    gc.set_threshold(_GARBAGE_THRESHOLD)
    # Nothing here multiplies matrices: the threads that numpy starts for it take 50 ms.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = main()
    with suppress(OSError):  # the reader has gone: nothing more can be written
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `wh` and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    reset_output()
    try:
        code = _run(arguments)
        with naming(STDOUT):
            sys.stdout.flush()
        return code
    except WarehouseError as error:
        warn(error)
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone (`wh sql ... | head`): nothing is wrong, and nothing more can be written.
        _drop_output()
        return int(ExitCode.OK)
    except OSError as error:
        warn(refused(error))
        _drop_output()
        return int(ExitCode.FAILED)


def _run(arguments: list[str]) -> int:
    wh = program()
    try:
        if os.environ.get(_COMPLETION):
            wh.main(arguments, prog_name="wh", complete_var=_COMPLETION, standalone_mode=False)
            return int(ExitCode.OK)
        with wh.make_context("wh", arguments) as context:
            return int(wh.invoke(context) or ExitCode.OK)
    except typer.Exit as end:  # --help and --version
        return end.exit_code
    except SystemExit as end:  # how typer ends after completions, and after --install-completion
        return end.code if isinstance(end.code, int) else int(ExitCode.OK)
    except typer.TyperException as error:
        warn(usage_text(error))
        return int(ExitCode.USAGE)


def _drop_output() -> None:
    """What is still in stdout's buffer cannot be written: Python must not try again at its end."""
    if not sys.stdout.closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    run()
