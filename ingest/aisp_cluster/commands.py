"""What commands on a node printed (`..._meta.json`, `..._software_versions.json`): the output of each, whole. The environment that a
document also has does not land: it holds secrets."""

from __future__ import annotations

from warehouse.landing.readers.text import clean
from warehouse.landing.severity import NOTE

from .documents import Document
from .run import ClusterRun

_MAX_OUTPUT_CHARACTERS = 65_536


def is_commands(found: Document) -> bool:
    """Whether a document is one of commands."""
    commands = found.value("commands")
    return isinstance(commands, dict) and any(isinstance(each, dict) and "cmd" in each for each in commands.values())


def land_commands(cluster: ClusterRun, raw_path: str, document: str, node: str | None, found: Document) -> None:
    """Add a row a command. The label of the node belongs to its hostname, too."""
    for element in found.inside(found.pairs["commands"]):
        record = found.record(element)
        output = record.values.get("stdout")
        if output is not None and not isinstance(output, str):
            record.flag("not-a-text", f"{str(element.key)[:80]}: stdout")
            output = None
        elif output and len(output) > _MAX_OUTPUT_CHARACTERS:
            found.report.at("value-too-large", f"{str(element.key)[:80]}: {len(output)} characters", element, NOTE)
            output = None
        if node and output and element.key == "hostname":
            cluster.label_of.setdefault(clean(output).strip(), node)
        cluster.buffer.add(
            "aisp_command", raw_path, element.offset, element.length, cluster_run_id=cluster.id, node=node, document=document,
            name=str(element.key)[:256], exit_code=record.count("rc"), output=None if output is None else clean(output),
        )
