"""Policies: which figures a number must have to be published. A policy is a TOML file in `queries/policies/`, laid over the standard
ones by its name; a publication holds the document of the one that judged it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from warehouse.claims.gate.checks import CHECKS, GUARANTEES, NOT_MATCHING, OVER
from warehouse.digest import bytes_digest, canonical_json, domain_digest
from warehouse.errors import ExitCode, WarehouseError, did_you_mean
from warehouse.project.project import Project, refuse_special, standard_folder

PUBLISHABLE, PROVISIONAL, UNSTABLE, REFUSED = "publishable", "provisional", "unstable", "refused"
UNSUPPORTED, NOT_REPRESENTATIVE, EXPLORATORY = "unsupported", "not representative", "exploratory"
# What a rule can say, the best first; the verdict on a number is the worst of its rules'. A policy without rules says EXPLORATORY.
VERDICTS = (PUBLISHABLE, PROVISIONAL, UNSUPPORTED, UNSTABLE, NOT_REPRESENTATIVE, REFUSED)
EXPLORATORY_POLICY = "exploratory"  # of a query that names none
_DOMAIN = "wh/policy/1"
_FOLDER = "policies"
_POLICY_KEYS = {"name", "version", "description", "source", "confidence", "rule"}
_RULE_KEYS = {"id", "says", "source", "severity", "check", "publishable", "provisional", "otherwise", "missing", "record", "subject", "numbers"}
_BOUND_KEYS = {"at_least", "at_most", "is"}


@dataclass(frozen=True)
class Bound:
    """What a figure must be: at least or at most a number, or one of some values. `{column = "..."}` in place of a number is what the
    published row holds in that column."""

    at_least: Any = None
    at_most: Any = None
    is_one_of: tuple[Any, ...] = ()

    def __str__(self) -> str:
        parts = [f"{word} {_named(value)}" for word, value in (("at least", self.at_least), ("at most", self.at_most)) if value is not None]
        return " and ".join([*parts, *([" or ".join(map(str, self.is_one_of))] if self.is_one_of else [])])

    def holds(self, figure: Any, row: Mapping[str, Any]) -> bool | None:
        """Whether a figure is within it; None where the row lacks the column that it names. What cannot be compared
        with it is not within it."""
        least, most = (_limit(value, row) for value in (self.at_least, self.at_most))
        if (self.at_least is not None and least is None) or (self.at_most is not None and most is None):
            return None
        try:
            within = (least is None or figure >= least) and (most is None or figure <= most)
        except TypeError:
            return False
        return bool(within) and (not self.is_one_of or figure in self.is_one_of)


@dataclass(frozen=True)
class Rule:
    """One rule. `check` names one of `checks.CHECKS`, `settings` are what else the file says for it. What is within `publishable` or
    `provisional` gets that verdict, all else `otherwise`; a figure that is not known `missing`. `record` is what to record so that it is
    known; `subject` what the rule is about, if not the measurement: the verdict on a run's speed is without it. `numbers`: only those of
    columns that are named so, `*` for any characters."""

    id: str
    says: str
    check: str
    publishable: Bound
    provisional: Bound | None
    otherwise: str
    missing: str
    source: str | None
    severity: str | None
    settings: Mapping[str, Any]
    record: str | None = None
    subject: str | None = None
    numbers: str | None = None

    def is_about(self, column: str) -> bool:
        """Whether it judges the numbers of a column."""
        return self.numbers is None or fnmatchcase(column, self.numbers)

    def verdict(self, figure: Any, row: Mapping[str, Any]) -> str:
        if figure is None:
            return self.missing
        for verdict, bound in ((PUBLISHABLE, self.publishable), (PROVISIONAL, self.provisional)):
            holds = bound.holds(figure, row) if bound else False
            if holds is None:
                return self.missing
            if holds:
                return verdict
        return self.otherwise


@dataclass(frozen=True)
class Policy:
    """A policy and the document that it was read from, whose digest a publication names. `confidence` is that of its intervals."""

    name: str
    version: str
    description: str
    confidence: float
    rules: tuple[Rule, ...]
    document: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return domain_digest(_DOMAIN, dict(self.document))

    def least(self, check: str) -> float:
        """The least figure of a check with which each number can be publishable; 0 where its rules do not say one for all rows."""
        bounds = [rule.publishable.at_least for rule in self.rules if rule.check == check and rule.numbers is None]
        return max((float(bound) for bound in bounds if isinstance(bound, int | float)), default=0.0)

    @property
    def reference(self) -> dict[str, str]:
        """How a publication names it."""
        return {"name": self.name, "version": self.version, "digest": self.digest}

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.digest[:12]})"


def load_policy(project: Project, name: str) -> Policy:
    """A policy by its name. Raises WH316 if there is none, or if it is not valid."""
    document, place = _document(project, name, ())
    return read_policy(document, place)


def _document(project: Project, name: str, extending: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """The document of a policy, with the rules of the policy that it extends, and its place."""
    paths = policy_files(project)
    if name not in paths:
        hint = did_you_mean(name, paths) or f"policies are: {', '.join(sorted(paths))}"
        raise WarehouseError("WH316", f"no policy is named {name!r}", f"queries/{_FOLDER}", hint, ExitCode.NOT_FOUND)
    place = project.shown(paths[name])
    refuse_special(paths[name], place)
    try:
        document = tomllib.loads(paths[name].read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise WarehouseError("WH316", f"it cannot be read: {error}", place) from error
    if document.get("name", name) != name:
        raise WarehouseError("WH316", f"it says that its name is {document['name']!r}", place, f'name = "{name}"')
    base = document.pop("extends", None)
    if base is None:
        return document, place
    if base in (*extending, name):
        raise WarehouseError("WH316", f"it extends {base!r}, which extends it", place)
    return extended(document, _document(project, str(base), (*extending, name))[0], place), place


def extended(document: Mapping[str, Any], base: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A policy's document with the rules of the one that it extends: a rule replaces the base's rule of its id, and others are added.
    Raises WH316 at `place`."""
    own = read_policy(document, place).document.get("rule", [])
    ids = {rule["id"] for rule in own}
    inherited = [rule for rule in base.get("rule", []) if rule["id"] not in ids]
    return {**({"confidence": base["confidence"]} if "confidence" in base else {}), **document, "rule": [*inherited, *own]}


def policy_files(project: Project) -> dict[str, Path]:
    """The file of every policy by name: a project's own replaces a standard one. Every project has the standard ones."""
    layers = (standard_folder(), project.root)
    return {path.stem: path for layer in layers for path in sorted((layer / "queries" / _FOLDER).glob("*.toml"))}


def policies_state(project: Project) -> str:
    """A digest of the files of all policies, which changes when one of them does. One that cannot be read is for `load_policy` to report."""
    found: dict[str, str | None] = {}
    for name, path in policy_files(project).items():
        try:
            found[name] = bytes_digest(path.read_bytes()) if path.is_file() else None
        except OSError:
            found[name] = None
    return domain_digest("wh/policies-state/1", found)


def read_policy(document: Mapping[str, Any], place: str) -> Policy:
    """The policy that a document is. Raises WH316 at `place`."""
    def fault(message: str, hint: str | None = None) -> WarehouseError:
        return WarehouseError("WH316", message, place, hint)

    def known(found: Mapping[str, Any], keys: set[str], what: str) -> None:
        for key in found.keys() - keys:
            raise fault(f"unknown key {key!r} in {what}", did_you_mean(key, keys) or f"known: {', '.join(sorted(keys))}")

    def bound(rule: Mapping[str, Any], key: str, what: str) -> Bound | None:
        if (said := rule.get(key)) is None:
            return None
        if not isinstance(said, dict) or not said:
            raise fault(f"{key} of {what} is no bound", f"write it so: {key} = {{at_least = 5}}")
        known(said, _BOUND_KEYS, f"{key} of {what}")
        for word in ("at_least", "at_most"):
            if word in said and not _is_limit(said[word]):
                raise fault(f"{word} in {key} of {what} is no number", f'{word} = 5, or {word} = {{column = "..."}}')
        values = said.get("is", [])
        values = values if isinstance(values, list) else [values]
        if ("is" in said and not values) or not all(isinstance(value, str | bool | int | float) for value in values):
            hint = 'is = "closed", or is = ["closed", "open"]; a date goes in quotes'
            raise fault(f"is in {key} of {what} is neither a value nor a list of values", hint)
        return Bound(said.get("at_least"), said.get("at_most"), tuple(values))

    known(document, _POLICY_KEYS, "a policy")
    for key, kind in (("name", str), ("version", str), ("description", str)):
        if not isinstance(document.get(key), kind):
            raise fault(f"it states no {key}", f'{key} = "..."')
    confidence, rules, ids = document.get("confidence", 0.95), list[Rule](), set[str]()
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise fault("confidence is a number between 0 and 1", "confidence = 0.95")
    said_rules = document.get("rule", [])
    if not isinstance(said_rules, list) or not all(isinstance(rule, dict) for rule in said_rules):
        raise fault("rule is no list of tables", "[[rule]]")
    for number, rule in enumerate(said_rules, 1):
        what = f"rule {rule.get('id', number)}"
        named = str(rule.get("check", ""))
        check = CHECKS.get(named)
        if check is None:
            raise fault(f"the check of {what} is not known: {named!r}", did_you_mean(named, CHECKS) or f"checks are: {', '.join(CHECKS)}")
        known(rule, _RULE_KEYS | check.settings, what)
        for key in ("id", "says", "publishable", "otherwise"):
            if key not in rule:
                raise fault(f"{what} states no {key}")
        for key in ("id", "says", "source", "severity", "record", "subject", "numbers", "column", "matching", "when"):
            if not isinstance(rule.get(key, ""), str):
                raise fault(f"{key} of {what} is no text", f'{key} = "..."')
        for key in check.settings - check.optional:
            if key not in rule:
                raise fault(f"{what} states no {key}", f"the check {named} needs it")
        if rule.get("over", OVER[0]) not in OVER:
            raise fault(f"over of {what} is not known: {rule['over']!r}", f"known: {', '.join(OVER)}")
        if (rule.get("over") == NOT_MATCHING) != bool(rule.get("matching")):
            raise fault(f"{what} needs both over = {NOT_MATCHING!r} and matching, or neither", 'over = "not matching", matching = "^sha256:"')
        columns = rule.get("columns", [""])
        if not isinstance(columns, list) or not columns or not all(isinstance(column, str) for column in columns):
            raise fault(f"columns of {what} is not a list of columns: {columns!r}", 'columns = ["options", "environment"]')
        asked = rule.get("guarantees", GUARANTEES)
        if not isinstance(asked, list | tuple) or not asked or not all(name in GUARANTEES for name in asked):
            raise fault(f"guarantees of {what} is not a list of guarantees: {asked!r}", f"guarantees = {list(GUARANTEES)!r}".replace("'", '"'))
        try:
            re.compile(rule.get("matching", ""))
        except re.error as error:
            raise fault(f"matching of {what} is no regular expression: {error}") from error
        for key in ("otherwise", "missing"):
            if rule.get(key, REFUSED) not in VERDICTS:
                raise fault(f"{key} of {what} is no verdict: {rule[key]!r}", f"verdicts are: {', '.join(VERDICTS)}")
        if rule["id"] in ids:
            raise fault(f"two rules have the id {rule['id']!r}")
        ids.add(rule["id"])
        publishable = bound(rule, "publishable", what)
        assert publishable
        rules.append(
            Rule(
                rule["id"], rule["says"], rule["check"], publishable, bound(rule, "provisional", what), rule["otherwise"],
                rule.get("missing", rule["otherwise"]), rule.get("source"), rule.get("severity"),
                {key: rule[key] for key in check.settings & rule.keys()}, rule.get("record"), rule.get("subject"),
                rule.get("numbers"),
            )
        )
    try:
        canonical_json(dict(document))
    except (TypeError, ValueError, RecursionError) as error:
        raise fault(f"it has no digest: {error}", "a number is neither nan nor inf, and below 2 ** 53") from error
    return Policy(document["name"], document["version"], document["description"], confidence, tuple(rules), document)


def _is_limit(value: Any) -> bool:
    if isinstance(value, dict):
        return value.keys() == {"column"} and isinstance(value["column"], str)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _limit(value: Any, row: Mapping[str, Any]) -> Any:
    return row.get(str(value.get("column"))) if isinstance(value, dict) else value


def _named(value: Any) -> str:
    return str(value.get("column")) if isinstance(value, dict) else f"{value:g}" if isinstance(value, float) else str(value)
