"""`wh pull`."""

from __future__ import annotations

import argparse

from warehouse.cli.push import add_shared_arguments, move
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared_arguments(parser)


def run(args: argparse.Namespace) -> ExitCode:
    return move(args, is_pull=True)
