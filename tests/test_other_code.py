"""A number whose evidence other code parses now, of another ingestor or version of wh: it is replayed all the same, and the verdict names both."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import WhOn
from forgery import Forgery, forge_record
from samples.values import VALUES_INGESTOR
from test_number_page import page_of
from test_other_engine import fact
from test_retrace import fewer_runs, published

from warehouse.claims.own_code import code_digest
from warehouse.claims.publish.publication import publications
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.verdict import Code
from warehouse.claims.verify.verification import verify_all, verify_number
from warehouse.project.project import Project, read_project
from warehouse.version import __version__

CELL = "claim[key=a].total"
NEXT = VALUES_INGESTOR.replace('"values", 1', '"values", 2')
LATER = "99.0.1"  # a version of wh


@pytest.fixture(scope="module")
def of_then(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return published(tmp_path_factory.mktemp("then"), files=("a=1\nb=5\nb=5\n", "a=2\n"))


@pytest.fixture
def project(of_then: Project, tmp_path: Path) -> Project:
    shutil.copytree(of_then.root, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another version of wh be installed here."""
    for module in ("landing.registry", "claims.verify.auditor", "claims.verify.retrace", "surfaces.views.claims.number"):
        monkeypatch.setattr(f"warehouse.{module}.__version__", LATER)


def test_a_number_is_verified_after_an_upgrade_and_says_so(
    project: Project, wh_on: WhOn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(monkeypatch)
    write_packet(project, CELL, tmp_path / "a.whp")
    for verdict in (verify_number(project, CELL), *verify_all(project), verify_packet(tmp_path / "a.whp", project)):
        assert verdict.state == "verified" and verdict.code == Code((f"wh {__version__}",), (f"wh {LATER}",))
        assert f", by other code: recorded with wh {__version__}, replayed with wh {LATER}" in verdict.reason and "pip" not in verdict.reason
    code, out, _ = wh_on(project, "verify", CELL, "--json", "--strict")
    assert code == 0 and json.loads(out)["code"] == {"recorded": [f"wh {__version__}"], "here": [f"wh {LATER}"]}
    code, out, err = wh_on(project, "verify", "--all", "--strict")
    assert (code, out) == (0, "") and f"4 verified (by other code: recorded with wh {__version__}, replayed with wh {LATER})" in err
    checked = fact(page_of(project, "verify", number_id=str(verify_number(project, CELL).number_id)), "code")
    assert (checked.value, checked.note) == (f"wh {__version__}", f"recorded; replayed with wh {LATER}")


def test_a_version_that_proves_more_confirms_what_was_promised(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def promise_less(forgery: Forgery) -> None:
        forgery.record["guarantees"]["G2"] = {"holds": "unknown", "established": "not established", "clauses": ["rollup.claim: LIMIT"]}

    [publication] = publications(project)
    forge_record(publication, promise_less)
    assert verify_number(project, CELL).state == "tampered"  # by the same version
    upgrade(monkeypatch)
    assert verify_number(project, CELL).state == "verified"


def test_another_version_of_an_ingestor_that_parses_the_same_verifies(project: Project) -> None:
    (project.root / "ingest" / "values.py").write_text(NEXT)
    for verdict in (verify_number(project, CELL), *verify_all(project)):
        assert verdict.state == "verified" and ", by other code: recorded with values 1, replayed with values 2" in verdict.reason


def test_other_code_of_the_same_version_is_named_by_its_digest(project: Project) -> None:
    (project.root / "ingest" / "values.py").write_text(VALUES_INGESTOR + "# a comment\n")
    verdict = verify_number(project, CELL)
    assert verdict.state == "verified" and verdict.code is not None
    assert [text.partition(" (code ")[0] for text in (*verdict.code.recorded, *verdict.code.here)] == ["values 1", "values 1"]
    assert verdict.code.recorded != verdict.code.here


def test_other_code_of_wh_is_named_by_its_digest(project: Project) -> None:
    """As in a checkout whose statistics were edited: the same is verified, another judgement is not reproduced, and accuses nobody."""
    [publication] = publications(project)
    forge_record(publication, lambda forgery: forgery.record.update(code="1234abcd" * 8))
    verdict = verify_number(project, CELL)
    recorded = f"wh {__version__} (code 1234abcd)"
    assert verdict.state == "verified" and verdict.code == Code((recorded,), (f"wh {__version__} (code {code_digest()[:8]})",))
    [publication] = publications(project)
    forge_record(publication, fewer_runs)
    verdict = verify_number(project, CELL)
    assert verdict.state == "not reproduced" and f"install the {recorded}, as `wh --version` prints it" in verdict.reason


def test_more_columns_of_an_ingestor_are_not_read(project: Project) -> None:
    more = NEXT.replace('pa.field("key"', 'pa.field("more", pa.int64()), pa.field("key"').replace("key=key,", "key=key, more=7,")
    (project.root / "ingest" / "values.py").write_text(more)
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}


def test_a_column_that_is_gone_cannot_be_replayed(project: Project) -> None:
    gone = NEXT.replace('pa.field("value"', 'pa.field("amount"').replace("value=float(value)", "amount=float(value)")
    (project.root / "ingest" / "values.py").write_text(gone)
    verdict = verify_number(project, CELL)
    assert verdict.state == "refused"
    assert "value has no column value of type double here: it was parsed by values 1, and is by values 2 now" in verdict.reason
    assert "to replay it with the code of then: put back the ingestor values 1" in verdict.reason


def test_another_value_by_other_code_is_not_reproduced_and_names_the_way_back(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.root / "ingest" / "values.py").write_text(NEXT.replace("float(value)", "float(value) * 2"))
    upgrade(monkeypatch)
    told = {verdict.key: verdict for verdict in (verify_number(project, CELL), *verify_all(project))}
    assert {verdict.state for verdict in told.values()} == {"not reproduced"}
    assert told[CELL].reason == (
        f"the replay gives 6.0; by other code here: recorded with wh {__version__}, values 1, replayed with wh {LATER}, values 2; to replay it"
        f' with the code of then: pip install "perf-warehouse=={__version__}", and put back the ingestor values 1'
    )


def test_a_value_that_is_parsed_no_more_is_not_reproduced(project: Project) -> None:
    (project.root / "ingest" / "values.py").write_text(NEXT.replace("in bundle.manifest.by_path:", "in ():"))
    verdict = verify_number(project, CELL)
    assert verdict.state == "not reproduced" and "the replay gives None; by other code here: recorded with values 1, " in verdict.reason


def test_other_code_accuses_nobody_and_confirms_no_lie(project: Project) -> None:
    [publication] = publications(project)
    forge_record(publication, fewer_runs)
    assert verify_number(project, CELL).state == "tampered"
    (project.root / "ingest" / "values.py").write_text(NEXT)
    verdict = verify_number(project, CELL)
    assert verdict.state == "not reproduced" and "states other runs than its evidence gives; by other code here" in verdict.reason


def test_a_publication_without_one_of_its_rows_is_not_whole_by_other_code_either(project: Project) -> None:
    [publication] = publications(project)
    forge_record(publication, lambda forgery: forgery.rows.pop())
    (project.root / "ingest" / "values.py").write_text(NEXT)
    *numbers, whole = verify_all(project)
    assert {verdict.state for verdict in numbers} == {"verified"}
    assert whole.state == "not reproduced" and "1 rows that it leaves out; by other code here" in whole.reason


def test_a_stranger_s_record_writes_no_command() -> None:
    for version in ("0.3.0\"; touch x", "0.3.0 --index-url x", "", "0.3.0\n"):
        assert "pip" not in Code((f"wh {version}",), ("wh 9.0.0",)).way_back
