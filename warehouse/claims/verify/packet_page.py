"""The page of an audit packet that people read: what the number is, what it depends on, and how to check it. Plain text, and a
function of the packet's content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from warehouse.claims.gate.worth import PublishedWorth
from warehouse.claims.numbers.search import FoundCell
from warehouse.claims.publish.specification import Specification
from warehouse.errors import counted, printable
from warehouse.transform.project.claim import claim_of


def page(found: FoundCell, specification: Specification, bundles: Sequence[str], key_ids: Sequence[str]) -> str:
    """The page of one published cell; `bundles` are those in the packet, `key_ids` those of its signatures' keys."""
    return "\n".join(_lines(found, specification, bundles, key_ids)) + "\n"


def _lines(found: FoundCell, specification: Specification, bundles: Sequence[str], key_ids: Sequence[str]) -> Iterator[str]:
    cell = found.cell
    assert found.publication
    yield f"{cell.number_id}  {printable(str(cell.value))}"
    yield ""
    yield "This archive holds one published number and the raw evidence that it depends on. Check it, offline, with"
    yield ""
    yield "    wh verify FILE"
    yield ""
    yield "which hashes every file, parses the evidence into an empty database, runs the recorded SQL and compares the result"
    yield "bit by bit. It needs the versions that the spec records, and neither a store nor a project."
    yield ""
    yield f"cell         {printable(found.key)}"
    yield f"publication  {found.publication.digest}"
    worth = PublishedWorth(found.publication, claim_of(specification.document["document"]["claim"])).of(found.row, cell)
    yield f"worth        {worth}" + ("; published as provisional" if "published_as" in found.publication.record else "")
    yield from (f"             {each.told}: {printable(str(each))}" for each in worth.rules if not each.is_met)
    yield f"query spec   {specification.digest}"
    engine = specification.document["document"]["engine"]
    yield f"engine       {engine['name']} {engine['version']}"
    yield ""
    yield f"Runs ({len(cell.runs)}):"
    yield from (f"  {printable(str(run['run_id']))}" for run in cell.runs)
    yield ""
    yield f"Read from ({counted(len(cell.evidence), 'file')}, by the digest of their bundle's manifest):"
    for file in cell.evidence:
        spans = ", ".join(f"[{offset}, {offset + length})" for offset, length in file["ranges"])
        yield f"  {file['artifact_manifest_digest']}  {printable(file['raw_path'])}"
        yield f"    bytes {spans}  sha256 {file['sha256']}"
    if decisions := found.publication.record.get("decisions", ()):
        yield ""
        yield f"Decisions on runs that it was made with ({len(decisions)}), as events of the ledger:"
        yield from (f"  {decision['sha256']}  {printable(decision['key'])}" for decision in decisions)
    yield ""
    yield f"Bundles in this archive ({len(bundles)}):"
    yield from (f"  {digest}" for digest in bundles)
    yield ""
    yield f"Keys that signed some of it ({len(key_ids)}):"
    yield from (f"  {key_id}" for key_id in key_ids)
    if key_ids:
        yield "  Whose they are no archive can say. With a public key from its owner: wh verify FILE --trust KEYFILE"
    yield ""
    yield f"Models under the query ({len(specification.models)}), nearest first:"
    yield from (f"  {digest}  {name}" for name, digest in specification.models)
    yield ""
    yield "The query:"
    yield ""
    yield from wrap(specification.document["document"]["sql"], 116, initial_indent="    ", subsequent_indent="    ")
