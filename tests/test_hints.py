"""What `wh` says to do next can be done as it stands, and the first questions of a new user have their answers on one screen."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import sys
from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import REPOSITORY
from samples.examples import RUN
from samples.nightly import nightly_project
from samples.pairs import pairs_project
from samples.served import served_project
from serving import client

from warehouse.cli.commands import COMMANDS
from warehouse.cli.main import main
from warehouse.cli.program import load_command

QUESTIONS: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / "tests" / "first_questions.yaml").read_text())
NUMBER = "indicator_results[result_key=elapsed_ms].median"
# What prints a next step, or a command that shows more. The commands that they name are run too, and what those name.
FIRST = (
    "status", "tables", "describe serving_results", "plan", "check", "ingest --dry-run results", "ingest results", "build", "frontier",
    "goodput chat", "judge indicator_results", f"lineage '{NUMBER}'", "validity", "changes",
    f"impact {RUN}4",  # as wh freshness and wh notify print it, of a run that no number depends on
)
# These take ten seconds each in a standard project.
DEAR = ("publish", "verify")
# In place of the words that a person fills in; and what one command line more would change under the others.
FILLED = {"PATH": "results", "QUERY": "indicator_results", "COMMAND": "true"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project of the examples: its tests only read, or add."""
    folder = tmp_path_factory.mktemp("hints")
    shutil.copytree(served_project().root.parent, folder / "copy", symlinks=True)
    return folder / "copy" / "project"


@pytest.fixture
def at_terminal(copy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the copy, with 100 columns."""
    monkeypatch.chdir(copy)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def hints(text: str) -> list[str]:
    """The command lines that an output names: they end a line, behind a colon; behind # is what they do."""
    return [found.partition("  # ")[0] for found in re.findall(r": (wh [a-z].*)$", text, re.MULTILINE)]


def answered(line: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The status and all that a command prints at a terminal."""
    capfd.readouterr()
    with pytest.MonkeyPatch.context() as patched:
        for stream in (sys.stdout, sys.stderr):  # those of this moment: capfd replaces them
            patched.setattr(stream, "isatty", lambda: True)
        status = main(shlex.split(line))
        sys.stdout.flush()
    out, err = capfd.readouterr()
    return status, f"{out}{err}"


def steps(capfd: pytest.CaptureFixture[str], passed_over: Collection[str] = ()) -> set[str]:
    """Follow every next step, and those that it prints, but of the commands that are passed over. Returns the commands that were named."""
    waiting, done = list(FIRST), {each["command"].removeprefix("wh ") for each in QUESTIONS} - {*FIRST}  # they have a test of their own
    found = set[str]()
    while waiting:
        line = waiting.pop(0)
        if line in done:
            continue
        done.add(line)
        for each in line.split("; wh "):  # steps of one line, in their order
            status, text = answered(each, capfd)
            assert status == 0, (each, line, text)
            for hint in (hint for hint in hints(text) if " DIGEST " not in hint):  # which a person decides
                found.add(command := hint.split()[1].rstrip(";"))
                if command not in passed_over:
                    waiting.append(" ".join(FILLED.get(word, word) for word in hint.removeprefix("wh ").split(" ")))
    return found


def test_every_next_step_that_is_printed_works(at_terminal: None, capfd: pytest.CaptureFixture[str]) -> None:
    found = steps(capfd, DEAR)
    assert found >= {"tables", "describe", "sql", "ingest", "build", "publish"}, found


@pytest.mark.exhaustive
def test_every_next_step_after_a_publication_works(at_terminal: None, capfd: pytest.CaptureFixture[str]) -> None:
    found = steps(capfd)
    assert found >= {"tables", "describe", "sql", "ingest", "build", *DEAR}, found


@pytest.mark.parametrize(
    "each", [pytest.param(each, marks=pytest.mark.exhaustive if each["command"].startswith("wh verify") else ()) for each in QUESTIONS],
    ids=lambda each: each["question"],
)
def test_a_first_question_is_answered_by_one_command_on_one_screen(
    each: dict[str, Any], at_terminal: None, capfd: pytest.CaptureFixture[str]
) -> None:
    status, text = answered(each["command"].removeprefix("wh "), capfd)
    assert status == 0, text
    assert all(words in text for words in each["answer"]), text
    assert len(text.splitlines()) <= 40


class _Links(HTMLParser):
    """The links of a page with their words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self._is_within = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append([dict(attrs).get("href") or "", ""])
            self._is_within = True

    def handle_data(self, data: str) -> None:
        if self._is_within:
            self.found[-1][1] += data

    def handle_endtag(self, tag: str) -> None:
        self._is_within &= tag != "a"


@pytest.mark.parametrize("each", QUESTIONS, ids=lambda each: each["question"])
def test_a_first_question_is_answered_in_two_clicks_from_the_home_page(each: dict[str, Any]) -> None:
    assert len(each["clicks"]) <= 2
    with client({"nightly": nightly_project, "pairs": pairs_project}[each.get("warehouse", "nightly")]()) as visitor:
        page = visitor.get("/").text
        assert all(words in page for words in each.get("home", ()))
        for link in each["clicks"]:
            found = [place for place, words in _Links(page).found if place.startswith(link) or link in " ".join(words.split())]
            assert found, (link, _Links(page).found)
            page = visitor.get(found[0]).text
    text = " ".join(re.sub("<[^>]+>", " ", page.partition("<main")[2]).split())
    assert all(words in text for words in each["page"]), text[:3000]


@pytest.mark.parametrize(
    "line",
    [
        "--help", "tables --all", "ingestors", "contracts", "ledger", "describe serving_results",
        pytest.param("columns serving_results.status", marks=pytest.mark.exhaustive),
        "impact benchmark_run_fact", "sql 'select * from metric_definition_dim'", "validity --rules",
        pytest.param("publish indicator_results --as provisional", marks=pytest.mark.exhaustive),
    ],
)
def test_a_long_answer_fits_a_screen_of_a_terminal_and_a_pipe_gets_all(line: str, at_terminal: None, capfd: pytest.CaptureFixture[str]) -> None:
    status, text = answered(line, capfd)
    lines = text.splitlines()
    assert status == 0 and len(lines) <= 40 and max(map(len, lines)) <= 100, text
    assert main(shlex.split(line)) == 0
    is_cut = re.search(r"^and [\d,]+ more: wh |^the first \d+ rows|: wh ingestors -v$|^wh -v --help", text, re.MULTILINE)
    assert (len("".join(capfd.readouterr()).split()) > len(text.split())) == bool(is_cut), text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("frontier --where model=nothing", "model has the values: MiniMaxAI/MiniMax-M2.5"),
        ("validity --where model=nothing", "model has the values: MiniMaxAI/MiniMax-M2.5"),
        ("goodput nothing", "named are: "),
        ("compare session=nothing session=nothing", "session has the values: "),
        ("verify indicator_results", "indicator_results["),
        ("lineage indicator_results", "wh sql 'select * from indicator_results'"),
        ("explain nothing", "similar: "),
    ],
)
def test_an_error_says_what_could_be_asked_instead(line: str, words: str, at_terminal: None, capfd: pytest.CaptureFixture[str]) -> None:
    status, text = answered(line, capfd)
    assert status != 0 and "hint: " in text and words in " ".join(text.split()), text


def test_no_heading_is_cut_in_a_word(at_terminal: None, capfd: pytest.CaptureFixture[str]) -> None:
    status, text = answered("frontier --where 'model=MiniMax*'", capfd)
    heading = text.partition("\n-")[0]
    assert status == 0 and all(word in heading for word in ("interactivity_", "throughput_", "accelerator_", "configuration")), text


def test_commands_in_messages_exist_with_their_options() -> None:
    """In the texts of the program itself: `wh COMMAND --option`."""
    wrong = []
    for path in sorted((REPOSITORY / "warehouse").rglob("*.py")):
        texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        for name, rest in re.findall(r"\bwh ([a-z][a-z-]*)\b((?:(?!\bwh )[^;,:()\n])*)", "\n".join(texts)):
            options = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", rest.partition(" -- ")[0]))
            if name in COMMANDS and options - {option for parameter in load_command(name).params for option in parameter.opts}:
                wrong.append(f"{path.name}: wh {name}{rest}")
    assert wrong == []
