"""Bills of materials and known vulnerabilities: what lands of each format, and which stacks of a campaign an OSV file names."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import campaign, sbom
from standard import standard_project

from warehouse.cli.main import main
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sbom")
    project = standard_project(folder / "project")
    campaign.write_all(folder / "evidence")
    sbom.write_all(folder / "evidence")
    files = {
        "other-version": sbom.osv("numpy", ["1.0"], "EXAMPLE-2026-2"), "ranges": sbom.osv("numpy", [], "EXAMPLE-2026-3"),
        "withdrawn": sbom.osv("numpy", ["2.1.3"], "EXAMPLE-2026-4", withdrawn="2026-04-01T00:00:00Z"),
        "elsewhere": sbom.osv("numpy", ["2.1.3"], "EXAMPLE-2026-5", affected=[{"package": {"ecosystem": "npm", "name": "numpy"}, "versions": ["2.1.3"]}]),
        # The second statement of an entry counts: its version is fixed there.
        "old": sbom.osv("numpy", ["2.1.3"], "EXAMPLE-2026-6"), "new": sbom.osv("numpy", ["2.1.2"], "EXAMPLE-2026-6", modified="2026-05-01T00:00:00Z"),
    }
    for name, document in files.items():
        sbom.write(folder / "evidence", f"{name}.json", document)
    for line in (["ingest", str(folder / "evidence")], ["build"]):
        assert main(["--project", str(project.root), *line]) == 0
    return current_build(project).path


def rows(path: Path, sql: str) -> list[tuple]:
    con = open_build(path)
    try:
        return con.execute(sql).fetchall()
    finally:
        con.close()


def test_what_a_bill_a_lock_or_an_image_lists_is_in_the_same_table(built: Path) -> None:
    found = rows(built, "select stated_as, component, version from software_package_dim order by all")
    assert found == [
        ("numpy==2.1.3", "numpy", "2.1.3"),  # of the lock
        ("openblas==0.3.27", "openblas", "0.3.27"),  # within another component
        ("pkg:pypi/numpy@2.1.3", "numpy", "2.1.3"), ("pkg:pypi/numpy@2.1.3", "numpy", "2.1.3"),
        ("tool-without-version", "tool-without-version", None),
    ]
    names = rows(built, "select software_stack from software_version_dim where software_stack is not null order by all")
    assert names == [("trainer",), ("trainer-image",)]
    assert rows(built, "select stack_digest, package, version, sha256s from stack_package") == [("cd" * 32, "numpy", "2.1.3", f'["{"ab" * 32}"]')]


def test_only_entries_that_list_the_version_affect_a_stack_and_those_without_a_list_say_so(built: Path) -> None:
    found = rows(built, "select vulnerability_id, is_affected from stack_vulnerability order by all")
    assert found == [("EXAMPLE-2026-1", True), ("EXAMPLE-2026-2", False), ("EXAMPLE-2026-3", None), ("EXAMPLE-2026-6", False)]
