"""How `wh` parses its arguments, shows help and completes words: typer's classes, with the commands loaded one at a time.

A command's module has a function `command` that typer reads, `EXAMPLES` (command lines that run as they are), the documentation's `PAGE`, and
where it can be stopped halfway `INTERRUPTED`: what is kept, and how to go on.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer._click import Command as AnyCommand
from typer._click.exceptions import NoSuchOption, UsageError
from typer._click.parser import _OptionParser
from typer._click.shell_completion import CompletionItem
from typer._coercion import RuntimeParam, build_runtime_param
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from warehouse import __version__
from warehouse.cli.commands import COMMANDS, FIRST, GROUPS, module_of
from warehouse.cli.output import is_on_terminal, is_verbose, notice, set_output
from warehouse.errors import EXIT_CODES, ExitCode, WarehouseError, did_you_mean, printable_lines

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter, Parameter

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_NEGATIVE_NUMBER = re.compile(r"-\d+|-\d*\.\d+")
_WIDEST_EXAMPLE = 94
_INTERRUPTED = "nothing is left half done; run the command again"


class _Parser(_OptionParser):
    """Takes for arguments what only looks like options: a negative number, and text with spaces, such as SQL that begins with a comment.
    An option whose metavar is in brackets may be given without a value, which is then empty."""

    def _process_opts(self, arg: str, state: Any) -> None:
        name = arg.split("=", 1)[0]
        is_option = name in self._long_opt or arg[:2] in self._short_opt
        if not is_option and (_NEGATIVE_NUMBER.fullmatch(arg) or re.search(r"\s", arg)):
            state.largs.append(arg)
        else:
            super()._process_opts(arg, state)

    def _get_value_from_state(self, option_name: str, option: Any, state: Any) -> Any:
        if str(option.obj.metavar).startswith("[") and (not state.rargs or state.rargs[0].startswith("-")):
            return ""
        return super()._get_value_from_state(option_name, option, state)


@dataclass(frozen=True)
class _Value(RuntimeParam):
    """Takes text, and a default, as they are. Typer has pydantic look at every value, which takes 90 ms to import."""

    def _coerce_value(self, value: Any, param: Any, ctx: Context) -> Any:
        is_plain = isinstance(self.annotation, type) and self.parameter_info.parser is None
        if is_plain and (value == param.default or (self.annotation, type(value)) == (str, str)):
            return self.annotation(value)
        return build_runtime_param(param.type_descriptor)._coerce_value(value, param, ctx)


class _Parsing(AnyCommand):
    """What `wh` and its commands share: how arguments are parsed, and errors that name the command and the option that may be meant."""

    def make_parser(self, ctx: Context) -> _OptionParser:
        parser = _Parser(ctx)
        for param in self.get_params(ctx):
            param.add_to_parser(parser, ctx)
            if isinstance(param, TyperOption | TyperArgument):
                param._runtime_param = _Value(param.type_descriptor.parameter_info, param.type_descriptor.annotation)
        return parser

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            raise _in_context(error, self, ctx) from error.__cause__

    def get_help(self, ctx: Context) -> str:
        return printable_lines(super().get_help(ctx))


class Command(_Parsing, TyperCommand):
    """One command: its help ends with examples and the documentation's page."""

    page = ""
    examples: Sequence[str] = ()
    interrupted = _INTERRUPTED

    def invoke(self, ctx: Context) -> Any:
        if ctx.info_name != "init":
            _notice_other_project()
        try:
            return super().invoke(ctx)
        except UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        except KeyboardInterrupt:
            pass
        except RuntimeError as error:
            if str(error) != "Query interrupted":  # which is how DuckDB reports Ctrl-C while it runs a statement
                raise
        notice(f"interrupted: {self.interrupted}")
        return ExitCode.INTERRUPTED

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        arguments = [param for param in self.get_params(ctx) if isinstance(param, TyperArgument) and not param.hidden]
        return ["[OPTIONS]", *(_shown_name(param) if param.required else f"[{_shown_name(param)}]" for param in arguments)]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        params = self.get_params(ctx)
        shared = {name for param in _everywhere() for name in param.opts}
        _write_records(formatter, "Arguments", [(_shown_name(p), p.help or "") for p in params if isinstance(p, TyperArgument) and not p.hidden])
        options = [param for param in params if isinstance(param, TyperOption)]
        _write_options(ctx, formatter, "Options", [p for p in options if not shared.intersection(p.opts) and "--help" not in p.opts])
        _write_options(ctx, formatter, "Options of every command", [p for p in options if shared.intersection(p.opts) or "--help" in p.opts])

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
            for line in self.examples:
                formatter.write(f"  {_continued(line)}\n")
        formatter.write(f"\nMore: {self.page}\n")


class Program(_Parsing, TyperGroup):
    """`wh`: finds the module of a command when it is needed."""

    def list_commands(self, ctx: Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> AnyCommand | None:
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, AnyCommand | None, list[str]]:
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None and not ctx.resilient_parsing:
            hint = did_you_mean(name, COMMANDS) or "wh --help lists the commands"
            raise UsageError(f"there is no command {name!r}; {hint}", ctx)
        return (name if command else None), command, args[1:]

    def shell_complete(self, ctx: Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=summary) for name, summary in COMMANDS.items() if name.startswith(incomplete)]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        if is_on_terminal() and not is_verbose():
            with formatter.section("What people come for"):
                formatter.write_dl([(name.ljust(width), COMMANDS[name]) for name in FIRST])
            with formatter.section("All commands"):
                formatter.write_dl([(heading, ", ".join(commands)) for heading, commands in GROUPS.values()], col_max=40)
            formatter.write("\nwh -v --help describes all commands, options and exit codes.\n")
            return
        for heading, commands in GROUPS.values():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])
        _write_options(ctx, formatter, "Options", [param for param in self.get_params(ctx) if isinstance(param, TyperOption)])

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        if is_verbose() or not is_on_terminal():
            _write_records(formatter, "Exit codes", [(str(code.value), meaning) for code, meaning in EXIT_CODES.items()])
        formatter.write("\nwh COMMAND --help shows the options of a command, with examples.\n")


@cache
def load_command(name: str) -> Command:
    """The command of this name, whose module is imported for it."""
    module = importlib.import_module(module_of(name))
    app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
    details = getdoc(module.command)
    help = f"{COMMANDS[name][:1].upper()}{COMMANDS[name][1:]}." + (f"\n\n{details}" if details else "")
    app.command(name, cls=Command, help=help, context_settings=_SETTINGS)(module.command)
    command = typer.main.get_command(app)
    assert isinstance(command, Command)
    command.page, command.examples = module.PAGE, module.EXAMPLES
    command.interrupted = getattr(module, "INTERRUPTED", _INTERRUPTED)
    command.params += _everywhere()
    return command


@cache  # it is made in 10 ms, and a process may run many commands
def program() -> AnyCommand:
    """`wh` itself."""
    app = typer.Typer(cls=Program, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=_SETTINGS)
    app.callback(invoke_without_command=True, help="Published numbers that walk back to their raw bytes.")(_wh)
    return typer.main.get_command(app)


def usage(message: str) -> UsageError:
    """An error of the command line, for a command to raise: it is printed below the command's usage."""
    return UsageError(message)


def usage_text(error: typer.TyperException) -> str:
    """What is wrong with a command line, below the usage of its command."""
    message = (_value_fault(error) or error.format_message()).replace(": Value error, ", ": ")
    message = " ".join(re.sub(r"^Got unexpected extra argument\(s\) \((.*)\)$", r"unexpected: \1", message, flags=re.DOTALL).split())
    ctx = getattr(error, "ctx", None)
    if ctx is None:
        return message
    return f"{ctx.get_usage()}\n{ctx.command_path}: {message[:1].lower()}{message[1:].rstrip('.')}"


def _value_fault(error: typer.TyperException) -> str | None:
    """What is wrong with a number, which typer leaves to pydantic to word; None of other errors."""
    found = getattr(error.__cause__, "errors", None)
    if not (isinstance(error, typer.BadParameter) and error.param and found):
        return None
    fault = found()[0]
    given, limits = fault["input"], fault.get("ctx", {})
    words = {
        "int_parsing": f"{given!r} is not a whole number",
        "float_parsing": f"{given!r} is not a number",
        "finite_number": f"{given!r} is not a finite number",
        "greater_than_equal": f"{given} is less than {limits.get('ge')}",
        "less_than_equal": f"{given} is more than {limits.get('le')}",
    }
    return f"{'/'.join(error.param.opts)}: {words[fault['type']]}" if fault["type"] in words else None


# --- options of every command ------------------------------------------------------------------------------------


def _set_project(value: str | None) -> str | None:
    if value:
        os.environ["WH_PROJECT"] = value
        set_output(is_project_given=True)
    return value


def _quiet(value: bool) -> bool:
    if value:
        set_output(is_quiet=True)
    return value


def _verbose(value: bool) -> bool:
    if value:
        set_output(is_verbose=True)
    return value


def _log_file(value: Path | None) -> Path | None:
    if value:
        set_output(log=value)
    return value


def _option(*names: str, callback: Callable[[Any], Any], help: str, metavar: str | None = None, is_eager: bool = False) -> Any:
    return typer.Option(*names, callback=callback, expose_value=False, help=help, metavar=metavar, is_eager=is_eager)


_Project = Annotated[
    str | None, _option("--project", callback=_set_project, metavar="DIR", help="the project (default: WH_PROJECT, or the current folder and up)")
]
_Quiet = Annotated[bool, _option("--quiet", "-q", callback=_quiet, help="print data, warnings and errors only")]
_Verbose = Annotated[bool, _option("--verbose", "-v", callback=_verbose, help="print every detail", is_eager=True)]
_LogFile = Annotated[
    Path | None,
    _option("--log-file", callback=_log_file, metavar="FILE", help="append all that goes to standard error to this file, with the time in UTC"),
]


def _shared(project: _Project = None, quiet: _Quiet = False, verbose: _Verbose = False, log_file: _LogFile = None) -> None:
    """Never called: typer reads its parameters."""


def _everywhere() -> list[Parameter]:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(_shared)
    return typer.main.get_command(app).params


def _version(value: bool) -> None:
    if value:
        from warehouse.claims.own_code import code_digest
        from warehouse.cli.output import say

        say(f"wh {__version__} (code {code_digest()[:8]})")
        raise typer.Exit()


def _wh(
    ctx: typer.Context,
    project: _Project = None, quiet: _Quiet = False, verbose: _Verbose = False, log_file: _LogFile = None,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, expose_value=False, help="print the version")] = False,
) -> ExitCode | None:
    """`wh` alone."""
    if ctx.invoked_subcommand is not None:
        return None
    from warehouse.cli.evidence.status import first_steps

    return first_steps()


# --- what is printed ---------------------------------------------------------------------------------------------


def _in_context(error: UsageError, command: AnyCommand, ctx: Context) -> UsageError:
    """The error with the command whose usage it is about; an unknown option with the one that may be meant."""
    error.ctx = error.ctx or ctx
    if not isinstance(error, NoSuchOption):
        return error
    known = [name for param in command.get_params(ctx) for name in param.opts if name.startswith("--")]
    near = did_you_mean(error.option_name, known)
    hint = near or ("put -- before the command" if ctx.info_name == "record" else "")
    return UsageError(f"there is no option {error.option_name}" + (f"; {hint}" if hint else ""), ctx)


def _continued(line: str) -> str:
    """A command line as it can be typed, which goes on in further lines where it is longer than a screen is wide."""
    lines = [""]
    for word in shlex.split(line, posix=False) if len(line) > _WIDEST_EXAMPLE else ():
        if lines[-1] and len(lines[-1]) + len(word) > _WIDEST_EXAMPLE:
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines) if len(lines) > 1 else line


def _shown_name(param: TyperArgument) -> str:
    return param.display_name_raw + ("..." if param.nargs != 1 else "")


def _write_options(ctx: Context, formatter: HelpFormatter, heading: str, options: list[TyperOption]) -> None:
    records = [record for option in options if (record := option.get_help_record(ctx))]
    _write_records(formatter, heading, [(name, f"{help[:1].lower()}{help[1:].rstrip('.')}") for name, help in records])


def _write_records(formatter: HelpFormatter, heading: str, records: list[tuple[str, str]]) -> None:
    if records:
        with formatter.section(heading):
            formatter.write_dl(records)


def _notice_other_project() -> None:
    """Say which project answers where the current folder lies in another one."""
    from contextlib import suppress

    from warehouse.cli.output import is_project_given
    from warehouse.project.project import project_folder

    named = os.environ.get("WH_PROJECT")
    if not named or is_project_given():
        return
    with suppress(OSError, WarehouseError):  # of a current folder that is gone
        here, answers = project_folder(Path.cwd()), project_folder(Path(named).resolve())
        if here and answers and here != answers:
            notice(f"using the project {answers}, which WH_PROJECT names, not the one of the current folder, {here}")
