"""Excluded-by: the runs that a number could depend on and does not, each with the clause that left it out.

The population is the runs of the tables that the query's FROM clauses keep rows of (`readings`), looking through views and
marts; a table's rows are where it ends. A run of it outside the number's why-set

- belongs to other rows of the result: it is in their why-sets, or
- is left out: by the first clause, in the order in which SQL evaluates them, after which no row of the run is left, block by
  block from the table to the result. A query that reads the run in two ways, as both branches of a UNION do, has a reason for
  each. What is left after a clause is what its rows depend on by the provenance rewriter, so the rules are those of the
  why-set: a run in the frame of a window is in it, and not excluded.

A clause is named only when the block up to it could be traced; else the reason is `not determined`, with the block. The words
and the line are the analyst's. For a conjunct of WHERE it is reported whether it was NULL for all rows of the run, or false for
some. The runs that excluded it (witnesses) are reported for NOT EXISTS, NOT IN, ANTI JOIN, EXCEPT, an IS NULL behind a LEFT
JOIN (its partners), QUALIFY (the rows in its windows' frames) and LIMIT (what was taken instead); of DISTINCT ON and of HAVING
none are reported.

A replay does not use the witnesses. They are reported for runs that are left out whole, by the clauses of the query, its views and
marts; for a replay every row that excluded another would be needed, of runs that contribute too and of every model below.

Whether a run would have been in this very row follows from the grain's columns, computed from the run's rows just before the
clause: as far as each is handed on as it is through the blocks above, and computed from one row in the block itself.
"""
