"""Prints the test files that a change can affect: of the working tree, and of the commits since a base (`origin/main`, else `HEAD~1`).

    python tests/affected.py [BASE]

A test is affected by the modules that it imports, by what these import, and so on; by what is imported under a name that is computed
(`_computed`); and by files that are data where it, or a module of `tests` that it imports, names them: an ingestor by its name, a
model by its own name or by that of a model that reads it, any other file by its name or its folder's.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from module_imports import REPOSITORY, all_imported, file_of

TESTS = REPOSITORY / "tests"
# A change in these can affect every test.
EVERYTHING = {"pyproject.toml", "requirements.txt", "requirements-test.txt", "tests/conftest.py", "tests/once.py"}
# A change in these can affect none.
NOTHING = {"Makefile", ".ci/run", ".gitignore", "LICENSE", "tests/affected.py", "tests/mutants.py", "tests/exhaustive.py"}
COMMAND_LINE = REPOSITORY / "warehouse/cli/main.py"
VIEWS = REPOSITORY / "warehouse/surfaces/all_views.py"
# The fixtures of conftest that run a command.
_RUNS_COMMANDS = re.compile(r"\bwh: Wh|\bwh_on\b|\bwh_bytes\b|warehouse\.cli")
# These run every command, show every view, or run every ingestor, without naming it.
_ALL_COMMANDS = {"test_cli.py", "test_docs.py", "test_deployment_files.py"}
_ALL_VIEWS = {"test_openapi.py", "test_imports.py"}
_ALL_INGESTORS = {"test_imports.py", "test_whole_warehouse.py"}
# These hold for all models of the standard project.
_ALL_MODELS = {"test_models.py", "test_publishable.py", "test_reference_models.py", "test_unit_tests.py", "test_whole_warehouse.py"}


# --- code --------------------------------------------------------------------------------------------------------


def closure(test: Path) -> set[Path]:
    """The Python files that a test can run."""
    found: set[Path] = set()
    open_ = {test}
    while open_:
        path = open_.pop()
        found.add(path)
        open_.update(_imports(path), _computed(path))
        if path.is_relative_to(TESTS) and _RUNS_COMMANDS.search(_text(path)):
            open_.update({COMMAND_LINE}, _commands(path))
        if path == VIEWS:
            open_ |= _views(test)
        open_ -= found | {TESTS / "conftest.py"}
    return found


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    found: set[Path] = set()
    for module, _ in all_imported(path):
        parts = module.split(".")
        for length in range(1, len(parts) + 1):
            place = file_of(".".join(parts[:length]))
            if place is None:
                continue
            if place.is_dir():
                place /= "__init__.py"
                # `warehouse` itself imports the whole API, but only for those outside it who ask it to open a project.
                if not place.is_file() or (length == 1 and (len(parts) > 1 or path.is_relative_to(place.parent))):
                    continue
            found.add(place)
    if path == VIEWS:
        found = {place for place in found if "views" not in place.parts}
    return tuple(found)


@cache
def _computed(path: Path) -> tuple[Path, ...]:
    """What is imported under a name that is computed, or run as a process."""
    match path.relative_to(REPOSITORY).parts:
        case ("warehouse", "surfaces", "workbench", "queries.py"):
            return (path.with_name("process.py"),)
        case ("warehouse", "landing", "parse", *_) | ("warehouse", "landing", "registry.py"):
            return (REPOSITORY / "warehouse/landing/family.py",)
        case ("warehouse", "record", *_):
            return (REPOSITORY / "warehouse/record/script.py", *(REPOSITORY / "warehouse/record/indicators").glob("*.py"))
    return ()


@cache
def _commands(path: Path) -> tuple[Path, ...]:
    """The modules of the commands that a test names: a text that begins with one."""
    modules = [module for module in (REPOSITORY / "warehouse/cli").glob("*/*.py") if module.name != "__init__.py"]
    if path.name in _ALL_COMMANDS:
        return tuple(modules)
    return tuple(module for module in modules if re.search(rf"""["'](wh )?{module.stem.replace("_", "[_-]")}\b""", _text(path)))


@cache
def _views(test: Path) -> frozenset[Path]:
    """The modules of the views that a test names."""
    modules = {module: re.findall(r'\bView\(\s*"(\w+)"', _text(module)) for module in (VIEWS.parent / "views").rglob("*.py")}
    return frozenset(module for module, names in modules.items() if test.name in _ALL_VIEWS or _words(test) & set(names))


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@cache
def _words(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", _text(path)))


# --- data --------------------------------------------------------------------------------------------------------


def readers(model: str) -> set[str]:
    """A model, and those that read it, and so on. A feeder is read by the readers of its feed."""
    texts = {path.stem: path for folder in ("models", "queries") for path in (REPOSITORY / folder).rglob("*.sql")}
    found: set[str] = set()
    open_ = {model}
    while open_:
        name = open_.pop()
        found.add(name)
        fed = set(re.findall(r"^feeds: *(\w+)", _text(texts[name]), re.MULTILINE)) if name in texts else set()
        open_ |= {other for other, path in texts.items() if ({name} | fed) & _words(path)} - found
    return found


def affects(changed: str, test: Path, reached: set[Path]) -> bool:
    """Whether a file, by its place in the checkout, affects a test that reaches these files."""
    path, parts = REPOSITORY / changed, Path(changed).parts
    if changed in EVERYTHING:
        return True
    if changed in NOTHING:
        return False
    if path in reached:
        return True
    # What another test file names is data of its own tests.
    own = {file for file in reached if file.is_relative_to(TESTS) and (file == test or not file.name.startswith("test_"))}
    names = frozenset().union(*map(_words, own))
    if parts[0] == "ingest":
        return parts[1].removesuffix(".py") in names or test.name in _ALL_INGESTORS
    if parts[:2] == ("models", "staging") and (REPOSITORY / "ingest" / parts[2]).is_dir():  # without its evidence it is empty
        return parts[2] in names or test.name in _ALL_MODELS
    if parts[0] == "benchmarks":
        return all(re.search(rf"""(REPOSITORY|parents).*["'/]{re.escape(part)}["'/]""", _text(test)) for part in parts[:2])
    if path.suffix == ".py":
        return test.name == "test_imports.py"
    if parts[0] in ("models", "queries", "unit_tests"):
        return test.name in _ALL_MODELS or bool(_readers_of(path.stem) & names)
    if parts[0] == "warehouse":  # an asset or a template: of the modules in the nearest folder above it that has some
        home = next(folder for folder in path.parents if any(folder.glob("*.py")))
        return any(file.parent == home for file in reached)
    folders = "|".join(map(re.escape, set(parts[:-1]) - {"tests"})) or path.name
    # A folder of it that is not followed by another file's name; the file itself, if its name is one of few.
    named = [re.compile(rf"""["'/]({folders})["'/](?! ?/? ?["']?[\w-]+\.\w+["'])"""), re.compile(re.escape(path.name))]
    return any(pattern.search(_text(file)) for pattern in named[: 2 if len(parts) <= 2 else 1] for file in own)


_readers_of = cache(lambda model: frozenset(readers(model)))


# --- the change --------------------------------------------------------------------------------------------------


def changed_files(base: str | None) -> set[str]:
    """The files that differ from the commit where the branch left its base, untracked files included."""
    bases = [base] if base else ["origin/main", "HEAD~1"]
    known = next((name for name in bases if _git("rev-parse", "--verify", "--quiet", name)), None)
    if known is None:
        sys.exit(f"no commit named {' or '.join(bases)}")
    (left,) = _git("merge-base", known, "HEAD")
    return {*_git("diff", "--name-only", "--no-renames", left), *_git("ls-files", "--others", "--exclude-standard")}


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True).stdout.splitlines()


def affected(changed: Iterable[str]) -> list[Path]:
    """The test files that a change can affect."""
    reached = {test: closure(test) for test in sorted(TESTS.glob("test_*.py"))}
    listed = list(changed)
    return [test for test, files in reached.items() if any(affects(each, test, files) for each in listed)]


if __name__ == "__main__":
    for found in affected(changed_files(sys.argv[1] if sys.argv[1:] else None)):
        print(found.relative_to(REPOSITORY))
