"""Files of what was worked out before: what is damaged is not there."""

from __future__ import annotations

from pathlib import Path

from warehouse.evidence.memory_file import read_memory_file, write_memory_file


def test_only_what_was_written_whole_for_this_key_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".facts.json"
    write_memory_file(path, "k1", b'{"a": 1}\n{}')
    whole = path.read_bytes()
    assert read_memory_file(path, "k1") == b'{"a": 1}\n{}'
    assert read_memory_file(path, "1") is None and read_memory_file(path, "k2") is None
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]):
            path.write_bytes(damaged)
            assert read_memory_file(path, "k1") is None


def test_a_folder_that_cannot_be_written_to_remembers_nothing(tmp_path: Path) -> None:
    (tmp_path / ".facts.json").mkdir()
    write_memory_file(tmp_path / ".facts.json", "k", b"{}")
    write_memory_file(tmp_path / "none" / ".facts.json", "k", b"{}")
    assert read_memory_file(tmp_path / ".facts.json", "k") is None and not (tmp_path / "none").exists()
