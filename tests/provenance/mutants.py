"""Planted wrong rewrites: each breaks one rule of the rewriter and names the check that must notice.

Evidence that is too narrow loses the row (G2) or changes its value (cells); evidence that is too wide is sufficient
for everything, so only the share of tokens that are causes (precision) can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from warehouse.trace.provenance import blocks, cells, recursion, relations, unions, windows
from warehouse.trace.provenance.values import Evidence, Kind, Term, call, collected, named

Rule = Callable[..., Any]


@dataclass(frozen=True)
class Mutant:
    """`change` makes the wrong rule of the right one; `features` is the file whose queries must show it."""

    name: str
    owner: object
    rule: str
    change: Callable[[Rule], Rule]
    features: str
    check: str


def _nothing(original: Rule) -> Rule:
    return lambda *arguments: {}


def _first_occurrence_only(original: Rule) -> Rule:
    return lambda source: {} if source.occurrence else original(source)


def _first_of_each(evidence: Evidence) -> Evidence:
    one = exp.Literal.number(1)
    return {n: [Term(call("list_slice", t.expression, one, one), Kind.LIST) for t in ts] for n, ts in evidence.items()}


def _one_row_of_each_group(original: Rule) -> Rule:
    return lambda block: _first_of_each(original(block))


def _every_group(original: Rule) -> Rule:
    return lambda block: {n: [collected(term, over={}) for term in terms] for n, terms in original(block).items()}


def _whole_partition(original: Rule) -> Rule:
    return lambda window: {part: value for part, value in original(window).items() if part == "partition_by"}


def _no_shift(original: Rule) -> Rule:
    """A shift reads no other row."""
    current = exp.WindowSpec(kind="ROWS", start="CURRENT ROW", end="CURRENT ROW")
    return lambda window, function, name: current


def _inner_join(original: Rule) -> Rule:
    def join(witness: relations.Witness, node: exp.Select) -> exp.Join:
        found = original(witness, node)
        found.set("side", None)
        return found

    return join


def _first_branch_only(original: Rule) -> Rule:
    def own_evidence(union: unions.UnionBlock, branch: relations.Relation) -> list[exp.Expression]:
        found = original(union, branch)
        return found if branch is union.branches[0] else [named(exp.Null(), item.alias) for item in found]

    return own_evidence


def _first_argument(original: Rule) -> Rule:
    return lambda node, block, grouped: cells.evidence_of(node.this, block, grouped)


def _one_cell(original: Rule) -> Rule:
    """Of the cells of an aggregate only one."""

    def rule(node: exp.Expression, block: blocks.SelectBlock, over: windows.Over | None = None) -> dict:
        return _first_of_each(original(node, block, over))

    return rule


MUTANTS = (
    Mutant("the joined side gives no rows", relations.BaseSource, "why", _first_occurrence_only, "joins", "G2"),
    Mutant("derived tables give no rows", relations.RelationSource, "why", _nothing, "nesting", "G2"),
    Mutant("subqueries give no witnesses", relations.Witness, "why", _nothing, "subqueries", "G2"),
    Mutant("a group is one of its rows", blocks, "group_why", _one_row_of_each_group, "groups", "G2"),
    Mutant("a window is its own row", windows, "window_why", _nothing, "windows", "G2"),
    Mutant("a shift reads its own row", windows, "_shift_spec", _no_shift, "windows", "G2"),
    Mutant("a union is its first branch", unions.UnionBlock, "_own_evidence", _first_branch_only, "sets", "G2"),
    Mutant("recursion forgets the path", recursion.SelfReference, "why_terms", _nothing, "nesting", "G2"),
    Mutant("witnesses are joined, not left joined", blocks, "_witness_join", _inner_join, "subqueries", "G1"),
    Mutant("COALESCE is its first argument", cells, "coalesce_rule", _first_argument, "selections", "cells"),
    Mutant("an aggregate has one cell", cells, "aggregate_rule", _one_cell, "groups", "cells"),
    Mutant("a window is its whole partition", windows, "frame_of", _whole_partition, "windows", "precision"),
    Mutant("a group is all groups", blocks, "group_why", _every_group, "groups", "precision"),
)
