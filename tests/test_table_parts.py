"""Tables that stay in parts: what checks them, and that everything above the tables answers as over tables of the database."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import WhOn
from exhaustive import few
from older_duckdb import read_by_1_4
from serving import client
from test_scale import InThisProcess, _own_models_are_standard, asking, built_by, in_order, plain, rows_of_all, whole

from warehouse.claims.numbers.lineage import lineage
from warehouse.digest import file_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.scale.drive import place_of
from warehouse.scale.task import Part, Receipt, encoded
from warehouse.trace.catalog import open_trace_session
from warehouse.trace.tracing import trace
from warehouse.transform.build.build import build
from warehouse.transform.finished import builds
from warehouse.transform.finished.builds import current_build, find_current
from warehouse.transform.finished.exchange import pull_build, push_build
from warehouse.transform.finished.query import read_query

__all__ = ["_own_models_are_standard", "plain", "whole"]
PARTS = '[scale]\npart = "3KB"\ntable = "1KB"\n'


@pytest.fixture
def once_built(plain: Path) -> Path:
    """The project with two tables in parts, made by the first test; tests copy it."""
    root = plain.with_name("in-parts")
    if not root.exists():
        by_tasks(asking(plain, root, 'table = "1KB"\n'))
    return root


@pytest.fixture
def project(once_built: Path, tmp_path: Path) -> Project:
    shutil.copytree(once_built, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def by_tasks(project: Project) -> list[int]:
    """Build it; how many tasks of each kind had to be run."""
    return [work.total - work.found for work in built_by(project, InThisProcess(place_of(project)))[0]]


def parts_of(project: Project, table: str) -> list[Path]:
    return sorted(project.builds.glob(f"parts/{table}/*.parquet"))


def forge(path: Path, to: Path | None = None) -> None:
    """Other seconds in a part of `kept`, all else alike: the size is not, and the time is when it was."""
    status = path.stat()
    with duckdb.connect() as con:
        rows = f"select * replace (seconds + 1000 as seconds) from read_parquet('{path}')"
        con.execute(f"copy ({rows}) to '{path}.forged' (format parquet, compression zstd)")
    os.utime(f"{path}.forged", ns=(status.st_atime_ns, status.st_mtime_ns))
    (to or path).parent.mkdir(parents=True, exist_ok=True)
    os.replace(f"{path}.forged", to or path)


# --- what checks a part ------------------------------------------------------------------------------------------


def test_a_part_that_was_altered_is_never_read(project: Project, whole: Project, wh_on: WhOn) -> None:
    by_tasks(project)  # a copied project: its files are hashed once more, and are known then
    forge(parts_of(project, "main.kept")[0])
    status, out, err = wh_on(project, "sql", "select max(seconds) from kept")
    assert (status, out) == (ExitCode.TAMPERED, "") and "WH218" in err
    with pytest.raises(WarehouseError, match="WH218"):
        current_build(project)
    with pytest.raises(WarehouseError, match="WH218"):
        open_trace_session(current_of_record(project), project.store_root)
    by_tasks(project)
    assert rows_of_all(project) == rows_of_all(whole) and list(check_store(project, Scope()).findings) == []


def current_of_record(project: Project) -> builds.Build:
    [build] = builds.list_builds(project)
    return build


def test_a_part_that_is_gone_is_told_and_made_again(project: Project, whole: Project) -> None:
    parts_of(project, "main.kept")[0].unlink()
    with pytest.raises(WarehouseError, match="WH218"):
        current_build(project)
    by_tasks(project)
    assert rows_of_all(project) == rows_of_all(whole)


def test_two_tables_with_equal_parts_have_each_its_own(project: Project) -> None:
    (project.root / "models/twin.sql").write_text("select * from kept")
    by_tasks(project)
    kept, twin = parts_of(project, "main.kept"), parts_of(project, "main.twin")
    assert [path.name for path in kept] == [path.name for path in twin] != []
    twin[0].unlink()
    with pytest.raises(WarehouseError, match="a part of one of its tables is gone"):
        current_build(project)


def test_parts_that_nobody_touched_are_not_hashed_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    by_tasks(project)
    hashed: list[Path] = []
    monkeypatch.setattr(builds, "file_digest", lambda path: (hashed.append(path), file_digest(path))[1])
    current_build(project)
    (project.root / "models/every.sql").write_text("select count(*) as n from file")
    by_tasks(project)
    assert {path.suffix for path in hashed} == {".duckdb"}
    touched = parts_of(project, "main.kept")[0]
    touched.touch()
    current_build(project)
    assert touched in hashed


def test_parts_of_a_pushed_build_replace_altered_ones(project: Project, whole: Project, tmp_path: Path) -> None:
    other, reader = (init_project(tmp_path / name, bare=True) for name in ("other", "reader"))
    push_build(current_build(project), open_store(other))
    pull_build(reader, open_store(other).objects, "")
    forge(parts_of(reader, "main.kept")[0])
    assert find_current(reader) is None
    assert pull_build(reader, open_store(other).objects, "").is_new
    assert rows_of_all(reader) == rows_of_all(whole)


def test_a_part_of_the_same_name_in_the_current_folder_is_not_read(
    project: Project, whole: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in parts_of(project, "main.kept"):
        forge(part, tmp_path / "elsewhere/parts/main.kept" / part.name)
    assert len(list((tmp_path / "elsewhere").rglob("*.parquet"))) == len(parts_of(project, "main.kept"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert rows_of_all(project) == rows_of_all(whole)


@pytest.mark.exhaustive
def test_duckdb_1_4_reads_them_in_the_folder_of_the_builds(project: Project, tmp_path: Path) -> None:
    version, read, failed = read_by_1_4(current_build(project).path, tmp_path)
    assert version.startswith("1.4.") and read > 3 and failed == []


def test_lineage_checks_the_parts_that_it_reads(project: Project) -> None:
    build = current_build(project)
    for table in ("main.kept", "main.file"):
        for part in parts_of(project, table):
            part.chmod(0o644)
    con, catalog = open_trace_session(build, project.store_root, is_of_cell=True)
    for part in parts_of(project, "main.kept"):  # after the build was looked at
        forge(part)
    with con, pytest.raises(WarehouseError, match="WH105"):
        trace(con, catalog, "slowest", ["total_ms"], [0])


def test_keys_that_prove_partitions_apart_are_checked(project: Project) -> None:
    keys = sorted(project.store_root.glob("tables/keys/*.parquet"))[0]
    shutil.copyfile(keys, f"{keys}.new")
    with open(f"{keys}.new", "ab") as stream:
        stream.write(b" ")
    os.replace(f"{keys}.new", keys)
    (project.root / "models/every.sql").write_text("select count(*) as n from file")
    with pytest.raises(WarehouseError, match="WH105"):
        by_tasks(project)


def test_a_receipt_of_another_task_is_as_none(project: Project) -> None:
    receipts = [path for path in sorted(project.store_root.glob("receipts/*/*.json")) if '"batch":""' in path.read_text()]
    shutil.copyfile(receipts[0], f"{receipts[1]}.new")
    os.replace(f"{receipts[1]}.new", receipts[1])
    assert [finding.kind for finding in check_store(project, Scope()).findings][:1] == ["altered"]
    (project.root / "models/every.sql").write_text("select count(*) as n from file")
    assert by_tasks(project) == [1, 1]


def test_a_receipt_cannot_name_a_file_elsewhere(project: Project, tmp_path: Path) -> None:
    """Its part would be put beside the builds."""
    outside = tmp_path / "outside.parquet"
    shutil.copyfile(parts_of(project, "main.kept")[0], outside)
    part = Part("main.kept", f"../../../../{tmp_path.name}/outside", 1, 1)
    store = open_store(project)
    for path in project.store_root.glob("receipts/*/*.json"):
        if '"batch":""' in path.read_text():
            path.unlink()
            store.objects.create(f"receipts/{path.parent.name}/{path.name}", encoded(Receipt(path.stem, (part,))))
    (project.root / "models/every.sql").write_text("select count(*) as n from file")
    with pytest.raises(WarehouseError, match="WH10[56]"):
        by_tasks(project)


# --- one build after another -------------------------------------------------------------------------------------


def lineage_of(project: Project, query: str = "slowest", column: str = "total_ms") -> list[object]:
    numbers = in_order(project, f"select number_ids.{column} from {query}")
    found = lineage(project, numbers[0][0])
    return [numbers, found.runs, sorted((file.raw_path, file.ranges) for file in found.raw_files)]


def test_a_new_way_to_read_a_table_is_traced(project: Project, plain: Path, tmp_path: Path) -> None:
    """Keys of the partitions are there already, but for the new model's."""
    whole = asking(plain, tmp_path / "whole")
    for one in (project, whole):
        (one.root / "models/step_one.sql").write_text("select artifact_manifest_digest, min(seconds) as least from sample group by all")
        (one.root / "queries/fastest.sql").write_text(
            "/*\ngrain: [artifact_manifest_digest]\ncolumns:\n  artifact_manifest_digest: {type: varchar}\n"
            "  least: {type: double, unit: s}\n*/\nselect artifact_manifest_digest, least from step_one"
        )
    by_tasks(project)
    build(whole)
    assert "main.kept" in current_build(project).parts
    for query, column in (("fastest", "least"), ("slowest", "total_ms")):
        assert lineage_of(project, query, column) == lineage_of(whole, query, column)


def test_a_build_without_an_engine_keeps_what_it_need_not_read(project: Project, plain: Path, tmp_path: Path) -> None:
    whole = asking(plain, tmp_path / "whole")
    for one in (project, whole):
        (one.root / "models/every.sql").write_text("select string_agg(run_id order by run_id, step) as runs from kept")
        build(one)
    assert set(current_build(project).parts) == {"main.file"}
    assert rows_of_all(project) == rows_of_all(whole) and lineage_of(project) == lineage_of(whole)


@pytest.mark.parametrize("size", few(["1GB", "1KB"], 1))
def test_a_table_leaves_its_parts_as_the_limit_is_raised(size: str, project: Project, whole: Project) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text().replace('table = "1KB"', f'table = "{size}"'))
    (project.root / "models/every.sql").write_text("select count(*) as n from file")  # the same build would not be made again
    by_tasks(read_project(project.root))
    assert (current_build(project).parts == {}) == (size == "1GB")
    assert rows_of_all(project) == rows_of_all(whole) and lineage_of(project) == lineage_of(whole)


# --- everything above the tables ---------------------------------------------------------------------------------


@pytest.fixture
def both(once_built: Path, plain: Path) -> tuple[Project, Project]:
    """The project in parts, and the same without; what the tests below do to both stays."""
    folder = plain.with_name("both")
    if not folder.exists():
        shutil.copytree(once_built, folder / "parts", symlinks=True)
        build(asking(plain, folder / "whole"))
        by_tasks(read_project(folder / "parts"))
    return read_project(folder / "parts"), read_project(folder / "whole")


TOLD_ALONE = r"[0-9a-f]{64}|\b[0-9a-f]{8}([0-9a-f]{4})?\b|\d{4}-\d\d-\d\d[T ][\d:.]+Z?|ledger/\S+json|\b0\.\d\d\b|\b[\d.]+ m?s\b|<dt>took</dt>.*"  # digests of what has a time, and times


def said_alike(both: tuple[Project, Project], ask: Callable[[Project, str, str], str]) -> str:
    """What is said of both projects; `ask` is given two numbers."""
    said = []
    for project in both:
        with read_query(current_build(project).path, "select number_ids.total_ms from slowest order by run_id limit 2") as result:
            (number,), (other,) = result.fetchall()
        said.append(re.sub(TOLD_ALONE, "_", ask(project, number, other).replace(str(project.root), "ROOT")))
    assert said[0].splitlines() == said[1].splitlines()
    return said[0]


RARELY = pytest.mark.exhaustive  # each reads the tables as one of the others does


@pytest.mark.parametrize(("command", "words"), [
    ("publish slowest --as provisional", "40 numbers"), pytest.param("verify --all --json", '"state": "verified"', marks=RARELY),
    ("lineage NUMBER --json", '"raw_files"'), ("verify NUMBER", "replayed from"), pytest.param("impact g0-000", "depends on it", marks=RARELY),
    ("test", "kept.seconds_range"), pytest.param("plan", "7 kept", marks=RARELY), ("tables --json --all", '"rows": 1232'),
    ("describe kept", "1,232 rows"), ("fsck", "nothing is wrong"), ("sql select_*_from_kept_order_by_all", "g0-000"),
    ("sql from_read_parquet('parts/main.kept/*.parquet')", "WH213"), pytest.param("diff NUMBER OTHER", "differs", marks=RARELY),
    pytest.param("audit-packet NUMBER -o PACKET", "", marks=RARELY),
])
def test_a_command_answers_alike(command: str, words: str, both: tuple[Project, Project], wh_on: WhOn) -> None:
    """In the order in which they stand: the first publishes."""

    def ask(project: Project, number: str, other: str) -> str:
        given = {"NUMBER": number, "OTHER": other, "PACKET": str(project.root / "number.whp")}
        status, out, err = wh_on(project, *(given.get(word, word.replace("_", " ")) for word in command.split()))
        return f"{status} {out} {err}"

    assert words in said_alike(both, ask)


@pytest.mark.parametrize(
    "path", few(["/numbers/NUMBER", "/catalogue/main.kept", "/sql?query=select+max(seconds)+from+kept", "/", "/numbers/NUMBER/excluded"], 2)
)
def test_a_page_answers_alike(path: str, both: tuple[Project, Project]) -> None:
    assert "</html>" in said_alike(both, lambda project, number, other: client(project).get(path.replace("NUMBER", number)).text)
