"""`wh publish`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.completion import query_names
from warehouse.cli.output import counted, is_verbose, next_step, notice, print_json, say, step_bar
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.trace.determinism import Determinism


class Standing(StrEnum):
    """As what a publication goes out."""

    PROVISIONAL = "provisional"


PAGE = "docs/models.md"
EXAMPLES = ("wh publish serving_results", "wh publish indicator_results --as provisional", "wh publish indicator_results --as provisional --json")
_LEFT_OUT = 3  # lines of rows that are left out
INTERRUPTED = "nothing is published; run the same command again"


def command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="the query spec's name", autocompletion=query_names)],
    sign: Annotated[
        str | None, typer.Option(metavar="KEY", help="sign it: a private key's file, or a name that was given to wh keygen")
    ] = None,
    published_as: Annotated[
        Standing | None, typer.Option("--as", help="publish also what the policy does not let pass; every number says what it is worth")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the publication as JSON")] = False,
) -> ExitCode:
    """Runs the query again, traces every row to its bytes and hashes them, before anything is frozen."""
    from warehouse.claims.publish.publish import publish
    from warehouse.cli.serving.run_validity import runs_validity, validity_document, validity_lines
    from warehouse.evidence.signing.keys import load_signing_key
    from warehouse.project.project import find_project

    project = find_project()
    key = load_signing_key(sign) if sign else None
    with step_bar() as on_step:
        publication = publish(project, query, key, on_step, as_provisional=published_as is not None)
    validity = runs_validity(project, publication.runs)
    if as_json:
        print_json(
            {
                "publication": publication.digest,
                "query": publication.query,
                "query_spec_digest": publication.query_spec_digest,
                "rows": publication.rows,
                "numbers": publication.numbers,
                "is_new": publication.is_new,
                "bundles_not_in_build": publication.unseen,
                "signed_by": key.public.key_id if key else None,
                "policy": publication.judged.policy.reference,
                "verdicts": dict(publication.judged.verdicts),
                "left_out": list(publication.left_out),
                "validity": validity_document(validity),
                "columns": {name: column.document() for name, column in publication.columns.items()},
            }
        )
        return ExitCode.OK
    state = "published" if publication.is_new else "published before, nothing changed"
    claimed = len(publication.judged.numbers)
    of_them = f", {claimed:,} of them claimed" if 0 < claimed < publication.numbers else ""
    notice(f"{publication.query}: {counted(publication.rows, 'row')}, {counted(publication.numbers, 'number')}{of_them}, {state}")
    for line in _exactness(publication.columns):
        notice(line)
    for verdict, count in publication.judged.verdicts.items():
        notice(f"{verdict}: {counted(count, 'claimed number')} by policy {publication.judged.policy}")
    for line in publication.left_out[:_LEFT_OUT]:
        notice(line)
    if (more := len(publication.left_out) - _LEFT_OUT) > 0:
        notice(f"and {more} more: --json lists all, under left_out")
    for line in validity_lines(validity)[: None if is_verbose() else 1]:
        notice(line)
    if validity and not is_verbose():
        notice("which rules they break, and what to record: wh validity")
    if publication.unseen:
        bundles = counted(publication.unseen, "bundle that arrived after the build is", "bundles that arrived after the build are")
        notice(f"{bundles} not in it; to include {'it' if publication.unseen == 1 else 'them'}: wh build")
    if key:
        notice(f"signed by key {key.public.name} ({key.public.key_id[:12]})")
    notice(f"query_spec_digest {publication.query_spec_digest}")
    say(publication.digest)
    next_step(f"wh verify {publication.digest[:12]}", "replays every number of it")
    return ExitCode.OK


def _exactness(columns: "Mapping[str, Determinism]") -> Iterator[str]:
    """How exactly a replay must give the columns; with --verbose each column with the reason."""
    if is_verbose():
        names_of: dict[str, list[str]] = {}
        for name, column in columns.items():
            names_of.setdefault(f"{column}" + (f", within {column.tolerance:g}" if column.tolerance else ""), []).append(name)
        yield from (f"{how}: {', '.join(names)}" for how, names in names_of.items())
        return
    from warehouse.trace.determinism import EXACT

    within = Counter(column.tolerance for column in columns.values() if column.tolerance)
    ways = [f"{counted(sum(column.determinism == EXACT for column in columns.values()), 'column')} to the last bit"]
    ways += [f"{count} within {tolerance:g} because floats were added" for tolerance, count in within.items()]
    yield f"a replay must give {', '.join(ways)}; -v lists them"
