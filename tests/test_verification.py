"""`wh verify`: numbers hashed and replayed from raw evidence alone, and what it says when they cannot be or are not the same."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from bare_project import write
from exhaustive import few
from forgery import forge, row_documents, rows_content
from once import copied
from samples.values import VALUES_INGESTOR, take_in, value_files, values_project
from stored import bundle_folder, folder_of

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.verdict import STATES
from warehouse.claims.verify.verification import verify_all, verify_number, verify_publication
from warehouse.cli.main import main
from warehouse.digest import bytes_digest, canonical_json, domain_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import PUBLICATION, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore
from warehouse.exact import exact, row_numbers
from warehouse.landing.parse import parsing, refresh
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.sql.text import canonical

SUMS = "select key, sum(value) as total, count(*) as n from reading group by key"
FILES = ("a=1.5\na=2.25\n", "a=4\n", "b=7\n", "b=0.1\nb=0.2\n")  # one bundle each


def published(root: Path, sql: str = SUMS, files: tuple[str, ...] = FILES) -> Project:
    def make(folder: Path) -> None:
        project = values_project(folder / "project", sql)
        take_in(project, value_files(folder / "in", *files))
        build(project)
        publish(project, "claim")

    copied(f"verification {bytes_digest(repr((sql, files)).encode())[:16]}", make, root)
    return read_project(root / "project")


def bundles(project: Project) -> dict[str, Path]:
    """The folder of each bundle, by the text of its file."""
    store = open_store(project)
    folders = (bundle_folder(store, digest) for digest in store.digests())
    return {next((folder / "files").iterdir()).read_text(): folder for folder in folders}


def test_a_number_is_replayed_from_its_own_evidence_alone(tmp_path: Path) -> None:
    """Neither the build nor landing nor the evidence of other numbers is needed, nor the project's models."""
    project = published(tmp_path)
    shutil.rmtree(project.builds)
    shutil.rmtree(project.store_root / "landing")
    shutil.rmtree(project.root / "models")
    for text, folder in bundles(project).items():
        if text.startswith("b"):
            shutil.rmtree(folder)
    verdict = verify_number(project, "claim[key=a].total")
    assert (verdict.state, verdict.value, verdict.files_checked) == ("stale", 7.75, 2)  # no build holds it any more
    assert "replayed from its own 2 bundles: equal" in verdict.reason
    assert verify_number(project, "claim[key=b].total").state == "missing"


@pytest.mark.parametrize(
    ("shown", "state"), few([("7.75", "verified"), ("7.75000001", "not reproduced"), ("8", "not reproduced")], 1)
)
def test_a_forged_publication_that_holds_together_is_found(shown: str, state: str, tmp_path: Path) -> None:
    """Whoever can write into the store can make every digest right: but not the evidence say otherwise."""
    project = published(tmp_path)
    assert verify_number(project, forged(project, "total", float(shown))).state == state
    states = {verdict.key: verdict.state for verdict in verify_all(project)}
    assert states.pop("claim[key=a].total") == state
    assert set(states.values()) == {"verified"}


ALLOWED = "select 'all' as key, sum(value) as total from reading where key not in (select key from banned)"
BANNED = VALUES_INGESTOR.replace('"value": ', '"banned": ').replace('"value", path', '"banned", path').replace('"values", 1', '"bans", 1').replace(".nv", ".ban")


def without_banned(tmp_path: Path) -> Project:
    """The sum of a and c: b is in a's bundle, and what bans it in one that is in nobody's why-set."""
    project = values_project(tmp_path / "project", ALLOWED)
    (project.root / "ingest" / "bans.py").write_text(BANNED)
    value_files(tmp_path / "in", "a=1\nb=2\n", "c=4\n")
    (tmp_path / "in" / "b.ban").write_text("b=0\n")
    (tmp_path / "in" / "z.ban").write_text("z=0\n")
    take_in(project, tmp_path / "in")
    build(project)
    publish(project, "claim")
    return project


def test_what_kept_a_row_away_is_in_a_replay_where_it_must_be(tmp_path: Path) -> None:
    project = without_banned(tmp_path)
    write_packet(project, "claim[key=all].total", tmp_path / "a.tar")
    for verdict in (verify_number(project, "claim[key=all].total"), *verify_all(project), verify_packet(tmp_path / "a.tar", project)):
        assert (verdict.state, verdict.value, verdict.files_checked) == ("verified", 5.0, 2)
        assert "replayed from 4 bundles that were there when it was published" in verdict.reason
    evidence = bundles(project)
    shutil.rmtree(evidence["z=0\n"])  # nobody's
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}
    (file,) = (evidence["b=0\n"] / "files").iterdir()
    file.chmod(0o644)
    file.write_text("d=0\n")
    verdict = verify_number(project, "claim[key=all].total")
    assert verdict.state == "tampered" and [problem.code for problem in verdict.problems] == ["WH105"]


def test_another_version_of_what_kept_a_row_away_accuses_nobody(tmp_path: Path) -> None:
    project = without_banned(tmp_path)
    (project.root / "ingest" / "bans.py").write_text(BANNED.replace('"bans", 1', '"bans", 2').replace('line.strip().partition("=")', '"z", "=", "0"'))
    verdict = verify_number(project, "claim[key=all].total")
    assert verdict.state == "not reproduced" and "recorded with bans 1, replayed with bans 2; to replay it" in verdict.reason
    assert {verdict.state for verdict in verify_all(project)} == {"not reproduced"}


ODD_TYPES = "pa.decimal128(10, 2)", "pa.list_(pa.float64())", "pa.date32()", 'pa.timestamp("ns", tz="UTC")'


def test_an_ingestor_of_types_that_nobody_else_has_may_be_gone(tmp_path: Path) -> None:
    """What it parsed is in no replay of what other evidence gives, whatever its columns were."""
    sql = "select key, sum(value) as total, (select count(odd_0) from banned where banned.key = reading.key) as odd from reading group by key"
    project = values_project(tmp_path / "project", sql)
    fields = "".join(f', pa.field("odd_{number}", {kind})' for number, kind in enumerate(ODD_TYPES))
    (project.root / "ingest" / "bans.py").write_text(BANNED.replace(', pa.field("value", pa.float64())', f', pa.field("value", pa.float64()){fields}'))
    take_in(project, value_files(tmp_path / "in", "a=1\n"))
    build(project)
    publish(project, "claim")
    (project.root / "ingest" / "bans.py").unlink()
    assert verify_number(project, "claim[key=a].total").state == "verified"


def test_a_query_that_does_not_read_the_table_of_runs_is_replayed_with_it(tmp_path: Path) -> None:
    """Its publication says what each run is of, and so must its replay be able to."""
    project = values_project(tmp_path / "project", "select run_id, sum(value) as total from reading group by run_id", "run_id")
    write(project, {
        "models/reading.sql": "select key as run_id, value from value",
        "models/executed.sql":
            "/*\nrole: runs\n*/\nselect key as run_id, md5(key) as workload_spec_digest, min(artifact_manifest_digest) as artifact_manifest_digest"
            " from value group by key",
    })
    take_in(project, value_files(tmp_path / "in", *FILES))
    build(project)
    first = publish(project, "claim")
    runs = [json.loads(line) for line in (project.store_root / "publications" / first.digest / "runs.jsonl").read_text().splitlines()]
    # md5 of "a" and of "b", as RFC 1321 and everybody else has them.
    assert {run["run_id"]: run["workload_spec_digest"] for run in runs} == {
        "a": "0cc175b9c0f1b6a831c399e269772661", "b": "92eb5ffee6ae2fec3ad71c777531578f",
    }
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}
    # Another table of runs is another spec: what a publication says of its runs is made by it.
    path = project.root / "models" / "executed.sql"
    path.write_text(path.read_text().replace("md5(key)", "sha256(key)"))
    build(project)
    assert publish(project, "claim").query_spec_digest != first.query_spec_digest


def test_a_table_of_runs_without_their_digests_tells_nothing_of_them(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select run_id, sum(value) as total from reading group by run_id", "run_id")
    write(project, {
        "models/reading.sql": "select key as run_id, value from value",
        "models/executed.sql": "/*\nrole: runs\n*/\nselect distinct key as run_id from value",
    })
    take_in(project, value_files(tmp_path / "in", *FILES))
    build(project)
    publish(project, "claim")
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}


# The column of `BOTH` below, how far off its value of 7.75 or 4 is forged, and the state.
OFF = {
    "a sum, by less than the tolerance": ("total", 7.75 * (1 + 5e-10), "verified"),
    "a sum, by more": ("total", 7.75 * (1 + 2e-9), "not reproduced"),
    "a sum of a wider tolerance, by less": ("wide", 7.75 * 1.0005, "verified"),
    "a sum of a wider tolerance, by more": ("wide", 7.75 * 1.002, "not reproduced"),
    "a maximum, by the last bit": ("top", 4.000000000000001, "not reproduced"),
    "a maximum with a tolerance that it does not need": ("loose", 4.000000000000001, "not reproduced"),
}
BOTH = "select key, sum(value) as total, sum(value) as wide, max(value) as top, max(value) as loose from reading group by key"
CONTRACT = """/*
grain: [key]
columns:
  key: {type: varchar}
  total: {type: double}
  wide: {type: double, tolerance: 1e-3}
  top: {type: double}
  loose: {type: double, tolerance: 0.5}
*/
"""


@pytest.mark.parametrize("case", few(OFF, 3))
def test_sums_are_compared_within_their_tolerance_and_all_else_exactly(case: str, tmp_path: Path) -> None:
    column, value, state = OFF[case]
    project = values_project(tmp_path / "project", BOTH)
    write(project, {"queries/claim.sql": CONTRACT + BOTH})
    take_in(project, value_files(tmp_path / "in", *FILES))
    build(project)
    publish(project, "claim")
    verdict = verify_number(project, forged(project, column, value))
    assert verdict.state == state
    if state == "stale":  # the current build holds 7.75 itself
        assert "equal within" in verdict.reason and "(class T, sum in rollup.claim); the current build holds n-" in verdict.reason


def forged(project: Project, column: str, value: float) -> str:
    """The number id of another value of key a that a publication now states, in place of the one there was."""
    (publication,) = publications(project)
    lines = row_documents(publication)
    row = next(line for line in lines if line["grain"]["key"] == exact("a"))
    row["cells"][column]["value"] = exact(value)
    sql = canonical((project.root / "queries" / "claim.sql").read_text())
    numbers = row_numbers("claim", sql, ["key"], ["key", column], ["a", value])
    row["cells"][column]["number_id"] = numbers[column]
    forge(publication, "rows.jsonl", rows_content(lines))
    return str(numbers[column])


def test_a_number_that_other_rows_keep_something_out_of_needs_their_evidence(tmp_path: Path) -> None:
    """By its own runs alone nothing would block b: the verdict says that more was needed."""
    sql = (
        "select 'kept' as key, sum(value) as total from reading where key not in (select key from reading where value < 0)\n"
        "union all select 'blocked', sum(value) from reading where value < 0"
    )
    project = published(tmp_path, sql, ("a=1\nb=5\n", "b=-1\n"))
    verdict = verify_number(project, "claim[key=kept].total")
    assert verdict.state == "verified" and verdict.value == 1.0
    assert "replayed from 2 bundles of its publication: equal" in verdict.reason or "its own 2 bundles" in verdict.reason


def test_a_replay_that_fails_over_its_own_evidence_is_tried_over_more(tmp_path: Path) -> None:
    """By its own runs alone two rows would have one grain, which no rollup may have."""
    sql = (
        "select 'kept' as key, value as total from reading where key not in (select key from reading where value < 0)\n"
        "union all select 'blocked', value from reading where value < 0"
    )
    verdict = verify_number(published(tmp_path, sql, ("a=1\nb=5\n", "b=-1\n")), "claim[key=kept].total")
    assert verdict.state == "verified" and "replayed from 2 bundles of its publication: equal" in verdict.reason


GATED = (
    "select key, max(value) as top from reading where key <> 'gate'"
    " and exists (select 1 from reading where key = 'gate') group by key"
)


def test_evidence_that_lets_the_row_in_is_part_of_the_record(tmp_path: Path) -> None:
    """No value is read from the gate's file, and no row is there without it."""
    project = published(tmp_path, GATED, ("a=1\n", "gate=0\n", "b=2\n"))
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}
    verdict = verify_number(project, "claim[key=a].top")
    assert verdict.state == "verified" and "replayed from 2 bundles of its publication" in verdict.reason
    shutil.rmtree(bundles(project)["gate=0\n"])
    verdict = verify_number(project, "claim[key=a].top")
    assert (verdict.state, [problem.code for problem in verdict.problems]) == ("missing", ["WH106"])


def test_a_row_of_missing_values_rests_on_the_files_that_miss_them(tmp_path: Path) -> None:
    sql = "select key, max(value) filter (value > 1) as high, count(*) filter (value > 1) as n from reading group by key"
    project = published(tmp_path, sql, ("a=1\n", "b=2\n"))
    told = {verdict.key: (verdict.value, verdict.state, verdict.files_checked) for verdict in verify_all(project)}
    values = {"claim[key=a].n": 0, "claim[key=b].high": 2.0, "claim[key=b].n": 1}
    assert told == {key: (value, "verified", 1) for key, value in values.items()}


def test_a_number_is_verified_where_nothing_can_be_remembered(tmp_path: Path) -> None:
    project = published(tmp_path, SUMS)
    (project.builds / ".established.json").mkdir()  # as on a disk that is only read, also to a superuser
    assert verify_number(project, "claim[key=a].total").state == "verified"


def test_threads_verify_side_by_side(tmp_path: Path) -> None:
    project = published(tmp_path, SUMS)
    with ThreadPoolExecutor(3) as pool:
        verdicts = pool.map(lambda key: verify_number(project, key), ("claim[key=a].total", "claim[key=b].total", "claim[key=a].total"))
        assert {verdict.state for verdict in verdicts} == {"verified"}


def test_a_missing_key_is_not_the_word_for_it(tmp_path: Path) -> None:
    sql = "select nullif(key, 'none') as key, max(value) as top from reading group by all"
    project = published(tmp_path, sql, ("none=1\nNULL=2\n",))
    told = {verdict.key: verdict.value for verdict in verify_all(project)}
    assert told == {"claim[key=NULL].top": 1.0, 'claim[key="NULL"].top': 2.0}
    assert {key: lineage(project, key).value for key in told} == told


def test_what_the_current_build_says_otherwise_is_stale(tmp_path: Path) -> None:
    project = published(tmp_path)
    (old,) = (verdict.number_id for verdict in verify_all(project) if verdict.key == "claim[key=a].total")
    take_in(project, value_files(tmp_path / "more", "a=100\n"))
    build(project)
    verdict = verify_number(project, str(old))
    assert verdict.state == "stale" and "replayed from its own 2 bundles: equal (class T, sum in rollup.claim); the current build holds n-" in verdict.reason
    states = {verdict.key: verdict.state for verdict in verify_all(project)}
    assert states["claim[key=a].total"] == states["claim[key=a].n"] == "stale"
    assert states["claim[key=b].total"] == "verified"


def test_one_byte_of_the_evidence(tmp_path: Path) -> None:
    project = published(tmp_path)
    file = next((bundles(project)["a=4\n"] / "files").iterdir())
    file.chmod(0o644)
    file.write_text("a=5\n")
    states = {verdict.key: verdict.state for verdict in verify_all(project)}
    assert states == {
        "claim[key=a].total": "tampered", "claim[key=a].n": "tampered", "claim[key=b].total": "verified", "claim[key=b].n": "verified"
    }
    assert verify_number(project, "claim[key=b].total").state == "verified"
    assert verify_number(project, "claim[key=a].total").state == "tampered"


SECOND_INGESTOR = VALUES_INGESTOR.replace('"values", 1', '"others", 1').replace('".nv"', '".other"')
OTHER_INGESTOR = SECOND_INGESTOR.replace('"value": landing', '"other": landing').replace('buffer.add("value"', 'buffer.add("other"')


def published_of_two(root: Path, sql: str, ours: str, others: str, texts: dict[str, str]) -> Project:
    """A published claim over a file of lines for each of two ingestors; `texts` are those of the second, and of models."""
    project = values_project(root / "project", sql)
    write(project, texts)
    take_in(project, value_files(root / "in", ours))
    (root / "else").mkdir()
    (root / "else" / "b.other").write_text(others)
    take_in(project, root / "else")
    build(project)
    publish(project, "claim")
    return project


@pytest.mark.parametrize(
    "now",
    [
        OTHER_INGESTOR.replace('"others", 1', '"others", 2'),
        OTHER_INGESTOR.replace('"others", 1', '"others", 2').replace('pa.field("key"', 'pa.field("more", pa.int64()), pa.field("key"'),
        None,
    ],
    ids=["another version", "other columns", "not there"],
)
def test_what_parses_other_evidence_may_change(now: str | None, tmp_path: Path) -> None:
    """The number rests on nothing that it ever parsed; one that does says so, and is refused without it."""
    project = published_of_two(tmp_path, "select key, sum(value) as total from readings group by key", "a=1\n", "b=2\n", {
        "ingest/others.py": OTHER_INGESTOR,
        "models/readings.sql": "select key, value from value union all by name select * from otherwise",
        "models/otherwise.sql": "select key, value from other",
    })  # fmt: skip
    if now:
        write(project, {"ingest/others.py": now})
    else:
        (project.root / "ingest" / "others.py").unlink()
    assert verify_number(project, "claim[key=a].total").state == "verified"
    other = verify_number(project, "claim[key=b].total")
    said = ", by other code: recorded with others 1, replayed with others 2" if now else "other was parsed by others 1, and no ingestor here gives it"
    assert other.state == ("verified" if now else "refused") and said in other.reason
    assert {verdict.key: verdict.state for verdict in verify_all(project)}["claim[key=a].total"] == "verified"


@pytest.mark.parametrize("changed", ["values", "others"])
def test_each_of_two_that_parse_into_one_table_is_recorded(changed: str, tmp_path: Path) -> None:
    """A number rests on what one of them parsed: it is not reproduced when that one is another, and not for the other's sake."""
    texts = {"values": VALUES_INGESTOR, "others": SECOND_INGESTOR}
    sql = "select key, sum(value) as total from value group by key"
    project = published_of_two(tmp_path, sql, "values=1\n", "others=2\n", {"ingest/others.py": SECOND_INGESTOR})
    write(project, {f"ingest/{changed}.py": texts[changed].replace(f'"{changed}", 1', f'"{changed}", 2').replace("float(value)", "float(value) * 2")})
    states = {key: verify_number(project, f"claim[key={key}].total") for key in texts}
    assert {key for key, verdict in states.items() if verdict.state == "verified"} == texts.keys() - {changed}
    assert states[changed].state == "not reproduced" and f"recorded with {changed} 1, replayed with {changed} 2" in states[changed].reason


def test_models_that_changed_since_do_not_matter(tmp_path: Path) -> None:
    """What is replayed is what was recorded."""
    project = published(tmp_path)
    write(project, {"models/reading.sql": "select * replace (value * 2 as value) from value"})
    build(project)
    (publication,) = publications(project)
    assert {verdict.state for verdict in verify_publication(project, publication)} == {"stale", "verified"}  # n is what it was


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = published(tmp_path)

    def wh(*arguments: str) -> tuple[int, str, str]:
        status = main(["--project", str(project.root), *arguments])
        return status, *capsys.readouterr()

    (publication,) = publications(project)
    status, out, err = wh("verify", "claim[key=a].total")
    assert status == 0
    assert out.endswith("  7.75  claim[key=a].total\n  verified: 2 raw files hashed, replayed from its own 2 bundles: equal (class T, sum in rollup.claim)\n")
    assert wh("verify", publication.digest) == (0, "", "4 verified\n")
    assert wh("verify", "--all") == (0, "", f"1 of 1: claim, 4 numbers, publication {publication.digest[:12]}\n4 verified\n")
    status, out, err = wh("verify", "--all", "--json")
    assert [json.loads(line)["state"] for line in out.splitlines()] == ["verified"] * 4
    assert wh("verify", "0" * 64)[0] == ExitCode.NOT_FOUND
    shutil.rmtree(bundles(project)["a=4\n"])
    status, out, err = wh("verify", "--all")
    assert status == ExitCode.MISSING and out.count("\n  missing: 1 problem\n") == 2 and err.endswith("2 missing, 2 verified\n")
    assert err.count("WH106") == 1  # though both numbers rest on it
    (folder_of(publication) / "rows.jsonl").write_bytes(b"")
    status, out, err = wh("verify", "--all")
    assert status == ExitCode.TAMPERED and "claim\n  tampered: rows.jsonl differs" in out
    shutil.rmtree(folder_of(publication))
    status, out, err = wh("verify", "--all")
    assert status == ExitCode.MISSING and "it is gone; the ledger says that it was published" in out


def test_every_state_is_documented() -> None:
    page = " ".join((Path(__file__).parents[1] / "docs" / "lineage.md").read_text().split())
    assert [state for state in STATES if f"`{state}`" not in page] == []


def test_a_comment_changes_nothing_that_was_published(tmp_path: Path) -> None:
    project = published(tmp_path)
    for name in ("queries/claim.sql", "models/reading.sql"):
        text = (project.root / name).read_text()
        write(project, {name: f"{text}\n-- only a comment\n"})
    build(project)
    assert not publish(project, "claim").is_new
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}


# --- a publication that is damaged, beside one that is whole --------------------------------------------------------


def record_cut(folder: Path) -> None:
    (folder / "publication.json").write_bytes(b'{"query"')


def record_no_document(folder: Path) -> None:
    (folder / "publication.json").write_bytes(b"[1]")


def record_nested_without_end(folder: Path) -> None:
    (folder / "publication.json").write_bytes(b"[" * 200_000)


def record_of_no_number(folder: Path) -> None:
    (folder / "publication.json").write_bytes(b'{"rows":NaN}')


def record_altered(folder: Path) -> None:
    data = (folder / "publication.json").read_bytes()
    assert b'"rows":' in data
    (folder / "publication.json").write_bytes(data.replace(b'"rows":', b'"rows":1'))


def rows_emptied(folder: Path) -> None:
    (folder / "rows.jsonl").write_bytes(b"")


def rows_no_text(folder: Path) -> None:
    (folder / "rows.jsonl").write_bytes(b"\xff\xfe\n")


def rows_gone(folder: Path) -> None:
    (folder / "rows.jsonl").unlink()


def why_sets_emptied(folder: Path) -> None:
    (folder / "why.jsonl").write_bytes(b"")


def runs_nested_without_end(folder: Path) -> None:
    (folder / "runs.jsonl").write_bytes(b"[" * 200_000)


# What is done to the folder of a publication: the state and exit code of its one verdict.
DAMAGE = {
    record_cut: ("tampered", ExitCode.TAMPERED),
    record_no_document: ("tampered", ExitCode.TAMPERED),
    record_nested_without_end: ("tampered", ExitCode.TAMPERED),
    record_of_no_number: ("tampered", ExitCode.TAMPERED),
    record_altered: ("tampered", ExitCode.TAMPERED),
    rows_emptied: ("tampered", ExitCode.TAMPERED),
    rows_no_text: ("tampered", ExitCode.TAMPERED),
    rows_gone: ("missing", ExitCode.MISSING),
    why_sets_emptied: ("tampered", ExitCode.TAMPERED),
    runs_nested_without_end: ("tampered", ExitCode.TAMPERED),
}


@pytest.fixture(scope="module")
def two_queries(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """`claim` of FILES and `largest`, both published. Tests work on copies."""
    root = tmp_path_factory.mktemp("two")
    project = values_project(root / "project", SUMS)
    write(project, {"queries/largest.sql": "/*\ngrain: [key]\n*/\nselect key, max(value) as top from reading group by key"})
    take_in(project, value_files(root / "in", *FILES))
    build(project)
    for query in ("claim", "largest"):
        publish(project, query)
    return project


def test_a_command_hashes_and_parses_the_same_evidence_once(two_queries: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two publications over the same bundles; the next command does all of it again."""
    hashed, parsed = list[str](), list[str]()
    check, parse = EvidenceStore.check_bundle, parsing.parse

    def counting_check(store: EvidenceStore, digest: str) -> Any:
        hashed.append(digest)
        return check(store, digest)

    def counting_parse(store: EvidenceStore, waiting: Any, *others: Any) -> Any:
        parsed.extend(digest for manifests in waiting.values() for digest in manifests)
        return parse(store, waiting, *others)

    monkeypatch.setattr(EvidenceStore, "check_bundle", counting_check)
    monkeypatch.setattr(refresh, "parse", counting_parse)
    for times in (1, 2):
        assert {verdict.state for verdict in verify_all(two_queries)} == {"verified"}
        assert sorted(hashed) == sorted(parsed) == sorted([*open_store(two_queries).digests()] * times)


@pytest.mark.parametrize("damage", few(DAMAGE, 2), ids=lambda damage: damage.__name__)
def test_a_damaged_publication_has_a_verdict_of_its_own_and_the_rest_goes_on(
    damage: Callable[[Path], None], two_queries: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(two_queries.root, tmp_path / "copy", symlinks=True)
    project = read_project(tmp_path / "copy")
    state, code = DAMAGE[damage]
    damaged, numbers = next(
        (each, list(verify_publication(project, each))) for each in publications(project) if each.query == "claim"
    )
    damage(folder_of(damaged))

    def wh(*arguments: str) -> tuple[int, str, str]:
        status = main(["--project", str(project.root), *arguments])
        return status, *capsys.readouterr()

    # All of them: one verdict on the damaged one, with its place, and those of the other's numbers.
    status, out, _ = wh("verify", "--all", "--json")
    verdicts = [json.loads(line) for line in out.splitlines()]
    assert status == code
    assert sorted((each["cell"], each["state"]) for each in verdicts) == [
        ("claim", state), ("largest[key=a].top", "verified"), ("largest[key=b].top", "verified")
    ]
    (problem,) = next(each["problems"] for each in verdicts if each["cell"] == "claim")
    assert problem.startswith("WH307 ") and damaged.digest[:12] in problem
    assert wh("verify", damaged.digest)[0] == code

    # Its numbers are not told from what the build happens to hold, nor are those of the other publication kept back.
    (total,) = (each for each in numbers if each.key == "claim[key=a].total")
    for named in (str(total.number_id), total.key, "7.75"):
        status, out, err = wh("lineage", named)
        assert (status, out, err[:5]) == (code, "", "WH307")
        status, out, _ = wh("verify", named, "--json")
        assert (status, json.loads(out)["state"]) == (code, state)
    assert wh("lineage", "largest[key=a].top")[1].startswith("n-")
    assert "\n  verified: " in wh("verify", "largest[key=b].top")[1]

    # What rests on a file: the numbers of the whole one, and that of the damaged one nobody can tell.
    status, out, err = wh("impact", "r1.nv", "--json")
    assert (status, [each["key"] for each in json.loads(out)]) == (code, ["largest[key=a].top"])
    assert err.startswith("1 number of 1 publication depends on it (file)\nWH307 ")
    assert wh("impact", "nothing")[0] == ExitCode.NOT_FOUND


def test_a_number_of_two_publications_is_that_of_the_whole_one(tmp_path: Path) -> None:
    """New evidence of b publishes a's number again, under another digest: damage to one record leaves the other."""
    project = published(tmp_path)
    (first,) = publications(project)
    take_in(project, value_files(tmp_path / "more", "b=3\n"))
    build(project)
    publish(project, "claim")
    last = publications(project)[0]
    assert last.digest != first.digest
    number = lineage(project, "claim[key=a].total")
    assert number.publication == last.digest
    rows_emptied(folder_of(last))
    again = lineage(project, str(number.number_id))
    assert (again.publication, again.value) == (first.digest, 7.75)
    record_cut(folder_of(first))
    with pytest.raises(WarehouseError) as caught:
        lineage(project, str(number.number_id))
    assert (caught.value.code, caught.value.exit_code) == ("WH307", ExitCode.TAMPERED)


def test_a_number_that_only_a_damaged_publication_may_hold(tmp_path: Path) -> None:
    """No build says it any more: it is not said to be unknown."""
    project = published(tmp_path)
    (publication,) = publications(project)
    shutil.rmtree(project.builds)
    rows_emptied(folder_of(publication))
    with pytest.raises(WarehouseError) as caught:
        lineage(project, "n-aaaaaaaaaaaa")
    assert (caught.value.code, [each.code for each in caught.value.also]) == ("WH307", ["WH307"])
    assert verify_number(project, "n-aaaaaaaaaaaa").state == "tampered"


def test_publications_that_are_gone_are_missed_by_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever removes a publication leaves its event in the ledger; the numbers that the build still holds are no way out."""
    project = published(tmp_path)
    publish(project, "claim")
    event = next(event for event in Ledger(open_store(project).objects).events() if event.kind == PUBLICATION)
    shutil.rmtree(project.store_root / "publications")

    def wh(*words: str) -> tuple[int, str]:
        status = main(["--project", str(project.root), *words])
        out, err = capsys.readouterr()
        return status, out + err

    assert [(verdict.state, verdict.key) for verdict in verify_all(project)] == [("missing", "claim")]
    for words in (("verify", "--all"), ("verify", "--all", "--strict"), ("verify", "claim[key=a].total"), ("verify", event.subject[:12])):
        status, said = wh(*words)
        assert status == ExitCode.MISSING and "it is gone; the ledger says that it was published" in said, words
    for words in (("lineage", "claim[key=a].total"), ("lineage", "7.75"), ("audit-packet", "claim[key=a].total", "-o", str(tmp_path / "x.whp")), ("impact", "reading")):
        status, said = wh(*words)
        assert status != ExitCode.OK and "it is gone; the ledger says that it was published" in said, words
    assert "it is gone; the ledger says that it was published" in wh("status")[1]
    publish(project, "claim")
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}


def test_a_publication_that_is_gone_with_its_event_is_missed(tmp_path: Path) -> None:
    """The next event names the one that it follows."""
    project = published(tmp_path)
    ledger = Ledger(open_store(project).objects)
    event = next(event for event in ledger.events() if event.kind == PUBLICATION)
    take_in(project, value_files(tmp_path / "more", "c=1\n"))
    shutil.rmtree(project.store_root / "publications")
    (project.store_root / event.key).unlink()
    verdicts = list(verify_all(project))
    assert [verdict.state for verdict in verdicts] == ["missing"] and event.sha256 in verdicts[0].reason
    (project.store_root / event.key).write_text("{}")
    assert [verdict.state for verdict in verify_all(project)] == ["tampered"]


def test_a_publication_of_an_older_form_is_refused_and_not_called_tampered(tmp_path: Path) -> None:
    project = published(tmp_path)
    (publication,) = publications(project)
    record = {**publication.record, "publication_version": 4}
    older = folder_of(publication).with_name(domain_digest("wh/publication/4", record))
    shutil.move(folder_of(publication), older)
    (older / "publication.json").chmod(0o644)
    (older / "publication.json").write_bytes(canonical_json(record))
    _, verdict = verify_all(project)  # the first is on the one that was moved away
    assert (verdict.state, verdict.key) == ("refused", f"publication {older.name[:12]}")
    assert verdict.reason == "it was published in form 4; this version of wh reads forms 5 to 6"
