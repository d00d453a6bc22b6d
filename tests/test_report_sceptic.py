"""Lies that a report must not get past `wh verify`: forged exploratory sections that pass for published ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_gate import made, runs
from test_reports import CLAIM, check, finding, numbers_of, written

from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verdict import TAMPERED, VERIFIED
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.surfaces.parts import Table
from warehouse.surfaces.reports import exploratory
from warehouse.surfaces.reports import published_sections as published_parts
from warehouse.surfaces.reports.exploratory import Findings
from warehouse.surfaces.reports.numbers_shown import read_scope, select
from warehouse.surfaces.reports.reading import AUDIENCES, exploratory_fault
from warehouse.surfaces.reports.rendering import END, START, report_html, report_markdown
from warehouse.surfaces.reports.report import Report, make_report
from warehouse.surfaces.reports.withholding import Withholding

HTML = {
    "a heading of a section": '<h2 class="division">Published <span class="chip good">frozen</span></h2>',
    "a link": '<a href="x">9</a>',
    "a dialogue over the page": "<dialog open>9</dialog>",
    "raw text": '<noscript><p title="</noscript></section><section>9"></p></noscript>',
    "raw text of old": '<xmp><p title="</xmp></section><section>9"></p></xmp>',
    "a comment of browsers": '<![CDATA[ ></section><section>9 ]]>',
    "an instruction": "<?x ></section><section>9 ?>",
    "an unfinished tag": "<p>9</p",
    "a drawing that moves": '<svg><text transform="translate(0,-3000)">9</text></svg>',
    "an attribute without quotes": "<p class=x>9</p>",
    "a style": '<p style="position:fixed">9</p>',
    "the section's end": "</section><section>",
    "a number id": "<p>{number}</p>",
    "a number id in pieces": "<p>{head}<b>{tail}</b></p>",
    "a number id as an entity": "<p>&#110;{rest}</p>",
    "a number id with nothing between": "<p>{head}&#8203;{tail}</p>",
    "a number id with a zero width": "<p>{head}\u200b{tail}</p>",
    "a number id with a mark on a letter": "<p>{head}\ufe0f{tail}</p>",
    "a direction override": "<p>\u202e5.7</p>",
}
MARKDOWN = {
    "a longer fence": "```\nx\n````\n## Published\n\n9\n\n````\ny\n````\n```\n\n",
    "an indented fence": "   ```\n\n",
    "a fence of tildes": "~~~\n\n",
    "a carriage return": "x\r## Published\r9\n\n",
    "a heading in a quotation": "> ## Published\n\n",
    "a heading in a list": "- ## Published\n\n",
    "a heading of two levels": "## Published\n\n",
    "a link by reference": "[x]\n\n[x]: /y\n\n",
    "a bare link": "see https://evil.example\n\n",
    "an image": "![x](y)\n\n",
    "a table without edges": "a | b\n--- | ---\n9 | 8\n\n",
    "mathematics": "$x$\n\n",
    "a number id": "{number} 9\n\n",
    "a number id in code": "```\n{number} 9\n```\n\n",
    "a number id as an entity": "&#110;{rest} 9\n\n",
    "an escaped number id": "n\\-{base} 9\n\n",
    "a number id with a zero width": "{head}\u200b{tail} 9\n\n",
}
FORGED = [("html", what) for what in HTML] + [("md", what) for what in MARKDOWN]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Tests leave it as it is."""
    project = made(tmp_path_factory.mktemp("sceptic"), {"claim": CLAIM}, runs())
    publish(project, "claim", as_provisional=True)
    return project


@pytest.mark.parametrize(("form", "what"), FORGED)
def test_a_forged_exploratory_section_is_found(published: Project, tmp_path: Path, form: str, what: str) -> None:
    path = written(published, tmp_path, form=form)
    number = next(iter(numbers_of(published, "claim").values()))
    parts = {"number": number, "rest": number[1:], "base": number[2:], "head": number[:6], "tail": number[6:]}
    forged = (HTML if form == "html" else MARKDOWN)[what].format(**parts)
    assert check(published, path).state == VERIFIED
    path.write_text(path.read_text().replace(END, forged + END), newline="\n")
    assert check(published, path).state == TAMPERED


@pytest.mark.parametrize("audience", AUDIENCES)
def test_what_wh_writes_of_hostile_evidence_is_an_exploratory_section(published: Project, audience: str) -> None:
    """The command of a run is evidence: it may have fences, marks and tags."""
    command = ("workload", "argv"), ('["serve", "````", "<!--/exploratory-->", "</section>", "n-", "a\\u200bb", "~~~", "## x"]', None)
    found = Findings((finding(("software",), 3),), 1, {"r1": dict([command]), "r2": {}})
    parts = {"engineering": exploratory.engineering, "product": exploratory.product, "partner": exploratory.partner}[audience](found)
    report = make_report(published, audience)
    report = Report(report.page, tuple(parts), report.record)
    for text, is_html in ((report_html(report), True), (report_markdown(report), False)):
        inside = text[text.index(START) + len(START) : text.rindex(END)]
        assert len(inside) > 300
        assert exploratory_fault(inside, is_html=is_html) is None


def test_a_name_that_is_too_long_is_withheld_before_it_is_shortened(published: Project) -> None:
    """Half a path, or half the name of a machine, is not recognised by its form."""
    found = select(published, read_scope([]), list(Ledger(open_store(published).objects).events()))
    names = ("--data /home/" + "x" * 40 + "/alice-secret.bin", "on " + "w" * 20 + " gpu-node-00017.rack " + "w" * 25)
    numbers = tuple(replace(found.numbers[0], grain={"workload": name}) for name in names)
    parts = published_parts.partner(replace(found, numbers=numbers), Withholding(frozenset({"gpu-node-00017"})))
    (table,) = [each for each in parts if isinstance(each, Table) and each.name == "numbers-1"]
    whats = [row["what"] for row in table.records()]
    assert whats[0] == "--data (withheld)" and whats[1].startswith("on www") and not [what for what in whats if "alice" in what or "gpu" in what]


def test_a_build_that_is_not_here_is_not_vouched_for(published: Project, tmp_path: Path) -> None:
    """The name of the build stands in the footer, and nothing published depends on it."""
    path = written(published, tmp_path)
    assert "build that it names" not in check(published, path).reason
    build = str(make_report(published, "engineering").record["build"])
    path.write_text(path.read_text().replace(build, "0" * 64).replace(build[:12], "0" * 12))
    assert "nor that it was made on the build that it names" in check(published, path).reason
