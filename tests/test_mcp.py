"""The MCP server: its tools, what they answer, and that no figure comes without what proves it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from conftest import REPOSITORY
from exhaustive import few
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from samples.served import served_project
from serving import client, server

from warehouse.surfaces.agents.server import mcp_server
from warehouse.surfaces.agents.tools import MOST_ROWS, ROWS, all_tools
from warehouse.surfaces.answering import Answers


def called(name: str, **arguments: Any) -> Any:
    """The result of one call, by the client of the official package."""
    async def call() -> Any:
        async with Client(mcp_server(Answers(served_project()))) as asking:
            return await asking.call_tool(name, arguments)

    return anyio.run(call)


def answer(name: str, **arguments: Any) -> dict[str, Any]:
    found = called(name, **arguments)
    assert not found.is_error, found.content[0].text
    assert json.loads(found.content[0].text) == found.structured_content
    return dict(found.structured_content)


def test_all_tools_are_listed_described_and_only_read() -> None:
    async def listed() -> Any:
        async with Client(mcp_server(Answers(served_project()))) as asking:
            return (await asking.list_tools()).tools

    tools = anyio.run(listed)
    assert [tool.name for tool in tools] == [tool.name for tool in all_tools()]
    for tool in tools:
        assert tool.annotations.read_only_hint is True and tool.annotations.destructive_hint is False, tool.name
        assert tool.description.endswith(".") and tool.input_schema["additionalProperties"] is False
        assert all(each.get("description") for each in tool.input_schema["properties"].values()), tool.name


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_client_calls_a_tool(transport: str) -> None:
    async def call(place: Any) -> Any:
        async with Client(place) as asking:
            assert {"sql", "benchmark_contracts"} <= {tool.name for tool in (await asking.list_tools()).tools}
            return await asking.call_tool("sql", {"query": "select count(*) as runs from benchmark_run_fact"})

    if transport == "stdio":
        arguments = ["-m", "warehouse.cli.main", "--project", str(served_project().root), "mcp"]
        found = anyio.run(call, StdioServerParameters(command=sys.executable, args=arguments, env={"PYTHONPATH": str(REPOSITORY)}))
    else:
        with server(served_project()) as place:
            found = anyio.run(call, f"{place}/mcp")
    assert found.structured_content["parts"][0]["rows"] == [{"runs": 6}]


# What a client of version 1 does: it starts the server, lists its tools, and calls one.
_CLIENT_1 = """
import anyio, json, sys
from importlib.metadata import version
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    asked = StdioServerParameters(command=sys.argv[1], args=["-m", "warehouse.cli.main", "--project", sys.argv[2], "mcp"], env={"PYTHONPATH": sys.argv[3]})
    async with stdio_client(asked) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        found = await session.call_tool("sql", {"query": "select count(*) as runs from benchmark_run_fact"})
        print(json.dumps([version("mcp"), tools, json.loads(found.content[0].text)["parts"][0]["rows"]]))

anyio.run(main)
"""


@pytest.mark.exhaustive
def test_a_client_of_version_1_calls_a_tool(tmp_path: Path) -> None:
    python = tmp_path / "client" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "client")], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(REPOSITORY / "tests" / "agents" / "client1.txt")]
    if subprocess.run(pip, capture_output=True).returncode:
        # Offline nothing can be fetched: that is the place's fault, not the product's.
        pytest.skip("the packages of agents/client1.txt cannot be had")
    command = [str(python), "-c", _CLIENT_1, sys.executable, str(served_project().root), str(REPOSITORY)]
    version, tools, rows = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert version.startswith("1.") and tools == [tool.name for tool in all_tools()] and rows == [{"runs": 6}]


def test_the_contract_is_that_of_the_other_surfaces() -> None:
    assert called("benchmark_contracts").content[0].text.encode() == client(served_project()).get("/api/benchmark/contracts").content


def test_an_answer_is_small_and_says_what_was_cut() -> None:
    query = "select i, repeat('x', 100) as text from range(5000) t(i) order by i"
    small = answer("sql", query=query)
    assert (len(small["parts"][0]["rows"]), small["truncated"]) == (ROWS, True)
    assert len(json.dumps(small)) < 8_000
    large = answer("sql", query=query, max_rows=MOST_ROWS)
    assert len(large["parts"][0]["rows"]) == MOST_ROWS
    whole = answer("sql", query="select 1 as one")
    assert (whole["truncated"], whole["parts"][0]["total"]) == (False, 1)


def test_every_answer_names_its_build_and_where_it_is() -> None:
    found = answer("sql", query="select 1 as one")
    place = found["cite"]["address"]
    assert found["cite"]["build_digest"][:12] in place
    assert client(served_project()).get(place).status_code == 200
    assert "no policy has judged" in found["notices"][0]


@pytest.mark.parametrize(("name", "arguments", "code"), [
    ("sql", {"query": "drop table x"}, "WH213"),
    ("sql", {"query": "select 1", "nosuch": "x"}, "WH601"),
    ("sql", {"query": "select 1", "max_rows": 5000}, "WH601"),
    ("sql", {"query": ["select 1"]}, "WH601"),
    ("sql", {"query": "select 1", "build": "ffff"}, "WH214"),
    ("nosuch", {}, "WH601"),
    ("benchmark_contracts", {"x": 1}, "WH601"),
    ("render_benchmark_run", {"cadence": "sometimes"}, "WH131"),
])
def test_a_wrong_call_gets_an_error_with_a_code(name: str, arguments: dict[str, Any], code: str) -> None:
    found = called(name, **arguments)
    assert found.is_error and json.loads(found.content[0].text)["code"] == code


def test_over_http_a_token_is_needed_as_for_pages() -> None:
    guarded = client(served_project(), hosts=frozenset({"wh.example"}))
    assert guarded.post("/mcp", json={}).status_code == 421


# --- fifty questions ---------------------------------------------------------------------------------------------

QUESTIONS = yaml.safe_load((REPOSITORY / "tests" / "agents" / "questions.yaml").read_text())


def at(found: dict[str, Any], path: str) -> Any:
    """What a reply has at a path (tests/agents/questions.yaml)."""
    if path in found:
        return found[path]
    name, _, rest = path.partition("/")
    part = next(part for part in found["parts"] if part["name"] == name)
    if "items" in part:
        return next(item["value"] for item in part["items"] if item["name"] == rest)
    if "rows" not in part:
        return part[rest]
    row, _, column = rest.rpartition("/")
    if row.isdigit():
        return part["rows"][int(row)][column]
    key, _, end = row.partition("=")
    return next(each[column] for each in part["rows"] if str(each[key]).endswith(end))


def replies(questions: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The replies to the calls of each question, by one client."""
    async def ask() -> list[list[dict[str, Any]]]:
        found = []
        async with Client(mcp_server(Answers(served_project()))) as asking:
            for question in questions:
                got: list[dict[str, Any]] = []
                for name, *arguments in question["calls"]:
                    given = {key: _filled(value, got) for key, value in (arguments[0] if arguments else {}).items()}
                    result = await asking.call_tool(name, given)
                    assert not result.is_error, (question["ask"], result.content[0].text)
                    got.append(result.structured_content)
                found.append(got)
        return found

    return anyio.run(ask)


def _filled(value: Any, got: list[dict[str, Any]]) -> Any:
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    place, _, path = value[1:].partition(":")
    return at(got[int(place)], path)


@pytest.mark.exhaustive
def test_fifty_questions_are_answered_by_the_replies_alone() -> None:
    assert len(QUESTIONS) >= 50
    wrong = []
    for question, got in zip(QUESTIONS, replies(QUESTIONS), strict=True):
        for path, expected in question["answer"].items():
            found = at(got[-1], path)
            is_right = expected[1:] in str(found) if isinstance(expected, str) and expected.startswith("~") else found == expected
            if not is_right:
                wrong.append((question["ask"], path, expected, found))
    assert wrong == []


@pytest.mark.parametrize("questions", few([QUESTIONS[place::5] for place in range(5)], 1), ids=lambda questions: questions[0]["ask"])
def test_no_figure_comes_without_what_proves_it(questions: list[dict[str, Any]]) -> None:
    """A row with a measured value names its run or its number; a large figure is of a tool that has its number id; all name the build."""
    proofs = {"run_id", "number", "number_id", "publication", "bundle", "series_key", "last_run_before"}
    for question, got in zip(questions, replies(questions), strict=True):
        for reply in got:
            assert len(str(reply["cite"]["build_digest"])) == 64, question["ask"]
            assert len(json.dumps(reply)) < 20_000, (question["ask"], len(json.dumps(reply)))
            if reply["tool"] == "sql":
                assert "no policy has judged" in reply["notices"][0]
                continue
            for part in reply["parts"]:
                for row in part.get("rows", []):
                    assert not isinstance(row.get("value"), int | float) or proofs & row.keys(), (question["ask"], part["name"])
