"""The shape of the code: imports run one way, modules stay small, and every error has one code that is in the table."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from module_imports import REPOSITORY, imported

from warehouse.errors import CODES

PACKAGE = REPOSITORY / "warehouse"
# A layer sees itself, those after it, and whatever stands beside all of them (DESIGN.md, *Layout*). Layers of one
# line do not see each other.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"cli", "api"}),
    frozenset({"surfaces"}),
    frozenset({"alive"}),
    frozenset({"campaign"}),
    frozenset({"analysis", "maintenance", "record", "starting"}),
    frozenset({"claims"}),
    frozenset({"trace"}),
    frozenset({"scale"}),
    frozenset({"transform"}),
    frozenset({"landing"}),
    frozenset({"evidence"}),
    frozenset({"project"}),
    frozenset({"exact"}),
    frozenset({"statistics"}),
    frozenset({"digest"}),
    frozenset({"errors"}),
    frozenset({"address", "version"}),
)
# Narrower than the layers: what these may see at all.
NARROW: dict[str, set[str]] = {
    "evidence": {"digest", "errors", "address"}, "project": {"errors"},
    "exact": {"digest"}, "digest": set(), "errors": {"address"}, "address": set(), "version": set(),
    "statistics": set(),
}
MAX_LINES = 500
MAX_FILES = 16

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "standard" not in path.relative_to(PACKAGE).parts[:1])
INGESTORS = sorted((REPOSITORY / "ingest").rglob("*.py"))


def shown(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def area(module: str) -> str | None:
    """The part of the package that a module belongs to; None for the package itself (`warehouse.__version__`)."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


def allowed(importer: str) -> set[str]:
    if importer in NARROW:
        return NARROW[importer] | {importer}
    level = next(i for i, layer in enumerate(LAYERS) if importer in layer)
    return {importer}.union(*LAYERS[level + 1 :])


def test_imports_run_one_way() -> None:
    wrong = []
    for path in MODULES:
        importer = area("warehouse." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
        assert importer
        if importer == "__init__":
            # When it is called: that the package itself stays cheap to import is held by tests of the API.
            assert {module for module, _ in imported(path)} == {"warehouse.api", "warehouse.version"}
            continue
        wrong += [
            f"{shown(path)}:{line} imports {module}"
            for module, line in sorted(imported(path), key=lambda found: found[1])
            if module.split(".")[0] == "ingest" or (area(module) is not None and area(module) not in allowed(importer))
        ]
    assert wrong == []


def test_modules_import_each_other_in_no_circle() -> None:
    """Neither for types nor inside functions."""
    names = {_module_name(path): path for path in [*MODULES, *INGESTORS]}
    graph = {name: {module for module, _ in imported(path) if module in names and module != name} for name, path in names.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")


def test_every_part_of_the_package_has_a_layer() -> None:
    parts = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES} - {"__init__"}
    assert parts <= frozenset().union(*LAYERS)


def test_ingestors_see_only_the_contract() -> None:
    wrong = []
    for path in INGESTORS:
        family = path.relative_to(REPOSITORY).with_suffix("").parts[1]
        wrong += [
            f"{shown(path)}:{line} imports {module}"
            for module, line in imported(path)
            if not (module == "warehouse.landing" or module.startswith(("warehouse.landing.", f"ingest.{family}")))
            and module != f"ingest.{family}"
        ]
    assert wrong == []


def test_the_reader_of_imports_sees_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules above rest on it: an import in a function, a relative one, and one of a module by `from`."""
    monkeypatch.setattr("module_imports.REPOSITORY", tmp_path)
    file = tmp_path / "warehouse" / "landing" / "x.py"
    (tmp_path / "warehouse" / "cli").mkdir(parents=True)
    file.parent.mkdir()
    file.write_text(
        "import json\ndef f():\n    import warehouse.cli.main\n    if 1:\n        from ..evidence import store\n"
        "from warehouse import cli, __version__\nfrom .rows import y\n"
    )
    assert {module for module, _ in imported(file)} == {
        "warehouse", "warehouse.cli", "warehouse.cli.main", "warehouse.evidence", "warehouse.landing.rows"
    }
    assert "cli" not in allowed("landing") and "evidence" in allowed("landing")


def test_modules_and_folders_stay_small() -> None:
    assert [shown(path) for path in [*MODULES, *INGESTORS] if len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES] == []
    folders = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    assert {shown(folder): files for folder, files in folders.items() if files > MAX_FILES} == {}


def test_every_module_says_what_it_is() -> None:
    assert [shown(path) for path in [*MODULES, *INGESTORS] if not said_in(path)[0]] == []


# --- errors ------------------------------------------------------------------------------------------------------

_CODE = re.compile(r"WH\d{3}")


@cache
def said_in(path: Path) -> tuple[str | None, set[str]]:
    """A module's docstring, and the codes that its other strings name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body and isinstance(node.body[0], ast.Expr)
    }
    return ast.get_docstring(tree), {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        and _CODE.fullmatch(node.value)
    }


def test_the_table_of_codes_is_those_that_are_raised() -> None:
    raised = {code: shown(path) for path in [*MODULES, *INGESTORS] if path.name != "errors.py" for code in said_in(path)[1]}
    assert {code: place for code, place in raised.items() if code not in CODES} == {}
    assert {code: text for code, text in CODES.items() if code not in raised} == {}, "use them or take them out"


def test_codes_are_in_order() -> None:
    assert list(CODES) == sorted(CODES)
    assert all(_CODE.fullmatch(code) for code in CODES)
    assert len(set(CODES.values())) == len(CODES)
