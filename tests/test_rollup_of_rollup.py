"""A query spec that reads another rollup is published, verified and packed as any other."""

from __future__ import annotations

from pathlib import Path

from bare_project import write
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.verification import verify_all, verify_number
from warehouse.project.project import Project
from warehouse.transform.build.build import build

SUMS = "select key, sum(value) as total, count(*) as n from reading group by key"


def over_a_rollup(root: Path) -> Project:
    project = values_project(root / "project", SUMS)
    write(project, {
        "queries/shares.sql": "/*\ngrain: [key]\n*/\nselect key, total / sum(total) over () as share from claim",
        "queries/top.sql": "/*\ngrain: [key]\n*/\nselect c.key, c.total, s.share from claim c join rollup.shares s using (key) where share > 0.5",
    })  # fmt: skip
    take_in(project, value_files(root / "in", "a=1.5\na=2.25\n", "a=4\n", "b=2\n"))
    build(project)
    return project


def test_a_rollup_of_rollups_verifies(tmp_path: Path) -> None:
    project = over_a_rollup(tmp_path)
    for query in ("shares", "top"):
        publish(project, query)
    assert verify_number(project, "top[key=a].share").state == "verified"
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}


def test_its_packet_verifies(tmp_path: Path) -> None:
    project = over_a_rollup(tmp_path)
    publish(project, "shares")
    assert write_packet(project, "shares[key=b].share", tmp_path / "p.tar").state == "verified"
    assert verify_packet(tmp_path / "p.tar", project).state == "verified"
