"""`wh contracts`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import counted, first_of, notice, print_json, say, table_of_first
from warehouse.cli.program import usage
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.project.project import Project

PAGE = "docs/contracts.md"
_TABLES, _IDENTIFIERS, _MISSING = 9, 5, 2  # lines on a terminal
_EVERY = "wh contracts -v"
_RENDER = (
    "wh contracts render name=nightly benchmarkClass=realism_grade workloadType=inference schedulerPath=slurm cadence=nightly model=lab/decoder-7b"
    " precision=fp8 batchingPolicy=continuous concurrencyModel=closed_loop comparisonVariable=driver_stack inputTokens=1024 outputTokens=128"
    " layer=end_to_end suite=serve"
)
EXAMPLES = ("wh contracts", "wh contracts --json", _RENDER)


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[render FIELD=VALUE]", help="render a BenchmarkRun, with these fields", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the whole document as JSON; with render, the YAML in JSON")] = False,
) -> ExitCode:
    """Tables, identifiers, metrics, rules, policies and ingestors of this warehouse in one document, and what of it is missing here."""
    if words and words[0] != "render":
        raise usage("wh contracts takes no argument, or render FIELD=VALUE ...")
    from warehouse.project.project import find_project

    project = find_project()
    if words:
        return _render(project, words[1:], as_json=as_json)
    from warehouse.analysis.contracts.document import contracts_document, document_bytes

    document = contracts_document(project)
    if as_json:
        say(document_bytes(document).decode())
    else:
        _summarise(document)
    return ExitCode.OK


def _render(project: Project, words: list[str], *, as_json: bool) -> ExitCode:
    from warehouse.landing.declaration.generator import render_benchmark_run

    stated: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise usage(f"write it as FIELD=VALUE: {word}")
        if name in stated:
            raise usage(f"{name} is stated twice")
        stated[name] = value
    rendered = render_benchmark_run(project, stated)
    if as_json:
        print_json(
            {"applied_values": rendered.applied, "declared_spec_digest": rendered.declared_spec_digest, "rendered_yaml": rendered.text}
        )
    else:
        say(rendered.text.rstrip("\n"))
    notice(f"valid: declared_spec_digest {rendered.declared_spec_digest}")
    return ExitCode.OK


def _summarise(document: dict[str, Any]) -> None:
    notice(f"project {document['project']}, contract schema {document['schema_version']}, build {(document['build_digest'] or 'none')[:12]}")
    missing = {each["name"]: each["reason"] for each in document["missing"] if each["what"] == "table"}
    rows = [
        [name, "yes" if each["is_canonical"] else "", len(each["columns"]), len(each["tests"]), ", ".join(each["grain"]), missing.get(name, "")]
        for each in document["tables"] for name in [each["name"]]
    ]
    rows.sort(key=lambda row: (bool(row[5]), not row[1]))  # canonical ones first, and those that are missing last
    say(table_of_first(["table", "canonical", "columns", "tests", "grain", "missing"], rows, _TABLES, _EVERY))
    identifiers = [[each["name"], len(each["tables"]), each["means"]] for each in document["identifiers"]]
    say("\n" + table_of_first(["identifier", "tables", "means"], identifiers, _IDENTIFIERS, _EVERY))
    hot = document["hot_metrics"]
    say(f"\nhot metrics, allowed labels: {', '.join(hot['allowed_labels'])}")
    say(f"hot metrics, forbidden labels: {', '.join(hot['forbidden_labels'])}")
    sources = Counter(each["source"] or "wh" for each in hot["metrics"])
    say(f"hot metrics: {', '.join(f'{count} of {source}' for source, count in sorted(sources.items()))}")
    tiers = [f"{each['tier']} {counted(each['days'], 'day')}" for each in document["retention_tiers"]]
    policies = [f"{each['name']} {each['version']} ({counted(len(each['rules']), 'rule')})" for each in document["gate_policies"]]
    for heading, parts in (("retention", tiers), ("policies", policies)):
        say(f"{heading}: {', '.join(parts)}")
    say(f"ingestors: {len(document['ingestors'])}; wh ingestors lists them")
    say(f"metric definitions: {len(document['metric_definitions'])}")
    missing_lines = [f"missing: {each['what']} {each['name']}: {each['reason']}" for each in document["missing"] if each["what"] != "table"]
    for line in first_of(missing_lines, _MISSING, _EVERY):
        say(line)
    notice(f"{counted(len(document['missing']), 'thing is', 'things are')} missing; wh contracts --json prints the whole document")
