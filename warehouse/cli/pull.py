"""`wh pull`."""

from __future__ import annotations

import argparse

from warehouse.cli.push import add_arguments as add_arguments
from warehouse.cli.push import move
from warehouse.errors import ExitCode


def run(args: argparse.Namespace) -> ExitCode:
    return move(args, is_pull=True)
