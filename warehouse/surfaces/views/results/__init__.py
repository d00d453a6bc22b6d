"""Results: the rows of each rollup, with facets, the columns that people ask for first, and the SQL behind them."""
