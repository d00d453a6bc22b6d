"""Secrets in a recorded command: none becomes evidence, and the evidence says what was taken out."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import WhOn

from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.project import Project, read_project
from warehouse.project_making import init_project
from warehouse.record.redaction import HIDDEN, Redaction, redacted

S = "Xq7vLp2ZrT9wKd4m"  # the secret of each case
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

SECRETS: list[tuple[list[str], list[str]]] = [
    ([f"--password={S}"], [f"--password={HIDDEN}"]),
    (["--password", S], ["--password", HIDDEN]),
    (["-passwd", S], ["-passwd", HIDDEN]),
    ([f"--db-pwd={S} and {S}"], [f"--db-pwd={HIDDEN}"]),
    (["--hf_token", S], ["--hf_token", HIDDEN]),
    ([f"--client-secret={S}"], [f"--client-secret={HIDDEN}"]),
    (["--api-key", S], ["--api-key", HIDDEN]),
    ([f"--apiKey={S}"], [f"--apiKey={HIDDEN}"]),
    ([f"--API_KEY={S}"], [f"--API_KEY={HIDDEN}"]),
    (["--auth", S], ["--auth", HIDDEN]),
    ([f"-Dspark.password={S}"], [f"-Dspark.password={HIDDEN}"]),
    (["env", f"HF_TOKEN={S}", f"PGPASSWORD={S}", "bench"], ["env", f"HF_TOKEN={HIDDEN}", f"PGPASSWORD={HIDDEN}", "bench"]),
    (["sh", "-c", f"export API_KEY='{S}'; bench --token {S} --n 3"], ["sh", "-c", f"export API_KEY='{HIDDEN}'; bench --token {HIDDEN} --n 3"]),
    (["--extra-body", f'{{"api_key": "{S}", "n": 1}}'], ["--extra-body", f'{{"api_key": "{HIDDEN}", "n": 1}}']),
    (["--extra-body", f'{{"token":"{S}"}}'], ["--extra-body", f'{{"token":"{HIDDEN}"}}']),
    ([f"https://user:{S}@host/path"], [f"https://user:{HIDDEN}@host/path"]),
    ([f"--url=s3://user:p/@{S}@host:80/path"], [f"--url=s3://user:{HIDDEN}@host:80/path"]),
    ([f"https://host/path?token={S}&n=1"], [f"https://host/path?token={HIDDEN}&n=1"]),
    (["-H", f"Authorization: Bearer {S}"], ["-H", f"Authorization: {HIDDEN}"]),
    (["-H", f"X-Api-Key: {S}"], ["-H", f"X-Api-Key: {HIDDEN}"]),
    ([f'--header="authorization: Basic {S}"'], [f'--header="authorization: {HIDDEN}"']),
    (["login", AWS], ["login", HIDDEN]),
    (["login", f"a {GITHUB} b"], ["login", f"a {HIDDEN} b"]),
    (["login", f"hf_{S}abc"], ["login", HIDDEN]),
    (["login", f"sk-proj-{S}"], ["login", HIDDEN]),
]
HARMLESS = [
    ["python", "bench.py", "--max-tokens", "128", "--tokenizer", "org/model", "--eos-token", "</s>", "--input-tokens=7"],
    ["--time-per-output-token", "50", "--token-count", "8", "--password-file", "/run/pw", "--author", "me"],
    ["--url", "http://auth:8080/v1", "http://host:8000/a@b", "user@host", "git@host:repo", "10:20"],
    ["pip", "install", "hf_transfer", "sk-learn-benchmark-suite", "task-1234567890abcdefgh"],
    ["sh", "-c", "cd $PWD && bench --auth"],
]


@pytest.mark.parametrize(("argv", "shown"), SECRETS)
def test_a_secret_is_taken_out_and_the_rest_stays(argv: list[str], shown: list[str]) -> None:
    found, redactions = redacted(argv)
    assert found == shown
    assert {redaction.argument for redaction in redactions} == {place for place, text in enumerate(shown) if HIDDEN in text}
    assert S not in str(redactions) and AWS not in str(redactions)


@pytest.mark.parametrize("argv", HARMLESS)
def test_what_is_no_secret_stays(argv: list[str]) -> None:
    assert redacted(argv) == (argv, ())


def test_a_projects_patterns_take_a_match_or_its_first_group() -> None:
    found, redactions = redacted(["run", "INTERNAL-77", "customer=acme", "x*"], ["INTERNAL-[0-9]+", "customer=(acme)", "x*"])
    assert found == ["run", HIDDEN, f"customer={HIDDEN}", f"{HIDDEN}*"]
    assert redactions[:2] == (Redaction(1, "a match of record.redact[0]"), Redaction(2, "a match of record.redact[1]"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = init_project(tmp_path / "project", bare=True)
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + "\n[record]\nredact = ['INTERNAL-[0-9]+']\n")
    return read_project(project.root)


def test_no_byte_of_the_store_has_the_secret_and_the_command_had_it(project: Project, wh_on: WhOn) -> None:
    script = "import hashlib, sys; print(hashlib.sha256(repr(sys.argv[1:]).encode()).hexdigest())"
    given = [f"--password={S}", f"https://user:{S}@host", "--token", S, "INTERNAL-42", "--rows", "7"]
    status, out, err = wh_on(project, "record", "--", sys.executable, "-c", script, *given)
    assert status == 0
    assert "not in the evidence: the value of --password, argv[3]\n" in err
    assert "not in the evidence: a match of record.redact[0], argv[7]\n" in err
    store = open_store(project)
    manifest = store.manifest(out.strip())
    contents = {file.raw_path: store.local_file(manifest.digest, file).read_bytes() for file in manifest.files}
    assert S.encode() not in b"".join(contents.values()) and S not in out + err
    assert not any(S.encode() in path.read_bytes() for path in project.root.rglob("*") if path.is_file())
    recording = json.loads(contents["recording.json"])
    assert recording["argv"][3:] == [
        f"--password={HIDDEN}", f"https://user:{HIDDEN}@host", "--token", HIDDEN, HIDDEN, "--rows", "7"
    ]
    assert recording["redacted"] == [
        {"argument": 3, "what": "the value of --password"}, {"argument": 4, "what": "the password in a URL"},
        {"argument": 6, "what": "the value of --token"}, {"argument": 7, "what": "a match of record.redact[0]"},
    ]
    assert contents["run-01/stdout.txt"].decode().strip() == sha256(repr(given).encode()).hexdigest()


@pytest.mark.parametrize("value", ['"one"', "[1]", '["("]'])
def test_patterns_that_are_none_are_a_fault_of_the_project_file(project: Project, value: str) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text().replace("['INTERNAL-[0-9]+']", value))
    with pytest.raises(WarehouseError, match=r"(?s)WH002 warehouse.toml:\d+:1: record.redact"):
        read_project(project.root)
