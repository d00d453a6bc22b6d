"""`wh token`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.output import notice, say, table
from warehouse.cli.program import usage
from warehouse.errors import ExitCode

PAGE = "docs/serve.md"
EXAMPLES = ("wh token new grafana", "wh token new ops --role admin", "wh token", "wh token revoke grafana")


def command(
    words: Annotated[list[str] | None, typer.Argument(metavar="[new|revoke NAME]", help="make a token, or end one", show_default=False)] = None,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="what a new token may do: read, or admin")] = "read",
) -> ExitCode:
    """List the tokens that wh serve accepts. A new token is printed once; only its digest is kept."""
    from warehouse.project.project import find_project
    from warehouse.surfaces.web.tokens import ROLES, Tokens

    if role not in ROLES:
        raise usage(f"there is no role {role!r}: {', '.join(ROLES)}")
    tokens = Tokens(find_project())
    match words or []:
        case []:
            found = tokens.all()
            if found:
                table(["name", "role", "made at"], [[each.name, each.role, each.made_at] for each in found])
            else:
                notice("there are no tokens: wh serve serves this machine alone")
        case ["new", name]:
            say(tokens.make(name, role))
            notice(f"keep it now: it is not shown again. Role: {role}")
        case ["revoke", name]:
            tokens.revoke(name)
            notice(f"{name} is not accepted any more")
        case _:
            raise usage("wh token takes no argument, new NAME, or revoke NAME")
    return ExitCode.OK
