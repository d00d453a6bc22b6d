"""Provenance by rewriting: SQL in, the same SQL with the evidence of every row and cell beside it out.

`annotate` is the whole surface. It fails closed (WH306), never runs SQL on the user's data, never changes a row.
"""

from warehouse.claims.provenance.annotator import annotate
from warehouse.claims.provenance.engine import TRACE_SETTINGS
from warehouse.claims.provenance.refusals import REASONS
from warehouse.claims.provenance.values import Annotated, Occurrence

__all__ = ["REASONS", "TRACE_SETTINGS", "Annotated", "Occurrence", "annotate"]
