"""What `wh verify` accepts as its target: a publication's digest or the beginning of one, and a cell, of which the published number counts."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from bare_project import write
from conftest import WhOn
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publication_with
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.packet import write_packet
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.build import build

SUMS = "select key, sum(value) as total from reading group by key"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A claim that is published twice, under two names."""
    root = tmp_path_factory.mktemp("verify")
    project = values_project(root / "project", SUMS)
    write(project, {"queries/again.sql": (project.root / "queries" / "claim.sql").read_text()})
    take_in(project, value_files(root / "in", "a=1\n", "b=2\n"))
    build(project)
    return project


@pytest.fixture(scope="module")
def digests(project: Project) -> list[str]:
    return [publish(project, name).digest for name in ("claim", "again")]


def test_a_beginning_is_enough(project: Project, digests: list[str], wh_on: WhOn) -> None:
    common = next(length for length in range(64) if digests[0][:length] != digests[1][:length])
    for digest in digests:
        for target in (digest, f"sha256:{digest}", f"sha256:{digest[:common]}", f"sha256:{digest[:12]}"):
            assert wh_on(project, "verify", target) == (0, "", "2 verified\n")
        if re.search("[a-df]", digest[:12]):  # else it may be a number as printed
            assert wh_on(project, "verify", digest[:12]) == (0, "", "2 verified\n")


def test_a_beginning_that_nothing_has_is_not_found(project: Project, digests: list[str], wh_on: WhOn) -> None:
    unknown = next(letter for letter in "abcd" if letter not in (digests[0][0], digests[1][0])) * 9
    for target in (unknown, f"sha256:{unknown[0]}"):
        status, _, err = wh_on(project, "verify", target)
        assert status == ExitCode.NOT_FOUND and "no publication has a digest that begins so" in err


def test_a_beginning_of_several_names_them(project: Project, digests: list[str]) -> None:
    with pytest.raises(WarehouseError) as caught:
        publication_with(project, "")
    assert (caught.value.code, caught.value.exit_code) == ("WH305", ExitCode.AMBIGUOUS)
    assert all(digest in str(caught.value) for digest in digests)


@pytest.mark.parametrize("number", ["12345678", "1234567e1", "99999999.5", "1e3"])
def test_digits_alone_are_a_number(project: Project, digests: list[str], wh_on: WhOn, number: str) -> None:
    assert "no published or built cell holds it" in wh_on(project, "verify", number)[2]


# --- a cell --------------------------------------------------------------------------------------------------------

CELL = "claim[key=a].total"


@pytest.fixture
def built(tmp_path: Path) -> Project:
    """`CELL` is 1 in the current build, and not published."""
    project = values_project(tmp_path / "project", SUMS)
    take_in(project, value_files(tmp_path / "in", "a=1\n"))
    build(project)
    return project


def more_evidence(project: Project, value: int) -> None:
    take_in(project, value_files(project.root.parent / f"more {value}", f"a={value}\n"))
    build(project)


def document(wh_on: WhOn, project: Project, target: str, *options: str) -> dict[str, Any]:
    status, out, err = wh_on(project, "verify", target, "--json", *options)
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_published_cell_that_the_build_still_holds(built: Project, wh_on: WhOn) -> None:
    digest = publish(built, "claim").digest
    status, out, _ = wh_on(built, "verify", CELL, "--strict")
    assert status == 0 and "\n  verified: 1 raw file hashed" in out and "not published" not in out
    found = document(wh_on, built, CELL)
    assert (found["is_published"], found["publication"], found["now"], found["published_instead"]) == (True, digest, None, None)
    assert found["published_at"].startswith("20")
    (listed,) = (json.loads(line) for line in wh_on(built, "verify", "--all", "--json")[1].splitlines())
    assert listed == {**found, "reason": listed["reason"]}


def test_a_cell_that_was_never_published(built: Project, wh_on: WhOn) -> None:
    status, out, _ = wh_on(built, "verify", CELL)
    assert status == 0 and "\n  verified: this number is not published; 1 raw file hashed" in out
    found = document(wh_on, built, CELL)
    assert (found["state"], found["is_published"], found["publication"], found["published_at"]) == ("verified", False, None, None)
    assert (found["now"], found["published_instead"]) == (None, None)


def test_the_published_number_of_a_cell_counts_and_the_one_of_the_build_is_named(built: Project, wh_on: WhOn) -> None:
    digest = publish(built, "claim").digest
    old = document(wh_on, built, CELL)
    more_evidence(built, 2)
    status, out, _ = wh_on(built, "verify", CELL)
    assert status == 0 and out.startswith(f"{old['number_id']}  1.0  {CELL}\n  stale: 1 raw file hashed")
    assert wh_on(built, "verify", CELL, "--strict")[0] == ExitCode.FAILED
    found = document(wh_on, built, CELL)
    new = found["now"]
    assert (found["number_id"], found["publication"]) == (old["number_id"], digest)
    assert new == {"number_id": new["number_id"], "value": 3.0, "publication": None, "published_at": None}
    assert found["reason"].endswith(f"; the current build holds {new['number_id']} (3.0) in this cell, not published")

    # The build's number by its id: it reproduces, is not published, and what is published is named.
    built_one = document(wh_on, built, new["number_id"], "--strict")
    assert (built_one["state"], built_one["value"], built_one["is_published"]) == ("verified", 3.0, False)
    assert built_one["published_instead"] == {
        "number_id": old["number_id"], "value": 1.0, "publication": digest, "published_at": old["published_at"],
    }
    assert built_one["reason"].startswith(
        f"this number is not published; its cell was last published on {old['published_at']} (publication {digest[:12]})"
        f" with {old['number_id']} (1.0) (run: wh verify {old['number_id']}); 2 raw files hashed"
    )


def test_a_number_that_a_later_publication_replaced(built: Project, wh_on: WhOn) -> None:
    publish(built, "claim")
    old = document(wh_on, built, CELL)
    more_evidence(built, 2)
    later = publish(built, "claim").digest
    new = document(wh_on, built, CELL)
    assert (new["state"], new["value"], new["publication"]) == ("verified", 3.0, later)
    found = document(wh_on, built, old["number_id"])
    same = {"number_id": new["number_id"], "value": 3.0, "publication": later, "published_at": new["published_at"]}
    assert (found["state"], found["is_published"], found["now"], found["published_instead"]) == ("stale", True, same, same)
    assert found["reason"].endswith(f"in this cell, published on {new['published_at']} (publication {later[:12]})")


def test_a_published_cell_that_the_build_has_no_more(built: Project, wh_on: WhOn, tmp_path: Path) -> None:
    publish(built, "claim")
    write_packet(built, CELL, tmp_path / "a.tar")
    (built.root / "models" / "reading.sql").write_text("select * from value where key <> 'a'")
    build(built)
    assert "\n  stale: " in wh_on(built, "verify", CELL)[1] and "the current build no longer has this cell" in wh_on(built, "verify", CELL)[1]
    shutil.rmtree(built.builds)
    assert "there is no build to compare it with" in document(wh_on, built, CELL)["reason"]
    packed = document(wh_on, built, str(tmp_path / "a.tar"))
    assert packed["state"] == "verified" and packed["is_published"] and "no build" not in packed["reason"]


def test_a_cell_whose_last_publication_is_damaged_is_not_judged_by_an_older_one(built: Project, wh_on: WhOn) -> None:
    publish(built, "claim")
    more_evidence(built, 2)
    rows = built.store_root / "publications" / publish(built, "claim").digest / "rows.jsonl"
    rows.chmod(0o644)
    rows.write_bytes(rows.read_bytes().replace(b"a", b"b"))
    status, out, _ = wh_on(built, "verify", CELL)
    assert status == ExitCode.TAMPERED and "tampered: rows.jsonl differs from its digest" in out
