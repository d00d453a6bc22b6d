"""Listing what a user hands over: complete, sorted, inside the root, and unimpressed by what strangers leave there."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import unprivileged
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.manifest import checked_raw_path
from warehouse.evidence.tree import Tree, list_tree

NAMES = st.binary(min_size=1, max_size=12).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..")
)


def codes(tree: Tree) -> list[str]:
    return [problem.code for problem in tree.left_out]


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that any user may enter and write to, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="wh-test-"))
    folder.chmod(0o777)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o777)
    shutil.rmtree(folder)


def test_files_are_listed_in_the_order_of_their_paths_with_their_sizes(tmp_path: Path) -> None:
    for path, data in {"b/z": b"1", "a": b"22", "b/a/c": b"", "b.txt": b"333"}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "empty").mkdir()
    tree = list_tree(tmp_path)
    assert [(path, file.path, file.bytes) for path, file in tree.files.items()] == [
        ("a", "a", 2), ("b.txt", "b.txt", 3), ("b/a/c", "b/a/c", 0), ("b/z", "b/z", 1)
    ]
    assert all(file.source == tmp_path / path for path, file in tree.files.items())
    assert tree.left_out == ()


def test_one_file_is_a_tree_of_one(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_bytes(b"0123456789")
    (tmp_path / "other.txt").write_bytes(b"")
    tree = list_tree(tmp_path / "log.txt")
    assert (tree.root, list(tree.files), tree.files["log.txt"].bytes) == (tmp_path, ["log.txt"], 10)
    assert (tree.head("log.txt"), tree.head("log.txt", 3)) == (b"0123456789", b"012")
    assert tree.full_parts("log.txt") == (*tmp_path.parts, "log.txt")


def test_the_path_itself_may_be_a_link_or_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "log.txt").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    for path in ("link", "./real/../real", "link/log.txt"):
        tree = list_tree(Path(path))
        assert (tree.root, list(tree.files)) == (tmp_path / "real", ["log.txt"])


@pytest.mark.parametrize("name", ["absent", "absent/below", "file/below", "dangling", "loop", "new\nline", "x" * 300])
def test_a_path_that_is_not_there_is_a_usage_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(WarehouseError) as caught:
        list_tree(tmp_path / name)
    assert (caught.value.code, caught.value.exit_code) == ("WH004", ExitCode.USAGE)
    assert "\n" not in f"{caught.value.message} {caught.value.place}"


def test_links_are_reported_and_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "kept").write_bytes(b"kept")
    (root / "sub" / "up").symlink_to("..")  # a loop
    (root / "self").symlink_to("self")
    (root / "dangling").symlink_to("nowhere")
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    tree = list_tree(root)
    assert list(tree.files) == ["sub/kept"]
    assert sorted(problem.place for problem in tree.left_out) == ["dangling", "file", "folder", "self", "sub/up"]
    assert codes(tree) == ["WH104"] * 5
    assert all("link" in problem.message for problem in tree.left_out)


def test_pipes_and_sockets_are_reported_and_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    monkeypatch.chdir(tmp_path)  # the name of a socket has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        (tmp_path / "kept").write_bytes(b"kept")
        tree = list_tree(tmp_path)
    assert list(tree.files) == ["kept"]
    assert codes(tree) == ["WH104", "WH104"]
    assert sorted(problem.place for problem in tree.left_out) == ["pipe", "socket"]
    assert all("special" in problem.message for problem in tree.left_out)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_special_file_handed_over_by_name_gives_no_files_and_a_reason(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/null") if kind == "device" else tmp_path / "pipe"
    if kind == "pipe":
        os.mkfifo(path)
    tree = list_tree(path)
    assert (dict(tree.files), len(tree.left_out)) == ({}, 1)
    assert tree.left_out[0].code == "WH102"


def test_a_name_that_no_bucket_takes_is_reported_on_one_line_and_the_rest_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a\nb\x1b[31m").write_bytes(b"x")
    (tmp_path / "plain #1 é.txt").write_bytes(b"x")
    (tmp_path / "folder\t").mkdir()
    tree = list_tree(tmp_path)
    assert list(tree.files) == ["plain #1 é.txt"]
    fault = "the name has control characters, as no object in a bucket can\n  hint: rename it"
    assert sorted(str(problem) for problem in tree.left_out) == [f"WH103 a\\nb\\x1b[31m: {fault}", f"WH103 folder\\t: {fault}"]


def test_a_name_that_is_not_utf_8_is_reported_and_the_rest_is_kept(tmp_path: Path) -> None:
    for name in (b"bad\xff.txt", b"good.txt"):
        (tmp_path / os.fsdecode(name)).write_bytes(b"x")
    (tmp_path / os.fsdecode(b"folder\xfe")).mkdir()
    (tmp_path / os.fsdecode(b"folder\xfe") / "inside").write_bytes(b"x")
    tree = list_tree(tmp_path)
    assert list(tree.files) == ["good.txt"]
    assert codes(tree) == ["WH103", "WH103"]
    assert sorted(problem.place for problem in tree.left_out) == ["bad\\udcff.txt", "folder\\udcfe"]


def test_one_file_with_a_name_that_is_not_utf_8_is_reported_too(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"bad\xff.txt")
    path.write_bytes(b"x")
    tree = list_tree(path)
    assert (dict(tree.files), codes(tree)) == ({}, ["WH103"])


def test_names_above_the_root_are_text_whatever_they_are(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"caf\xe9") / "round"
    root.mkdir(parents=True)
    (root / "log.txt").write_bytes(b"x")
    tree = list_tree(root)
    assert tree.full_parts("log.txt") == (*tmp_path.parts, "caf\\udce9", "round", "log.txt")
    assert tree.head("log.txt") == b"x"


def test_a_folder_that_may_not_be_read_is_reported_and_the_rest_is_kept(public_folder: Path) -> None:
    for name in ("closed", "open"):
        (public_folder / name).mkdir(mode=0o755)
        (public_folder / name / "log.txt").write_bytes(b"x")
    (public_folder / "closed").chmod(0)
    with unprivileged():
        tree = list_tree(public_folder)
    assert list(tree.files) == ["open/log.txt"]
    assert [(problem.code, problem.place) for problem in tree.left_out] == [("WH102", "closed")]
    assert "ermission" in tree.left_out[0].message


def test_a_root_that_may_not_be_read_gives_no_files_and_a_reason(public_folder: Path) -> None:
    (public_folder / "closed").mkdir(mode=0)
    with unprivileged():
        tree = list_tree(public_folder / "closed")
    assert (dict(tree.files), codes(tree)) == ({}, ["WH102"])


def test_a_deep_tree_needs_no_recursion(tmp_path: Path) -> None:
    depth = sys.getrecursionlimit() + 200
    folders = [f"{tmp_path}/{'d/' * level}" for level in range(1, depth + 1)]
    for folder in folders:
        os.mkdir(folder)
    (Path(folders[-1]) / "log.txt").write_bytes(b"x")
    found = list(list_tree(tmp_path).files)
    os.unlink(f"{folders[-1]}/log.txt")
    for folder in reversed(folders):
        os.rmdir(folder)  # pytest's own clean-up recurses
    assert found == ["d/" * depth + "log.txt"]


@settings(max_examples=50, deadline=None)
@given(st.sets(st.lists(NAMES, min_size=1, max_size=3).map(b"/".join), max_size=6))
def test_every_file_is_listed_or_left_out_and_every_path_stays_inside(paths: set[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = os.fsencode(folder)
        written = set()
        for path in sorted(paths):
            try:
                os.makedirs(os.path.dirname(root + b"/" + path), exist_ok=True)
                with open(root + b"/" + path, "xb"):
                    written.add(path)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue  # the name is a file's and a folder's
        tree = list_tree(Path(folder))
        assert all(checked_raw_path(path) == path for path in tree.files)
        assert list(tree.files) == sorted(tree.files)
        nameable = {path for path in written if _is_text(path)}
        assert {path.encode() for path in tree.files} == nameable
        assert bool(tree.left_out) == (nameable != written)


def _is_text(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return not any(byte < 32 or byte == 127 for byte in path)
