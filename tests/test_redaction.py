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
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
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
    (["--pass", S, f"--credentials={S}", "--key", S], ["--pass", HIDDEN, f"--credentials={HIDDEN}", "--key", HIDDEN]),
    ([f"PASS={S}", f"DB_PASS={S}", f"KEY={S}", f"dbPass={S}"], [f"PASS={HIDDEN}", f"DB_PASS={HIDDEN}", f"KEY={HIDDEN}", f"dbPass={HIDDEN}"]),
    (["--secret-key", S, f"AWS_ACCESS_KEY_ID={S}", f"AccountKey={S}"], ["--secret-key", HIDDEN, f"AWS_ACCESS_KEY_ID={HIDDEN}", f"AccountKey={HIDDEN}"]),
    (["docker", "run", "-e", f"HF_TOKEN={S}", f"--env=NGC_API_KEY={S}"], ["docker", "run", "-e", f"HF_TOKEN={HIDDEN}", f"--env=NGC_API_KEY={HIDDEN}"]),
    (["curl", "-u", f"user:{S}", "host"], ["curl", "-u", f"user:{HIDDEN}", "host"]),
    (["curl", "-su", "user:12345", "host"], ["curl", "-su", f"user:{HIDDEN}", "host"]),
    (["bench", f"--user=user:{S}", "-p", "8000"], ["bench", f"--user=user:{HIDDEN}", "-p", "8000"]),
    (["hey", "-a", f"user:{S}", "-n", "9"], ["hey", "-a", f"user:{HIDDEN}", "-n", "9"]),
    (["sh", "-c", f"curl -u user:{S} host && bench -u host:80"], ["sh", "-c", f"curl -u user:{HIDDEN} host && bench -u host:80"]),
    (["mysql", "-h", "db", "-p", S, "-P", "3306"], ["mysql", "-h", "db", "-p", HIDDEN, "-P", "3306"]),
    (["/usr/bin/mysqlslap", f"-p{S}", "--concurrency=8"], ["/usr/bin/mysqlslap", f"-p{HIDDEN}", "--concurrency=8"]),
    (["sh", "-c", f"mysql -e 'a; b' -p{S} db"], ["sh", "-c", f"mysql -e 'a; b' -p{HIDDEN} db"]),
    (["sshpass", "-p", S, "ssh", "-p", "2222", "host"], ["sshpass", "-p", HIDDEN, "ssh", "-p", "2222", "host"]),
    (["docker", "login", "-u", "me", "-p", S], ["docker", "login", "-u", "me", "-p", HIDDEN]),
    (["redis-benchmark", "-a", S, "-n", "9"], ["redis-benchmark", "-a", HIDDEN, "-n", "9"]),
    (["ipmitool", "-U", "root", "-P", S, "sdr"], ["ipmitool", "-U", "root", "-P", HIDDEN, "sdr"]),
    ([f"--header=X-Api-Key: {S} {S}", f"--header=Cookie:a={S}; b={S}"], [f"--header=X-Api-Key: {HIDDEN}", f"--header=Cookie:{HIDDEN}"]),
    (["-H", f"X-Auth-Token:{S}"], ["-H", f"X-Auth-Token:{HIDDEN}"]),
    (["--extra-headers", f'{{"Authorization": "Bearer {S}", "n": 1}}'], ["--extra-headers", f'{{"Authorization": "{HIDDEN}", "n": 1}}']),
    ([f"https://host/f?sig={S}&sp=r"], [f"https://host/f?sig={HIDDEN}&sp=r"]),
    ([f"https://host/f?X-Amz-Credential={S}%2F1&X-Amz-Date=1&X-Amz-Signature={S}"], [f"https://host/f?X-Amz-Credential={HIDDEN}&X-Amz-Date=1&X-Amz-Signature={HIDDEN}"]),
    ([f"https://host/f?X-Goog-Signature={S}&access_token={S}&api_key={S}&key={S}#a"],
     [f"https://host/f?X-Goog-Signature={HIDDEN}&access_token={HIDDEN}&api_key={HIDDEN}&key={HIDDEN}#a"]),
    (["--config", f'{{"api_key": "{S}", "apiKeys": ["{S}", "{S}"], "n": 1}}'], ["--config", f'{{"api_key": "{HIDDEN}", "apiKeys": {HIDDEN}, "n": 1}}']),
    (["--config", f'{{\\"token\\": \\"{S}\\", \\"n\\": 1}}'], ["--config", f'{{\\"token\\": \\"{HIDDEN}\\", \\"n\\": 1}}']),
    (["--config", f'{{"password": "a\\"{S}", "n": 1}}'], ["--config", f'{{"password": "{HIDDEN}", "n": 1}}']),
    (["--config", f"{{'token': '{S}'}}", f"token: {S}"], ["--config", f"{{'token': '{HIDDEN}'}}", f"token: {HIDDEN}"]),
    (["sh", "-c", f"HF_TOKEN={S} bench --rows 7"], ["sh", "-c", f"HF_TOKEN={HIDDEN} bench --rows 7"]),
    (["--cert", f"-----BEGIN RSA PRIVATE KEY-----\n{S}\n-----END RSA PRIVATE KEY-----"],
     ["--cert", f"-----BEGIN RSA PRIVATE KEY-----{HIDDEN}-----END RSA PRIVATE KEY-----"]),
    (["python", "-c", f"os.environ['HF_TOKEN'] = '{S}'; login(token='{S}', n=3)"],
     ["python", "-c", f"os.environ['HF_TOKEN'] = '{HIDDEN}'; login(token='{HIDDEN}', n=3)"]),
    (["--config", f'{{"auth": {{"user": "me", "password": "{S}"}}}}'], ["--config", f'{{"auth": {{"user": "me", "password": "{HIDDEN}"}}}}']),
    (["openssl", "-passin", f"pass:{S}"], ["openssl", "-passin", HIDDEN]),
    (["say", f"bearer {S}"], ["say", f"bearer {HIDDEN}"]),
    *(
        (["login", f"{prefix}{S}{S}abc"], ["login", HIDDEN])
        for prefix in ("nvapi-", "xox" + "b-", "glpat-", "sk-", "sk-ant-api03-", "github_pat_", "gho_", "npm_", "gsk_")
    ),
    (["login", f"eyJ{S}.eyJ{S}.{S}"], ["login", HIDDEN]),
]
HARMLESS = [
    ["python", "bench.py", "--max-tokens", "128", "--tokenizer", "org/model", "--eos-token", "</s>", "--input-tokens=7"],
    ["--time-per-output-token", "50", "--token-count", "8", "--password-file", "/run/pw", "--author", "me", "--token-latency", "5"],
    ["--url", "http://auth:8080/v1", "http://host:8000/a@b", "user@host", "git@host:repo", "10:20"],
    ["pip", "install", "hf_transfer", "sk-learn-benchmark-suite", "task-1234567890abcdefgh", "hf_text_generation_inference"],
    ["sh", "-c", "cd $PWD && bench --auth"],
    ["bench", "--key-size", "4", "--keyspace", "10", "--sort-key", "name", "--key-pattern=P:P", "--partition-key", "id", "--label", "key=value"],
    ["bench", "--passes", "3", "--pass", "3", "--two-pass", "mode", "--bypass", "cache", "--pass-rate=0.9", "COMPASS=north", "--passthrough", "x"],
    ["python", "-m", "http.server", "-p", "8000"],
    ["srun", "-p", "gpu", "-u", "bench", "-n", "8"],
    ["docker", "run", "--name", "mysql", "-p", "3306:3306", "-u", "1000:1000", "-p", "127.0.0.1:80:80/tcp", "mysql:8"],
    ["sshpass", "-e", "ssh", "-p", "2222", "host", "pytest", "-p", "no:cacheprovider"],
    ["sh", "-c", "mysql -h db < load.sql; bench -p 8000"],
    ["python", "-u", "bench.py", "-u", "localhost:8000", "rsync", "-u", "host:/path", "-u", "http://host/path"],
    ["curl", "--key", "client.pem", "--cert", "client.crt", "-H", "Content-Type: application/json", "-H", "X-Request-Id: 12"],
    ["--use-token=true", "--trust-auth=false", "--enable-auth", "server.py", "--no-auth", "bench", "AUTH=none", "--bad-token", "x"],
    ["--extra-body", '{"key": "latency", "max_tokens": 128, "stop_token": "x", "auth": null, "pass": 2, "n": 1}'],
    ["https://host/path?sort_key=name&design=1&sign=x&assign=2", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"],
    ["--bearing", "12", "--signature-check", "on", "--cookie-jar", "jar.txt", "--credentials=/run/creds.json", "TOKENIZERS_PARALLELISM=false"],
    ["", "--token"],
    [],
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
