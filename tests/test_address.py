"""No secret of an address is shown: not in what is made of it, and not in errors, wherever they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.address import shown, shown_beside
from warehouse.cli.main import main
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.fsspec_urls import FsspecObjects

SECRET = "se%40cr3t"  # percent-encoded, as it must be where it has an @
ADDRESS = f"ftp://nightly:{SECRET}@127.0.0.1:1/evidence"  # nobody listens there


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sftp://user:se@cret@host:22/a:b@c", "sftp://user@host:22/a:b@c"),
        ("sftp://user:a/b@host/c", "sftp://user@host/c"),
        ("sftp://:secret@host", "sftp://@host"),
        ("simplecache::sftp://user:secret@host/c", "simplecache::sftp://user@host/c"),
        ("'ftp://u:p@h' and 'ftp://v:q@i'\nurl = \"ftp://u:p@h\"", "'ftp://u@h' and 'ftp://v@i'\nurl = \"ftp://u@h\""),
        ("https://host/c?x=1&X-Amz-Signature=abc&api_key=d#e", "https://host/c?x=1&X-Amz-Signature=***&api_key=***#e"),
        ("webhdfs://host/c?user=me&passwd=a&pwd=b&passphrase=c&auth=d", "webhdfs://host/c?user=me&passwd=***&pwd=***&passphrase=***&auth=***"),
        *((same, same) for same in (
            "abfs://container@account.example.org/a", "sftp://host:22/a:b@c", "linked:///a", "s3://bucket/a@b",
            "http://localhost:8100: refused to user@host", "models/a.sql:1:2: //a:b@c", "",
        )),
    ],
)
def test_what_is_shown_of_an_address(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert WarehouseError("WH114", text, text, text) == WarehouseError("WH114", expected, expected, expected)


def test_what_a_client_says_of_its_address() -> None:
    told = shown_beside(ADDRESS, f"530 nightly / se@cr3t ({SECRET}) at {ADDRESS}")
    assert told == "530 nightly / *** (***) at ftp://nightly@127.0.0.1:1/evidence"
    assert shown_beside("sftp://user:se@cret@host", "no se%40cret there") == "no *** there"  # written badly, and quoted by the client
    assert shown_beside("ftp://host/a", "530 refused") == "530 refused"


def test_objects_have_no_secret_to_show(tmp_path: Path) -> None:
    objects = FsspecObjects(ADDRESS, tmp_path)
    assert objects.url == "ftp://nightly@127.0.0.1:1/evidence" and objects.uri("raw/x") == f"{objects.url}/raw/x"


@pytest.mark.parametrize("command", ["doctor", "ingest", "fsck", "push", "init", "build"])
def test_no_command_shows_a_password(command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "warehouse.toml").write_text(f'[store]\nurl = "{ADDRESS}"\n')
    (tmp_path / "evidence").write_text("a\n")
    more = {
        "ingest": [str(tmp_path / "evidence")], "push": [ADDRESS], "init": [str(tmp_path / "new"), "--store", ADDRESS], "build": [],
    }
    status = main(["--project", str(tmp_path), command, *more.get(command, [])])
    out, err = capfd.readouterr()
    assert status != ExitCode.OK and "ftp://nightly@127.0.0.1" in err
    assert not any(secret in out + err for secret in (SECRET, "se@cr3t"))


@pytest.mark.parametrize("setting", ['[store]\nurl = "gopher:', '[store]\nendpoint = "ftp:', '[openlineage]\nurl = "ftp:'])
def test_no_fault_of_the_project_file_shows_a_password(setting: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "warehouse.toml").write_text(f'{setting}//nightly:{SECRET}@host"\n')
    assert main(["--project", str(tmp_path), "doctor"]) == ExitCode.FAILED
    err = capfd.readouterr().err
    assert err.startswith("WH002 warehouse.toml:2:1: ") and "//nightly@host\"\n^" in err and SECRET not in err
