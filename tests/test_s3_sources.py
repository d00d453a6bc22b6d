"""File sources in S3, against a real server (Ceph's radosgw on loopback): what is read, what is kept, what is refused."""

from __future__ import annotations

import datetime
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fsspec import AbstractFileSystem
from s3_server import KEYS, client_of
from s3fs import S3FileSystem

from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import BuildReport, Progress, build
from warehouse.transform.build.preview import preview
from warehouse.transform.build.session import ModelResult
from warehouse.transform.finished.builds import current_build, find_current
from warehouse.transform.finished.query import run_query
from warehouse.transform.inputs import s3_sources as objects
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import connect, execute


@dataclass(frozen=True)
class Bucket:
    """A bucket of the server's; the client that fills it is not the one that the warehouse reads by."""

    client: S3FileSystem
    name: str

    def put(self, files: Mapping[str, str]) -> None:
        for key, text in files.items():
            self.client.pipe_file(f"{self.name}/{key}", text.encode())

    def put_parquet(self, key: str, sql: str, scratch: Path) -> None:
        duckdb.sql(f"copy ({sql}) to '{scratch / 'scratch.parquet'}'")
        self.client.put_file(str(scratch / "scratch.parquet"), f"{self.name}/{key}")

    def remove(self, key: str) -> None:
        self.client.rm_file(f"{self.name}/{key}")


@pytest.fixture
def bucket(endpoint: str, bucket_name: str, fresh_client: None) -> Bucket:
    return Bucket(client_of(endpoint), bucket_name)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "project", bare=True)


def write(project: Project, models: Mapping[str, str]) -> None:
    for name, text in models.items():
        (project.root / "models" / f"{name}.sql").write_text(text)


def rows(project: Project, sql: str) -> list[tuple[Any, ...]]:
    with run_query(current_build(project).path, sql) as result:
        return result.fetchall()


def actions(report: BuildReport) -> dict[str, str]:
    return {result.name.partition(".")[2]: result.action for result in report.models}


def refused(project: Project, code: str, progress: Progress = Progress()) -> WarehouseError:
    with pytest.raises(WarehouseError) as caught:
        build(project, progress)
    assert caught.value.code == code
    return caught.value


# --- what is read ------------------------------------------------------------------------------------------------

# Names that sort otherwise by locale, and that a pattern or a URL would read otherwise.
FILES = {
    "csv/b.csv": "n\n1\n", "csv/a é.csv": "n\n2\n", "csv/B.csv": "n\n3\n", "csv/c%20+[1].csv": "n\n4\n",
    "json/1.json": '{"n": 5}\n', "json/2.jsonl": '{"n": 6}\n', "deep/x/y/1.csv": "n\n7\n", "deep/x/2.csv": "n\n8\n",
    "deep/x/.hidden.csv": "n\n9\n", "deep/README": "no table",
}
# What a model reads ({} is the bucket's URL, or its name where a scheme stands before it), and the values in the order of
# the files.
READS = {
    "read_csv('{}/csv/*.csv')": [3, 2, 1, 4],
    "read_csv(['{}/csv/b.csv', '{}/csv/B.csv'])": [1, 3],
    "read_csv('{}/csv/[ab]*')": [2, 1],
    "read_json('{}/json/*')": [5, 6],
    "read_json('{}/json/?.json')": [5],
    "'{}/csv/b.csv'": [1],
    "read_csv('{}/deep/**/*.csv')": [9, 8, 7],
    "read_csv('s3a://{}/deep/*/*.csv')": [9, 8],
}


@pytest.mark.parametrize("read", READS)
def test_reads(read: str, bucket: Bucket, project: Project) -> None:
    bucket.put(FILES)
    call = read.replace("s3a://{}", f"s3a://{bucket.name}").replace("{}", f"s3://{bucket.name}")
    write(project, {"number": f"select n, filename from {call}"})
    assert build(project).is_new
    found = rows(project, "select n, filename from number")
    assert [n for n, _ in found] == READS[read]
    text = {n: key for key, value in FILES.items() for n in READS[read] if str(n) in value}
    assert [name for _, name in found] == [f"s3://{bucket.name}/{text[n]}" for n in READS[read]]
    assert build(project).is_new is False


def test_parquet_a_source_and_views(bucket: Bucket, project: Project, tmp_path: Path) -> None:
    """Views over files are not in the build; what is made through them is."""
    for day in (1, 2):
        bucket.put_parquet(f"run/{day}.parquet", f"select {day} as day, i from range({day * 10}) as r (i)", tmp_path)
    file = project.root / "warehouse.toml"
    file.write_text(f'{file.read_text()}\n[sources]\nrun = "s3://{bucket.name}/run/*.parquet"\n')
    project = read_project(project.root)
    write(project, {
        "second": "/*\nmaterialized: view\n*/\nselect i from run where day = 2",
        "per_day": "select day, count(*) as runs from run group by day order by day",
        "total": "select sum(i) as total from second",
    })
    build(project)
    assert rows(project, "from per_day") == [(1, 10), (2, 20)]
    assert rows(project, "from total") == [(190,)]
    assert rows(project, "select table_name from information_schema.tables where table_type = 'VIEW'"
                         " and table_schema in ('main', 'source')") == []


def test_columns_are_traced_to_objects(
    bucket: Bucket, project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put({"a.csv": "n\n1\n"})
    write(project, {"number": f"select n + 1 as more from read_csv('s3://{bucket.name}/a.csv')"})
    monkeypatch.setenv("WH_PROJECT", str(project.root))
    assert main(["columns", "number.more"]) == 0
    assert f"value  read_csv('s3://{bucket.name}/a.csv').n" in capsys.readouterr().out


@pytest.mark.exhaustive
def test_more_objects_than_one_answer_lists(bucket: Bucket, project: Project) -> None:
    """S3 lists a thousand at a time."""
    bucket.client.pipe({f"{bucket.name}/many/{i:04}.csv": f"n\n{i}\n".encode() for i in range(1001)})
    write(project, {"number": f"select n from read_csv('s3://{bucket.name}/many/*.csv')"})
    build(project)
    assert rows(project, "select count(*), sum(n), max(n) from number") == [(1001, 500500, 1000)]


# --- what is kept ------------------------------------------------------------------------------------------------


def test_only_what_reads_a_changed_object_is_built(bucket: Bucket, project: Project) -> None:
    bucket.put({"a/1.csv": "n\n1\n", "b/1.csv": "n\n1\n"})
    write(project, {name: f"select sum(n) as n from read_csv('s3://{bucket.name}/{name}/*.csv')" for name in ("a", "b")})
    first = build(project)
    assert actions(first) == {"a": "build", "b": "build"}
    bucket.put({"a/1.csv": "n\n1\n"})  # the same bytes, written again
    assert build(project).is_new is False
    bucket.put({"a/1.csv": "n\n2\n"})  # as many bytes
    second = build(project)
    assert actions(second) == {"a": "build", "b": "keep"}
    assert rows(project, "from a") == [(2,)]
    bucket.put({"a/2.csv": "n\n5\n"})
    assert actions(build(project)) == {"a": "build", "b": "keep"}
    assert rows(project, "from a") == [(7,)]
    bucket.remove("a/2.csv")
    back = build(project)
    assert (back.is_new, back.build.digest) == (False, second.build.digest)


def test_an_incremental_model_reads_the_changed_objects(bucket: Bucket, project: Project, tmp_path: Path) -> None:
    def put(day: int, *values: int) -> None:
        listed = ", ".join(f"({day % 2}, {value})" for value in values)
        bucket.put_parquet(f"day={day}/x.parquet", f"select * from (values {listed}) as v (host, value)", tmp_path)

    for day in (1, 2, 3):
        put(day, day, 10 * day)
    read = f"read_parquet('s3://{bucket.name}/*/x.parquet', hive_partitioning = true)"
    write(project, {
        "per_host": f"/*\nmaterialized: incremental\nkey: [host]\n*/\nselect host, sum(value) as total from {read} group by host"
    })
    build(project)
    assert rows(project, "from per_host order by host") == [(0, 22), (1, 44)]  # 2 + 20; 1 + 10 + 3 + 30
    put(4, 400)
    bucket.remove("day=2/x.parquet")
    planned = preview(project).models
    assert [(model.action, model.reason) for model in planned] == [("update", f"files of {read}: 1 new, 1 removed")]
    (updated,) = build(project).models
    assert (updated.action, updated.keys) == ("update", 1)  # host 0 alone
    assert rows(project, "from per_host order by host") == [(0, 400), (1, 44)]
    put(3, 5)
    assert [result.action for result in build(project).models] == ["update"]
    assert rows(project, "from per_host order by host") == [(0, 400), (1, 16)]  # 1 + 10 + 5


def test_the_check_sees_the_objects_as_they_are(bucket: Bucket, project: Project) -> None:
    """What it remembers of an object's columns it forgets with the object."""
    bucket.put({"a.csv": "n\n1\n"})
    write(project, {"number": f"select n from read_csv('s3://{bucket.name}/*.csv')"})
    build(project)
    bucket.put({"a.csv": "m\n1\n"})
    error = refused(project, "WH204")
    assert error.place == "models/number.sql:1:8"


# --- what is refused ---------------------------------------------------------------------------------------------


class Overwrite:
    """Writes an object anew when the build has come to a model."""

    def __init__(self, bucket: Bucket, model: str, files: Mapping[str, str]) -> None:
        self.bucket, self.model, self.files = bucket, model, files

    def __call__(self, result: ModelResult) -> None:
        if result.name == f"main.{self.model}":
            self.bucket.put(self.files)


# Objects that change between the build of the first and of the second model.
CHANGES = {
    "one that was read": {"a/1.csv": "n\n2\n"},
    "one that is yet to be read": {"b/1.csv": "n\n2\n"},
    "one that is yet to be read, now no table": {"b/1.csv": '"n\n\x00'},
    "a new one": {"a/2.csv": "n\n2\n"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_object_that_changes_during_the_build(change: str, bucket: Bucket, project: Project) -> None:
    bucket.put({"a/1.csv": "n\n1\n", "b/1.csv": "n\n1\n"})
    write(project, {
        "first": f"select n from read_csv('s3://{bucket.name}/a/*.csv')",
        "second": f"select n from read_csv('s3://{bucket.name}/b/*.csv') where n > (select -max(n) from first)",
    })
    error = refused(project, "WH222", Progress(built=Overwrite(bucket, "first", CHANGES[change])))
    assert error.place == f"s3://{bucket.name}/{next(iter(CHANGES[change]))[0]}/*.csv"
    assert find_current(project) is None
    if "no table" not in change:
        assert build(project).is_new


# What a model reads ({} is the bucket's URL), and what it is told.
FAULTS = {
    "{}/none/*.csv": "no file matches {}/none/*.csv",
    "{}/none.csv": "no file matches {}/none.csv",
    "s3://no-such-bucket/*.csv": "s3://no-such-bucket: there is no such bucket",
    "s3://no-such-bucket/a.csv": "s3://no-such-bucket: there is no such bucket",
    "{}/table/*": "{}/table/*: it names a folder too, {}/table/day=1: the engine would read that as a file",
    "{}/table": "{}/table: it names a folder too, {}/table: the engine would read that as a file",
}


@pytest.mark.parametrize("pattern", FAULTS)
def test_faults_of_a_pattern(pattern: str, bucket: Bucket, project: Project) -> None:
    bucket.put({"table/1.csv": "n\n1\n", "table/day=1/2.csv": "n\n1\n"})
    url = f"s3://{bucket.name}"
    write(project, {"number": f"select n\nfrom read_csv('{pattern.replace('{}', url)}')"})
    error = refused(project, "WH220")
    assert error.place == "models/number.sql:2:6"
    assert error.message.splitlines()[0] == FAULTS[pattern].replace("{}", url)


ACCESS = {
    "wrong secret": ("AWS_SECRET_ACCESS_KEY", "wrong", "refuses access (SignatureDoesNotMatch)"),
    "unknown key": ("AWS_ACCESS_KEY_ID", "nobody", "refuses access (InvalidAccessKeyId)"),
    "nobody there": ("AWS_ENDPOINT_URL", "http://127.0.0.1:1", "cannot be reached: Could not connect"),
}


@pytest.mark.parametrize("case", ACCESS)
def test_a_store_that_cannot_be_read(
    case: str, bucket: Bucket, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the check, and in a build with nothing else to do."""
    bucket.put({"a.csv": "n\n1\n"})
    write(project, {"number": f"select n from read_csv('s3://{bucket.name}/*.csv')"})
    build(project)
    variable, value, told = ACCESS[case]
    monkeypatch.setenv(variable, value)
    S3FileSystem.clear_instance_cache()
    assert told in refused(project, "WH220").message
    monkeypatch.chdir(project.root)
    assert main(["check"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"WH220 models/number.sql:1:15: s3://{bucket.name}: the store ")
    assert told in shown and "Traceback" not in shown and "hint: check that " in shown
    assert rows(project, "from number") == [(1,)]


# --- without a server --------------------------------------------------------------------------------------------


def test_a_store_that_never_answers_is_asked_once(
    fresh_client: None, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(objects, "_ANSWER_S", 1)
    asked: list[str] = []
    listed = objects._listed
    monkeypatch.setattr(objects, "_listed", lambda system, pattern: asked.append(pattern) or listed(system, pattern))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name, value in {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}.items():
            monkeypatch.setenv(name, value)
        write(project, {f"number_{i}": f"select n from read_csv('s3://bucket/{i}/*.csv')" for i in range(3)})
        monkeypatch.setenv("WH_PROJECT", str(project.root))
        assert main(["check"]) == 1
    assert capsys.readouterr().err.count("s3://bucket: the store cannot be reached: no answer within 1 s") == 3
    assert len(asked) == 1


OTHERS = {
    "http://host/a.csv": "files are read from paths and s3:// only",
    "https://host/*.csv": "files are read from paths and s3:// only",
    "gs://bucket/a.csv": "files are read from paths and s3:// only",
    "file:///tmp/a.csv": "files are read from paths and s3:// only",
    "s3://": "it names no bucket",
    "s3://buck*/a.csv": "it names no bucket",
}


@pytest.mark.parametrize("url", OTHERS)
def test_other_urls_are_refused(url: str, project: Project) -> None:
    write(project, {"number": f"select n\nfrom read_csv('{url}')"})
    error = refused(project, "WH220")
    assert (error.place, error.message.splitlines()[0]) == ("models/number.sql:2:6", f"{url}: {OTHERS[url]}")


def test_the_client_is_an_extra(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    write(project, {"number": "select n from read_csv('s3://bucket/a.csv')"})
    error = refused(project, "WH220")
    assert error.hint == "pip install 'perf-warehouse[s3]'"


class Unreadable(AbstractFileSystem):
    """A store that lists its objects and lets nobody read them."""

    protocol = "s3"

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        return {"name": path, "size": 4, "type": "file"}

    def glob(self, path: str, **options: Any) -> list[str]:
        return [path]

    def modified(self, path: str) -> datetime.datetime:
        return datetime.datetime(2026, 1, 1)

    def _open(self, path: str, *arguments: Any, **options: Any) -> Any:
        raise PermissionError("Access Denied")


def test_an_object_that_may_not_be_read() -> None:
    """The engine tells of a client's exception by its traceback: the analyst hears what was raised, and where it matters."""
    con = connect()
    con.register_filesystem(Unreadable())
    model = Model("number", "main", "models/number.sql", "select n\nfrom read_csv('s3://bucket/a.csv')")
    with pytest.raises(WarehouseError) as caught:
        execute(con, model, "create table number as ")
    con.close()
    assert (caught.value.code, caught.value.place) == ("WH220", "models/number.sql:2:6")
    assert caught.value.message.splitlines()[0] == "a file in the store cannot be read: Access Denied"
