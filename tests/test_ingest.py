"""`wh ingest`: what is handed over is stored or named, the same evidence is the same bundle, plug-ins stop nobody."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import unprivileged
from samples import mlperf_inference as sample
from stored import bundle_folder, root_of

from warehouse.cli.main import main
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.contract import ISSUE_TABLE, BundleDraft, DraftFile
from warehouse.landing.ingest import IngestReport, ingest, plan_ingest
from warehouse.landing.parse.refresh import refresh
from warehouse.landing.registry import find_ingestors, load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project

SCENARIOS = 5  # bundles in a sample submission

NOTES = '''
import pyarrow as pa
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import RowBuffer, landing_schema

class Notes:
    name = "{name}"
    version = 1
    tables = {{"{name}": landing_schema(pa.field("text", pa.string(), nullable=False))}}

    def bundles(self, tree):
        {on_bundles}
        for path, file in tree.files.items():
            if path.endswith(".note"):
                yield BundleDraft((DraftFile(path.rpartition("/")[2], file),), runs=(path,))

    def parse(self, bundle):
        for path in bundle.manifest.by_path:
            buffer = RowBuffer(self.tables, bundle.digest)
            text = bundle.read(path).decode()
            {on_parse}
            buffer.add("{name}", path, 0, len(text), text=text)
            yield from buffer.rest()

INGESTOR = Notes()
'''


@dataclass(frozen=True)
class Done:
    """What a command returned and printed."""

    exit_code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, Any]]:
        return json.loads(self.out)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = init_project(tmp_path / "project")
    monkeypatch.setenv("WH_PROJECT", str(project.root))
    monkeypatch.chdir(project.root)
    return project


@pytest.fixture
def store(project: Project) -> EvidenceStore:
    return open_store(project)


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    folder.mkdir()
    return folder


@pytest.fixture
def wh(capfd: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str | Path) -> Done:
        capfd.readouterr()
        exit_code = main([str(argument) for argument in arguments])
        return Done(exit_code, *capfd.readouterr())

    return run


def add_ingestor(project: Project, name: str = "notes", *, on_bundles: str = "pass", on_parse: str = "pass") -> None:
    text = NOTES.format(name=name, on_bundles=on_bundles, on_parse=on_parse)
    (project.root / "ingest" / f"{name}.py").write_text(text)


def ingest_here(project: Project, path: Path) -> IngestReport:
    return ingest(plan_ingest(path, load_ingestors(project).values()), open_store(project), str(path))


def hashes(folder: Path) -> set[str]:
    """sha256 of every regular file below a folder."""
    paths = [Path(root) / name for root, _, names in os.walk(folder) for name in names]
    return {bytes_digest(path.read_bytes()) for path in paths if path.is_file() and not path.is_symlink()}


def stored_hashes(store: EvidenceStore) -> set[str]:
    """sha256 of every file that a visible bundle lists, each checked against its bytes."""
    found = set()
    for digest in store.digests():
        for file in store.manifest(digest).files:
            store.check_file(digest, file)
            found.add(file.sha256)
    return found


def modified(folder: Path) -> dict[Path, int]:
    """When each file and folder below `folder` was changed, but for the staging area."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if "incoming" not in path.parts}


def families(store: EvidenceStore) -> list[str]:
    return sorted(store.manifest(digest).family for digest in store.digests())


def landing_rows(project: Project, table: str) -> list[dict[str, Any]]:
    landing = refresh(open_store(project), find_ingestors(project))
    assert landing.damaged == ()
    return [row for file in landing.files(table) for row in pq.read_table(file.path).to_pylist()]


# -- what there is to ingest --------------------------------------------------------------------------------------


def test_an_empty_folder_is_a_usage_error_that_names_it(project: Project, evidence: Path, wh: Any) -> None:
    (evidence / "sub" / "sub").mkdir(parents=True)
    done = wh("ingest", evidence)
    assert (done.exit_code, done.err) == (ExitCode.USAGE, f"WH101 {evidence}: no files to ingest\n")
    assert not project.store_root.exists()


def test_a_folder_with_nothing_but_links_says_what_it_left_out(project: Project, evidence: Path, wh: Any) -> None:
    (evidence / "link").symlink_to("nowhere")
    done = wh("ingest", evidence)
    assert done.exit_code == ExitCode.USAGE
    assert done.err.startswith(f"WH101 {evidence}: ") and "WH104 link: " in done.err


def test_a_missing_path_is_a_usage_error_and_the_others_are_ingested(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any
) -> None:
    done = wh("ingest", evidence / "absent")
    assert done.exit_code == ExitCode.USAGE
    assert done.err.startswith(f"WH004 {evidence}/absent: ")
    (evidence / "log.txt").write_bytes(b"x")
    done = wh("ingest", evidence / "absent", evidence, evidence / "log.txt")
    assert done.exit_code == ExitCode.FAILED
    assert done.err.count("WH004") == 1
    assert stored_hashes(store) == hashes(evidence)


def test_no_project_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wh: Any) -> None:
    monkeypatch.setenv("WH_PROJECT", str(tmp_path))
    done = wh("ingest", tmp_path)
    assert (done.exit_code, done.err[:5]) == (ExitCode.USAGE, "WH001")


def test_evidence_that_nobody_knows_is_copied(project: Project, store: EvidenceStore, evidence: Path, wh: Any) -> None:
    for path in ("notes/one.md", "empty", "blob.bin"):
        sample.write(evidence / path, b"" if path == "empty" else os.urandom(3000))
    done = wh("ingest", evidence)
    assert (done.exit_code, done.err) == (ExitCode.OK, "")
    assert done.out.splitlines()[2].split()[:5] == ["unrecognised", "added", "1", "0", "3"]
    [digest] = store.digests()
    manifest = store.manifest(digest)
    assert manifest.family == "unrecognised"
    assert [file.raw_path for file in manifest.files] == ["blob.bin", "empty", "notes/one.md"]
    assert stored_hashes(store) == hashes(evidence)


def test_a_submission_is_cut_into_its_scenarios_and_no_file_is_lost(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any
) -> None:
    sample.write_submission(evidence)
    (evidence / "README.md").write_text("read me")
    done = wh("ingest", evidence, "--json")
    assert (done.exit_code, done.err) == (ExitCode.OK, "")
    assert families(store) == ["mlperf_inference"] * SCENARIOS + ["unrecognised"]
    assert stored_hashes(store) == hashes(evidence)
    assert set(Ledger(store.objects).arrivals()) == set(store.digests())
    assert {event.detail["from"] for event in Ledger(store.objects).events()} == {str(evidence)}


def test_the_json_says_what_became_of_each_bundle(project: Project, store: EvidenceStore, evidence: Path, wh: Any) -> None:
    sample.write_submission(evidence)
    bundles = wh("ingest", evidence, "--json").json
    assert sorted(bundle["artifact_manifest_digest"] for bundle in bundles) == store.digests()
    for bundle in bundles:
        assert list(bundle) == ["artifact_manifest_digest", "family", "status", "runs", "files", "bytes", "problems"]
        manifest = store.manifest(bundle["artifact_manifest_digest"])
        assert (bundle["family"], bundle["status"], bundle["problems"]) == (manifest.family, "added", [])
        assert bundle["files"] == len(manifest.files)
        assert bundle["bytes"] == sum(file.bytes for file in manifest.files)
        assert bundle["runs"] and all(isinstance(run, str) for run in bundle["runs"])


# -- the same evidence again --------------------------------------------------------------------------------------


def test_the_same_evidence_again_changes_nothing_and_says_so(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any
) -> None:
    sample.write_submission(evidence)
    first = wh("ingest", evidence, "--json").json
    before = modified(root_of(store))
    done = wh("ingest", evidence)
    assert (done.exit_code, done.err) == (ExitCode.OK, "nothing new: the store has all of it\n")
    assert done.out.splitlines()[2].split()[:3] == ["mlperf_inference", "present", str(SCENARIOS)]
    assert wh("ingest", evidence, "--json").json == [{**bundle, "status": "present"} for bundle in first]
    assert modified(root_of(store)) == before


def test_new_evidence_beside_the_old_adds_only_itself(project: Project, evidence: Path, wh: Any) -> None:
    sample.write_submission(evidence, submitter="Acme")
    wh("ingest", evidence)
    sample.write_submission(evidence, submitter="Other")
    done = wh("ingest", evidence, "--json")
    assert sorted(bundle["status"] for bundle in done.json) == ["added"] * SCENARIOS + ["present"] * SCENARIOS
    assert done.err == ""


def test_evidence_has_the_same_digests_wherever_it_lies_and_is_cut(project: Project, tmp_path: Path) -> None:
    top = sample.write_submission(tmp_path / "here")
    elsewhere = tmp_path / "an other\nplace" / top.name
    shutil.copytree(top, elsewhere)
    roots = [top.parent, top, top / "closed", top / "closed" / "Acme", elsewhere, elsewhere / "closed"]
    found = [{bundle.digest for bundle in ingest_here(project, root).bundles} for root in roots]
    assert found == [found[0]] * len(roots)
    assert len(found[0]) == SCENARIOS


def test_a_lost_ledger_event_is_written_by_the_next_ingest(project: Project, store: EvidenceStore, evidence: Path) -> None:
    # As after a crash between a bundle's commit and its event.
    sample.write_submission(evidence)
    ingest_here(project, evidence)
    shutil.rmtree(root_of(store) / "ledger")
    ingest_here(project, evidence)
    assert sorted(event.subject for event in Ledger(store.objects).events()) == store.digests()
    ingest_here(project, evidence)
    assert len(list(Ledger(store.objects).events())) == SCENARIOS


# -- what strangers leave in folders ------------------------------------------------------------------------------


def test_links_pipes_and_odd_names_are_named_and_the_rest_is_ingested(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = sample.write_submission(evidence)
    (evidence / "manifest.json").write_text("a name that the store has a file of, too")
    kept = hashes(evidence)
    (evidence / "new\nline.txt").write_text("a name of two lines")
    (top / "loop").symlink_to("..")
    (top / "self").symlink_to("self")
    os.mkfifo(evidence / "pipe")
    (evidence / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"a name of another encoding")
    monkeypatch.chdir(evidence)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        done = wh("ingest", evidence)
    assert done.exit_code == ExitCode.FAILED
    assert sorted(line.split(": ")[0] for line in done.err.splitlines() if line.startswith("WH")) == [
        "WH103 caf\\udce9.txt", "WH103 new\\nline.txt", f"WH104 {top.name}/loop", f"WH104 {top.name}/self", "WH104 pipe", "WH104 socket"
    ]
    assert stored_hashes(store) == kept
    assert families(store) == ["mlperf_inference"] * SCENARIOS + ["unrecognised"]
    [leftover] = [bundle for bundle in map(store.manifest, store.digests()) if bundle.family == "unrecognised"]
    assert list(leftover.by_path) == ["manifest.json"]


def test_a_folder_whose_own_name_is_no_text_is_ingested(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any
) -> None:
    folder = evidence / os.fsdecode(b"caf\xe9\n")
    sample.write_submission(folder)
    done = wh("ingest", folder)
    assert (done.exit_code, done.err) == (ExitCode.OK, "")
    assert stored_hashes(store) == hashes(folder)
    assert {event.detail["from"] for event in Ledger(store.objects).events()} == {f"{evidence}/caf\\udce9\\n"}


def test_one_file_whose_name_is_no_text_is_named(project: Project, evidence: Path, wh: Any) -> None:
    path = evidence / os.fsdecode(b"caf\xe9.txt")
    path.write_bytes(b"x")
    done = wh("ingest", path)
    assert done.exit_code == ExitCode.USAGE
    assert "WH103 caf\\udce9.txt: the name is not valid UTF-8" in done.err


@pytest.fixture
def public_project(monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project and `evidence/` where any user may write, unlike pytest's own folders."""
    folder = Path(tempfile.mkdtemp(prefix="wh-test-"))
    folder.chmod(0o777)
    with unprivileged():
        project = init_project(folder / "project")
        (folder / "evidence").mkdir()
    monkeypatch.chdir(project.root)
    yield project
    shutil.rmtree(folder, onerror=lambda remove, path, _: (os.chmod(Path(path).parent, 0o700), remove(path)))


def test_what_may_not_be_read_is_named_and_the_rest_is_ingested(public_project: Project, wh: Any) -> None:
    evidence = public_project.root.parent / "evidence"
    with unprivileged():
        sample.write_submission(evidence)
        for path in ("notes/readable.txt", "notes/secret.txt", "closed/inside.txt"):
            sample.write(evidence / path, path)
        kept = hashes(evidence) - {bytes_digest(b"notes/secret.txt"), bytes_digest(b"closed/inside.txt")}
        (evidence / "notes" / "secret.txt").chmod(0)
        (evidence / "closed").chmod(0)
        done = wh("ingest", evidence, "--json")
        store = open_store(public_project)
        assert stored_hashes(store) == kept
    assert done.exit_code == ExitCode.FAILED
    assert sorted(line.split(": ")[0] for line in done.err.splitlines()) == [
        f"WH102 {evidence}/notes/secret.txt", "WH102 closed"
    ]
    [leftover] = [bundle for bundle in done.json if bundle["family"] == "unrecognised"]
    assert (leftover["status"], leftover["files"], len(leftover["problems"])) == ("added", 1, 1)


def test_a_known_bundle_with_a_file_that_may_not_be_read_is_left_out_whole_and_named(
    public_project: Project, wh: Any
) -> None:
    evidence = public_project.root.parent / "evidence"
    with unprivileged():
        sample.write_submission(evidence)
        [summary] = evidence.rglob("Interactive/performance/run_1/mlperf_log_summary.txt")
        summary.chmod(0)
        done = wh("ingest", evidence, "--json")
        statuses = {tuple(bundle["runs"])[0].split("/")[6]: bundle["status"] for bundle in done.json}
        assert statuses.pop("Interactive") == "left out"
        assert set(statuses.values()) == {"added"} and len(statuses) == SCENARIOS - 1
        [left_out] = [bundle for bundle in done.json if bundle["status"] == "left out"]
        assert left_out["artifact_manifest_digest"] is None
        assert left_out["problems"] == [f"WH102 {summary}: Permission denied"]
        assert (done.exit_code, done.err) == (ExitCode.FAILED, left_out["problems"][0] + "\n")
        summary.chmod(0o644)
        done = wh("ingest", evidence, "--json")
        assert sorted(bundle["status"] for bundle in done.json) == ["added"] + ["present"] * (SCENARIOS - 1)
        assert stored_hashes(open_store(public_project)) == hashes(evidence)


@pytest.mark.parametrize("damage", ["truncated", "invalid", "binary", "empty"])
def test_a_damaged_log_is_stored_as_it_is_and_its_bundle_is_recognised(
    project: Project, store: EvidenceStore, evidence: Path, damage: str
) -> None:
    sample.write_submission(evidence)
    for log in evidence.rglob("mlperf_log_*.txt"):
        data = log.read_bytes()
        half = data[: len(data) // 2]
        damaged = {"truncated": half, "invalid": half + b"\xff\xfe" + half, "binary": bytes(range(256)), "empty": b""}
        log.write_bytes(damaged[damage])
    report = ingest_here(project, evidence)
    assert report.problems == ()
    assert families(store) == ["mlperf_inference"] * SCENARIOS
    assert stored_hashes(store) == hashes(evidence)
    rows = landing_rows(project, "evidence_file")
    assert {row["sha256"] for row in rows} == hashes(evidence)
    assert "ingestor-failed" not in {row["code"] for row in landing_rows(project, ISSUE_TABLE)}


# -- plug-ins -----------------------------------------------------------------------------------------------------


def test_a_projects_own_ingestor_recognises_its_evidence(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any
) -> None:
    add_ingestor(project)
    sample.write(evidence / "sub" / "one.note", "first")
    sample.write(evidence / "other.txt", "second")
    bundles = wh("ingest", evidence, "--json").json
    assert [bundle["family"] for bundle in bundles] == ["notes", "unrecognised"]
    assert [bundle["runs"] for bundle in bundles] == [["sub/one.note"], []]
    [row] = landing_rows(project, "notes")
    assert row == {
        "text": "first", "artifact_manifest_digest": bundles[0]["artifact_manifest_digest"],
        "raw_path": "one.note", "raw_offset": 0, "raw_length": 5,
    }
    assert stored_hashes(store) == hashes(evidence)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_ingestor_that_fails_to_cut_is_named_and_its_evidence_is_copied(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any, when: str
) -> None:
    fault = "raise KeyError('oops\\x1b')"
    if when == "after":
        fault = f"yield BundleDraft((DraftFile('a.note', tree.files['a.note']),)); {fault}"
    add_ingestor(project, on_bundles=fault)
    for name in "ab":
        sample.write(evidence / f"{name}.note", name)
    sample.write_submission(evidence)
    done = wh("ingest", evidence)
    assert done.exit_code == ExitCode.FAILED
    assert done.err.startswith("WH121 ingestor notes: fails on this tree: KeyError: ")
    assert done.err.count("\n") == 1 and "\x1b" not in done.err
    expected = ["mlperf_inference"] * SCENARIOS + ["notes"] * (when == "after") + ["unrecognised"]
    assert families(store) == expected
    assert stored_hashes(store) == hashes(evidence)


@pytest.mark.parametrize(
    "draft",
    [
        "BundleDraft((DraftFile('../a', tree.files['a.note']),))",
        "BundleDraft((DraftFile('/a', tree.files['a.note']),))",
        "BundleDraft((DraftFile('x', tree.files['a.note']), DraftFile('x', tree.files['b.note'])))",
        "BundleDraft((DraftFile('x', tree.files['a.note']), DraftFile('x/y/z', tree.files['b.note'])))",
        "BundleDraft(tuple(DraftFile(path, tree.files['a.note']) for path in ('x/y/z', 'x/y.z', 'x/y')))",
        "BundleDraft((DraftFile('a', tree.files['a.note']),), identity={'score': float('nan')})",
        "BundleDraft((DraftFile('a', tree.files['a.note']),), identity={'folder': tree.root})",
        "BundleDraft((DraftFile('a', tree.files['a.note']),), source={'seed': 2**64})",
        "BundleDraft((DraftFile('a', tree.files['a.note'], role=5),))",
        "BundleDraft(())",
        "'not a draft'",
    ],
)
def test_a_bundle_that_cannot_be_stored_is_named_and_its_files_are_copied(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any, draft: str
) -> None:
    add_ingestor(project, on_bundles=f"yield {draft}; return")
    for name in "ab":
        sample.write(evidence / f"{name}.note", name)
    done = wh("ingest", evidence)
    assert (done.exit_code, done.err[:22]) == (ExitCode.FAILED, "WH121 ingestor notes: ")
    assert families(store) == ["unrecognised"]
    assert stored_hashes(store) == hashes(evidence)


def test_an_ingestor_that_fails_to_parse_loses_its_own_rows_and_says_so(project: Project, evidence: Path) -> None:
    add_ingestor(project, on_parse="if text == 'bad': raise LookupError('no such thing')")
    for name in ("bad", "good"):
        sample.write(evidence / f"{name}.note", name)
    report = ingest_here(project, evidence)
    digests = {bundle.runs[0]: bundle.digest for bundle in report.bundles}
    assert [row["text"] for row in landing_rows(project, "notes")] == ["good"]
    [issue] = landing_rows(project, ISSUE_TABLE)
    assert (issue["code"], issue["severity"], issue["raw_path"]) == ("ingestor-failed", "error", "manifest.json")
    assert issue["message"] == "notes 1: LookupError: no such thing"
    assert issue["artifact_manifest_digest"] == digests["bad.note"]
    bundles = landing_rows(project, "evidence_bundle")
    assert {row["artifact_manifest_digest"] for row in bundles} == set(digests.values())


@pytest.mark.parametrize(
    "rows", ["yield 'absent', next(iter(buffer.rest()), None)", "yield 'notes', pa.record_batch({'x': [1]})", "yield 5"]
)
def test_rows_that_are_not_of_the_declared_table_are_a_fault_of_the_ingestor(
    project: Project, evidence: Path, rows: str
) -> None:
    add_ingestor(project, on_parse=rows)
    sample.write(evidence / "one.note", "text")
    ingest_here(project, evidence)
    assert [row["code"] for row in landing_rows(project, ISSUE_TABLE)] == ["ingestor-failed"]
    assert landing_rows(project, "notes") == []


# -- files that several ingestors claim ---------------------------------------------------------------------------

# Claims the notes and, in the same bundle, a file that no other ingestor does; both read the run one.note, or each its own.
WIDER = "yield BundleDraft(tuple(DraftFile(path, file) for path, file in tree.files.items() if 'one' in path), runs=({run!r},)); return"


@pytest.fixture
def contested(project: Project, evidence: Path) -> Path:
    """one.note is claimed by both, one.extra by remarks alone; two.note is claimed by notes alone; nobody knows three.txt."""
    add_ingestor(project, "notes")
    add_ingestor(project, "remarks", on_bundles=WIDER.format(run="one.note"))
    for name in ("one.note", "one.extra", "two.note", "three.txt"):
        sample.write(evidence / name, name)
    return evidence


def contents(store: EvidenceStore) -> dict[str, set[str]]:
    """The files of each family."""
    found: dict[str, set[str]] = {}
    for manifest in map(store.manifest, store.digests()):
        found.setdefault(manifest.family, set()).update(manifest.by_path)
    return found


def test_a_run_that_two_ingestors_claim_is_kept_unrecognised_and_both_are_named(
    contested: Path, store: EvidenceStore, wh: Any
) -> None:
    done = wh("ingest", contested)
    assert (done.exit_code, done.err) == (
        ExitCode.FAILED,
        "WH120 one.note: claimed by notes and by remarks as the same run; kept as unrecognised\n"
        "  hint: choose one of them: wh ingest --as notes|remarks PATH\n",
    )
    assert contents(store) == {"notes": {"two.note"}, "unrecognised": {"one.note", "one.extra", "three.txt"}}


@pytest.mark.parametrize(
    "name, expected",
    [
        ("notes", {"notes": {"one.note", "two.note"}, "unrecognised": {"one.extra", "three.txt"}}),
        ("remarks", {"notes": {"two.note"}, "remarks": {"one.note", "one.extra"}, "unrecognised": {"three.txt"}}),
    ],
)
def test_the_user_says_whose_a_contested_file_is(
    contested: Path, store: EvidenceStore, wh: Any, name: str, expected: dict[str, set[str]]
) -> None:
    done = wh("ingest", "--as", name, contested)
    assert (done.exit_code, done.err) == (ExitCode.OK, "")
    assert contents(store) == expected


def test_a_file_with_two_kinds_of_evidence_goes_into_a_bundle_of_each(
    project: Project, contested: Path, store: EvidenceStore, wh: Any
) -> None:
    add_ingestor(project, "remarks", on_bundles=WIDER.format(run="another"))
    dry = wh("ingest", "--dry-run", contested)
    assert "3 bundles with 3 runs and 3 files would be recognised, 1 file not" in dry.err
    done = wh("ingest", contested)
    assert (done.exit_code, done.err) == (ExitCode.OK, "")
    both = {"notes": {"one.note", "two.note"}, "remarks": {"one.note", "one.extra"}, "unrecognised": {"three.txt"}}
    assert contents(store) == both
    assert wh("ingest", contested).err == "nothing new: the store has all of it\n"
    assert wh("fsck").exit_code == ExitCode.OK and contents(store) == both


def test_one_of_two_kinds_of_evidence_can_be_chosen(project: Project, contested: Path, store: EvidenceStore, wh: Any) -> None:
    add_ingestor(project, "remarks", on_bundles=WIDER.format(run="another"))
    assert wh("ingest", "--as", "notes", contested).exit_code == ExitCode.OK
    assert contents(store) == {"notes": {"one.note", "two.note"}, "unrecognised": {"one.extra", "three.txt"}}


def test_only_the_bundles_of_one_run_are_left_out(project: Project, contested: Path, store: EvidenceStore, wh: Any) -> None:
    """A third family that reads another run from a contested file keeps it."""
    add_ingestor(project, "third", on_bundles=WIDER.format(run="another"))
    assert wh("ingest", contested).err.startswith("WH120 one.note: claimed by notes and by remarks as the same run")
    assert contents(store) == {"notes": {"two.note"}, "third": {"one.note", "one.extra"}, "unrecognised": {"three.txt"}}


def test_a_contest_among_others_is_not_settled_by_a_third(project: Project, contested: Path, store: EvidenceStore, wh: Any) -> None:
    add_ingestor(project, "third", on_bundles="[file] = [f for f in tree.files.values() if f.path == 'three.txt']; "
                 "yield BundleDraft((DraftFile(file.path, file),)); return")
    done = wh("ingest", "--as", "third", contested)
    assert done.exit_code == ExitCode.FAILED and done.err.startswith("WH120 one.note: ")
    assert contents(store) == {
        "notes": {"two.note"}, "third": {"three.txt"}, "unrecognised": {"one.note", "one.extra"}
    }


@pytest.mark.parametrize(
    "name, status, message",
    [
        ("nots", ExitCode.NOT_FOUND, "WH122 no ingestor has the name 'nots'\n  hint: did you mean notes?\n"),
        ("recorded_run", ExitCode.FAILED, "WH122 {}: recorded_run recognises nothing here\n"
         "  hint: wh ingest --dry-run shows which ingestors recognise it\n"),
    ],
)
def test_an_ingestor_that_is_asked_for_must_be_there_and_claim_something(
    contested: Path, store: EvidenceStore, wh: Any, name: str, status: ExitCode, message: str
) -> None:
    done = wh("ingest", "--as", name, contested)
    assert (done.exit_code, done.err) == (status, message.format(contested))
    assert store.digests() == []


# -- what would be recognised -------------------------------------------------------------------------------------


def test_no_number_of_runs_where_drafts_name_none(project: Project, evidence: Path, wh: Any) -> None:
    sample.write(evidence / "one.note", b"one: 1\n")
    text = NOTES.format(name="notes", on_bundles="pass", on_parse="pass")
    (project.root / "ingest/notes.py").write_text(text.replace("runs=(path,)", "runs=()"))
    planned = wh("ingest", "--dry-run", evidence)
    assert planned.out.splitlines()[2].split() == ["notes", "1", "7", "B", "one.note"]
    assert "1 bundle with 1 file would be recognised" in planned.err
    done = wh("ingest", evidence)
    assert done.out.splitlines()[2].split() == ["notes", "added", "1", "1", "7", "B"]


def test_a_dry_run_tells_and_writes_nothing(contested: Path, project: Project, wh: Any) -> None:
    done = wh("ingest", "--dry-run", contested)
    assert done.exit_code == ExitCode.FAILED
    assert [line.split() for line in done.out.splitlines()] == [
        ["family", "runs", "files", "size", "first", "run,", "or", "file"],
        ["------", "----", "-----", "----", "------------------"],
        ["notes", "1", "1", "8", "B", "two.note"],
        [],
        ["unrecognised", "size", "why"],
        ["------------", "----", "-" * len("claimed by notes and by remarks as the same run")],
        ["one.extra", "9", "B", "remarks", "would", "take", "it", "with", "one.note"],
        ["one.note", "8", "B", "claimed", "by", "notes", "and", "by", "remarks", "as", "the", "same", "run"],
        ["three.txt", "9", "B"],
    ]
    assert "1 bundle with 1 run and 1 file would be recognised, 3 files not; nothing was written\n" in done.err
    assert "WH120 one.note" in done.err
    assert not project.store_root.exists()


def test_a_dry_run_as_json_has_all_files_and_says_what_an_ingest_then_does(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any
) -> None:
    top = sample.write_submission(evidence)
    sample.write(top / "closed" / "Acme" / "systems" / "Unused.json", "{}")
    sample.write(evidence / "notes.txt", "text")
    done = wh("ingest", "--dry-run", "--json", evidence)
    assert done.exit_code == ExitCode.OK
    told = done.json
    assert told["problems"] == []
    assert told["unrecognised"] == [
        {"path": f"{top.name}/closed/Acme/systems/Unused.json", "bytes": 2, "reason": "mlperf_inference: no result is of this system"},
        {"path": "notes.txt", "bytes": 4, "reason": None},
    ]
    wh("ingest", evidence)
    manifests = [store.manifest(digest) for digest in store.digests()]
    stored = sorted(
        sorted((file.raw_path, file.bytes, file.role) for file in manifest.files)
        for manifest in manifests if manifest.family == "mlperf_inference"
    )
    assert sorted(
        sorted((file["raw_path"], file["bytes"], file["role"]) for file in bundle["files"]) for bundle in told["bundles"]
    ) == stored
    assert {bundle["identity"]["scenario"] for bundle in told["bundles"]} == {
        "Server", "Offline", "Interactive", "SingleStream", "MultiStream"
    }
    sources = {file["path"] for bundle in told["bundles"] for file in bundle["files"]}
    assert sources | {each["path"] for each in told["unrecognised"]} == {
        path.relative_to(evidence).as_posix() for path in evidence.rglob("*") if path.is_file()
    }


def test_the_reasons_of_an_ingestor_are_told_for_what_nobody_takes(project: Project, evidence: Path, wh: Any) -> None:
    add_ingestor(
        project, on_bundles="from warehouse.landing.contract import Unclaimed; "
        "yield from (Unclaimed(path, 'too\\nold') for path in tree.files)",
    )
    for name in ("one.note", "two.txt"):
        sample.write(evidence / name, "text")
    told = wh("ingest", "--dry-run", "--json", evidence).json
    assert [(each["path"], each["reason"]) for each in told["unrecognised"]] == [("two.txt", "notes: too\\nold")]


def test_what_becomes_recognisable_is_recognised_when_it_is_ingested_again(
    project: Project, store: EvidenceStore, evidence: Path, wh: Any
) -> None:
    """From where it lay, or from the store; the first bundle stays, since evidence is never replaced."""
    for name in ("one.note", "two.txt"):
        sample.write(evidence / name, name)
    wh("ingest", evidence)
    [first] = store.digests()
    assert landing_rows(project, "evidence_bundle")[0]["family"] == "unrecognised"
    add_ingestor(project)
    shutil.rmtree(evidence)
    done = wh("ingest", bundle_folder(store, first) / "files", "--json")
    assert (done.exit_code, [bundle["family"] for bundle in done.json]) == (ExitCode.OK, ["notes", "unrecognised"])
    assert [row["text"] for row in landing_rows(project, "notes")] == ["one.note"]
    wh("build")
    done = wh("sql", "select distinct raw_path, is_recognised from raw_artifact order by all", "--format", "csv")
    assert done.out.split() == ["raw_path,is_recognised", "one.note,true", "two.txt,false"]


def test_the_ingestors_are_listed_with_what_they_read_and_where_they_are_from(project: Project, wh: Any) -> None:
    add_ingestor(project)
    found = {each["name"]: each for each in wh("ingestors", "--json").json}
    assert found["notes"] == {
        "name": "notes", "version": 1, "formats": [], "tables": ["notes"], "origin": "project", "place": "ingest/notes.py"
    }
    for name, each in found.items():
        if name != "notes":
            is_described = (Path(__file__).parents[1] / f"ingest/{name}/format.toml").is_file()
            file = f"{name}/format.toml" if is_described else "log_rules.toml" if name == "log_rules" else f"{name}/__init__.py"
            assert (each["origin"], each["place"]) == ("standard", f"standard/ingest/{file}")
            assert each["formats"] and each["tables"] and all(line and "\n" not in line for line in each["formats"])
    told = wh("ingestors").out
    assert all(f"{name} {each['version']}  {each['origin']}: " in told for name, each in found.items())


# -- ingestors that fail ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "raise RuntimeError('at import')", "x = (", "INGESTOR = object()", "", "import no_such_module_anywhere",
        "from types import SimpleNamespace\nINGESTOR = SimpleNamespace(name='a, b', version=1, tables={}, bundles=list, parse=list)",
    ],
)
def test_an_ingestor_that_cannot_be_loaded_is_named_before_anything_is_copied(
    project: Project, evidence: Path, wh: Any, text: str
) -> None:
    (project.root / "ingest" / "broken.py").write_text(text)
    sample.write(evidence / "one.txt", "text")
    done = wh("ingest", evidence)
    assert done.exit_code == ExitCode.FAILED
    assert done.err.startswith("WH121 ") and "broken.py" in done.err
    assert not project.store_root.exists()


def test_a_plan_says_what_would_be_copied_and_copies_nothing(project: Project, evidence: Path) -> None:
    sample.write_submission(evidence)
    plan = plan_ingest(evidence, load_ingestors(project).values())
    assert [family for family, _ in plan.drafts] == ["mlperf_inference"] * SCENARIOS
    assert plan.bytes == sum(file.file.bytes for _, draft in plan.drafts for file in draft.files) > 0
    assert not project.store_root.exists()


def test_a_file_that_changes_after_the_listing_is_taken_as_it_is_read(
    project: Project, store: EvidenceStore, evidence: Path
) -> None:
    for name in ("changed", "gone", "link", "same"):
        (evidence / name).write_text(f"{name} as listed")
    plan = plan_ingest(evidence, [])
    (evidence / "changed").write_text("changed, longer than it was")
    (evidence / "gone").unlink()
    (evidence / "link").unlink()
    (evidence / "link").symlink_to("same")
    [bundle] = ingest(plan, store, "here").bundles
    assert [problem.code for problem in bundle.problems] == ["WH102", "WH102"]
    assert [problem.place for problem in bundle.problems] == [f"{evidence}/gone", f"{evidence}/link"]
    manifest = store.manifest(bundle.digest)
    assert [(file.raw_path, file.bytes) for file in manifest.files] == [("changed", 27), ("same", 14)]
    assert stored_hashes(store) == {bytes_digest(b"changed, longer than it was"), bytes_digest(b"same as listed")}


def test_a_store_that_is_no_folder_ends_the_command(project: Project, evidence: Path, wh: Any) -> None:
    sample.write(evidence / "one.txt", "text")
    project.store_root.parent.mkdir()
    project.store_root.write_text("a file where the store should be")
    done = wh("ingest", evidence)
    assert (done.exit_code, done.err[:5]) == (ExitCode.FAILED, "WH114")
    assert "hint: " in done.err


def test_the_progress_is_told_a_bundle_at_a_time(project: Project, store: EvidenceStore, evidence: Path) -> None:
    sample.write_submission(evidence)
    seen = []

    def on_bundle(bundle: Any) -> None:
        assert bundle.digest in store.digests(), "a bundle is told when it is there"
        seen.append(bundle)

    report = ingest(plan_ingest(evidence, load_ingestors(project).values()), store, "here", on_bundle)
    assert tuple(seen) == report.bundles


def test_a_draft_may_share_a_file_with_another_of_its_family(
    project: Project, store: EvidenceStore, evidence: Path
) -> None:
    sample.write(evidence / "shared.txt", "both")

    class Twice:
        name, version, tables = "twice", 1, {}

        def bundles(self, tree: Any) -> Iterator[BundleDraft]:
            for run in "ab":
                yield BundleDraft((DraftFile("shared.txt", tree.files["shared.txt"]),), {"run": run})

    report = ingest(plan_ingest(evidence, [Twice()]), store, "here")
    assert [bundle.status for bundle in report.bundles] == ["added", "added"]
    assert len(store.digests()) == 2
    with pytest.raises(WarehouseError) as caught:
        store.manifest("0" * 64)
    assert caught.value.code == "WH106"


def test_a_path_too_long_for_the_store_leaves_out_its_bundle_alone(tmp_path: Path) -> None:
    """A path may fit where it lies and not below the store's own folders."""
    project = init_project(tmp_path / ("p" * 200) / ("q" * 200) / "project")
    tree = tmp_path / "in"
    deep = tree
    while len(str(deep)) < 3700:
        deep /= "d" * 200
    deep.mkdir(parents=True)
    (deep / "far.txt").write_text("far")
    bundles = []
    for path in (deep, tree):
        plan = plan_ingest(path, load_ingestors(project).values())
        bundles += ingest(plan, open_store(project), "test").bundles
    assert [bundle.status for bundle in bundles] == ["added", "left out"]
    assert [problem.code for problem in bundles[1].problems] == ["WH103"]


def test_a_file_that_is_larger_than_what_is_free_is_left_out_before_a_byte_is_written(project: Project, evidence: Path, wh: Any) -> None:
    sample.write(evidence / "notes.txt", "small")
    with open(evidence / "trace.bin", "wb") as stream:
        try:
            stream.truncate(shutil.disk_usage(project.root).free * 2)
        except OSError:
            pytest.skip("this file system cannot hold a sparse file that is larger than its free space")
    began = time.monotonic()
    done = wh("ingest", evidence)
    assert time.monotonic() - began < 30
    assert done.exit_code == ExitCode.FAILED
    assert f"WH115 {evidence}/trace.bin" in done.err and "of which 0 are on disk" in done.err and " are free" in done.err
    assert stored_hashes(open_store(project)) == {bytes_digest(b"small")}


def test_a_file_that_is_no_evidence_says_what_it_is(project: Project, evidence: Path, wh: Any) -> None:
    for name, text in (
        ("result.json", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12345\n"), ("empty.json", ""),
        ("cut.json", '{"date": "20260410-0'), ("page.json", "<!DOCTYPE html><html></html>"),
        ("annex.json", "../.git/annex/objects/xK/9q/SHA256E-s12345--4d.json\n"), ("odd.json", '{"a": 1}'),
    ):
        sample.write(evidence / name, text)
    told = wh("ingest", evidence).err
    assert "unrecognised: result.json: a Git LFS pointer: fetch the file itself with git lfs pull" in told
    reasons = {name: reason for name, _, reason in (line.removeprefix("unrecognised: ").partition(": ") for line in told.splitlines() if line.startswith("unrecognised: "))}
    assert {name: reason.partition(":")[0] for name, reason in reasons.items()} == {
        "result.json": "a Git LFS pointer", "empty.json": "the file is empty", "cut.json": "the JSON breaks off",
        "page.json": "an HTML page, as a failed download leaves one", "annex.json": "a git-annex pointer",
    }
