"""`wh serve` against those who would have it lie or leak: what a page answers must not outlive what it was computed from."""

from __future__ import annotations

from pathlib import Path

from samples.served import served_project
from serving import client

from warehouse.project import read_project
from warehouse.surfaces.web.tokens import Tokens


def test_revoking_the_last_token_does_not_open_the_server(tmp_path: Path) -> None:
    (tmp_path / "warehouse.toml").write_text((served_project().root / "warehouse.toml").read_text())
    own = read_project(tmp_path)
    header = {"Authorization": f"Bearer {Tokens(own).make('only', 'read')}"}
    asking = client(own)
    assert asking.get("/api/publications", headers=header).status_code == 200
    Tokens(own).revoke("only")
    assert asking.get("/api/publications").status_code == 401
    assert asking.get("/api/publications", headers=header).status_code == 401
    Tokens(own).path.unlink()
    assert asking.get("/api/publications").status_code == 401
    again = {"Authorization": f"Bearer {Tokens(own).make('next', 'read')}"}
    assert asking.get("/api/publications", headers=again).status_code == 200


def test_a_server_for_other_machines_stays_closed_if_its_tokens_go_before_the_first_request(tmp_path: Path) -> None:
    (tmp_path / "warehouse.toml").write_text((served_project().root / "warehouse.toml").read_text())
    assert client(read_project(tmp_path), needs_token=True).get("/api/publications").status_code == 401
