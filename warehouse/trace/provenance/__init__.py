"""Provenance by rewriting: SQL in, the same SQL with the evidence of every row and cell beside it out.

`annotator.annotate` is the whole surface. It fails closed (WH306), never runs SQL on the user's data, never changes a row.

The rows behind an output row (its why-set), for each occurrence of a base table:

- a joined row: the rows it pairs; a NULL side adds none; ASOF and LATERAL pair what the engine paired
- a group: all rows of the group; of grouping sets, all rows of the set's group
- DISTINCT, UNION: all duplicates; INTERSECT: those of both operands; EXCEPT: those of the first
- UNION ALL: the branch's own; DISTINCT ON, ORDER BY with LIMIT: the row that was kept
- IN, EXISTS, SEMI JOIN, = ANY: every row that matches; NOT IN, NOT EXISTS, ANTI JOIN: none, absence has no witness
- a scalar subquery, and ANY and ALL of its rows: every row of the subquery
- a window: the rows of the frame that decides the value, beside the row itself
- a recursive CTE: the path, the rows behind each step that led to the row

The cells behind a value are those of its arguments, of the rows that an aggregate considered after FILTER and NULLs,
of the branch that CASE and COALESCE took; a key that a grouping set leaves out has none (see `cells`).
"""
