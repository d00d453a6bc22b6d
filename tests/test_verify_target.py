"""What `wh verify` takes for a publication's digest: all of it, or a beginning that no other publication's has."""

from __future__ import annotations

import re

import pytest
from bare_project import write
from conftest import WhOn
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publication_with
from warehouse.claims.publish.publish import publish
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project import Project
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
    assert "no published or built cell carries it" in wh_on(project, "verify", number)[2]
