"""How serious an issue is: disagreements by their size, placeholders, and that no note hides an error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warehouse.landing.contract import ISSUE_TABLE
from warehouse.landing.readers.text import MAX_ISSUES, Report
from warehouse.landing.rows import RowBuffer
from warehouse.landing.severity import SEVERITIES, disagreement, identity_issue

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("stated", "found", "severity", "apart"),
    [
        (100.0, 99.0, "note", "1 % apart"), (99.0, 100.0, "note", "1 % apart"), (100, 95, "note", "5 % apart"),
        (1.0, 1.0, "note", "0 % apart"), (0.0, 0.0, "note", "0 % apart"), (-1.0, -1.001, "note", "0.1 % apart"),
        (100.0, 94.0, "warning", "6 % apart"), (100.0, 50.0, "warning", "50 % apart"),
        (7.0, 1.0, "error", "a factor of 7 apart"), (0.001, 1.0, "error", "a factor of 1e+03 apart"),
        (100.0, 49.0, "error", "a factor of 2.04 apart"), (0.0, 3.0, "error", "one of them is 0"),
        (-3.0, 3.0, "error", "of opposite signs"), (1e308, 1e-320, "error", "a factor of inf apart"),
    ],
)
def test_a_disagreement_is_as_serious_as_it_is_large(stated: float, found: float, severity: str, apart: str) -> None:
    assert disagreement(stated, found) == (severity, apart)
    assert disagreement(found, stated) == (severity, apart)


@pytest.mark.parametrize("name", ["SUBMISSION_ORG_PLACEHOLDER", "", " ", "-", "N/A", "None", "unknown", "<submitter>", "${ORG}", "[your name]"])
def test_a_placeholder_is_a_note(name: str) -> None:
    issue = identity_issue("submitter", name, "Acme")
    assert issue and (issue[0], issue[2]) == ("submitter-placeholder", "note") and "Acme" in issue[1]


def test_the_same_name_otherwise_written_is_no_issue_and_another_name_is_a_warning() -> None:
    assert [identity_issue("submitter", name, "Red_Hat") for name in ("Red Hat", "RedHat", " red-hat ", None)] == [None] * 4
    issue = identity_issue("submitter", "AMD", "MiTAC")
    assert issue and (issue[0], issue[2]) == ("submitter-mismatch", "warning")


def test_many_notes_hide_no_error() -> None:
    buffer = RowBuffer({}, "digest")
    report = Report(buffer, "file.json", None)
    for _ in range(2 * MAX_ISSUES):
        report("aggregate-disagrees", "1 % apart", severity="note")
    report("aggregate-disagrees", "a factor of 7 apart", severity="error")
    rows = [row for table, batch in buffer.rest() if table == ISSUE_TABLE for row in batch.to_pylist()]
    assert [row["severity"] for row in rows] == ["note"] * MAX_ISSUES + ["error"]


def test_every_ingestor_raises_only_known_severities() -> None:
    model = (REPOSITORY / "models" / "facts" / "ingest_issue.sql").read_text()
    assert f"accepted_values: [{', '.join(SEVERITIES)}]" in model
    for path in [*(REPOSITORY / "ingest").rglob("*.py"), *(REPOSITORY / "warehouse" / "landing").rglob("*.py")]:
        for severity in re.findall(r'severity(?:: str)? ?= ?"(\w+)"', path.read_text()):
            assert severity in SEVERITIES, path


def test_each_ingestor_grades_aggregates_with_the_one_rule() -> None:
    for path in (REPOSITORY / "ingest").rglob("*.py"):
        text = path.read_text()
        if re.search(r"(?<!accelerator-count)-disagrees?\"", text):  # counts of accelerators are no measurements
            home = "".join(other.read_text() for other in path.parent.glob("*.py"))
            assert "from warehouse.landing.severity import" in home and "disagreement(" in home, path
