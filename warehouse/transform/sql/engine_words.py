"""What the engine says, as patterns, with the way out of it and the words of an analyst. Tables only; `engine_faults` uses them.
"""

from __future__ import annotations

# A message of the engine (a pattern), and the way out. The first that matches counts.
WAYS_OUT = (
    (r"unterminated string", "close the text with a single quote; a quote within it is written twice"),
    (r"unterminated quoted", "close the name with a double quote"),
    (r"unterminated /\*", "close the comment with */"),
    (r"Max expression depth", "cut the expression into several, in CTEs"),
    (r"Ambiguous reference to table|\(use: '([^']+)' or '\1'\)", "give each its own name: from run as a, run as b"),
    (r"magic bytes|to be a Parquet file", "the file may be incomplete: copy it again, or exclude it from the pattern"),
    (r"Duplicate CTE", "rename one of them"),
    (r"must appear in the GROUP BY", "group by it, or take one value: any_value(...)"),
    (r"aggregate function calls cannot be nested", "aggregate in a CTE, then aggregate its result"),
    (r"WHERE clause cannot contain aggregates", "filter groups with having instead"),
    (r"WHERE clause cannot contain window", "filter windows with qualify instead"),
    (r"cannot contain window", "compute the window in a CTE and read that"),
    (r"Set operations can only", "both sides need the same columns; union all by name fills what is absent with NULL"),
    (r"Subquery returns", "select one column in it"),
    (r"FROM clause is missing", "text goes in single quotes: 'x'; a column needs a from"),
    (r"parameters:", "write the value"),
    (r"UNNEST\(\)", "unnest takes a list or a struct"),
    (r"because it is not a struct", "only a struct has fields: table.column needs the table's name or alias first"),
    (r"Cannot deduce template type", "its values must be of one type: cast them"),
    (r"No files found", "check that the path matches files"),
    (r"window \"", "define it: window w as (partition by ...)"),
    (r"read-only", "wh sql only reads: to keep a result, write a model"),
    (r"not utf-8 encoded", "name its encoding: read_csv('...', encoding = 'UTF-16')"),
    (r"operations are disabled", "wh sql reads only the build: to query files, write a model that reads them"),
    (r"CSV Error", "name the types: read_csv('...', types = {'a': 'varchar'}); ignore_errors = true leaves such lines out"),
    (r"More than one row returned by a subquery", "make it one row: an aggregate, or a where that names one key"),
    (r"[Dd]ivision by zero", "divide by nullif(x, 0): the result is NULL where x is 0"),
    (r"extract specifier", "name a part of a date: 'year', 'month', 'day', 'hour'"),
    (r"format specifier", "try_strptime(...) is NULL where a text has another form"),
    (r"[Cc]ould not (convert|parse)", "try_cast(x as type) is NULL where a value does not fit"),
    (r"^Referenced table [^\n]+$", "name it in the from clause, or use the alias it has there"),
    (r"selection list|without FROM", "a select names columns, and where they come from: select a from t"),
    (r"because schema \"", "wh tables --all lists the tables that there are"),
    (r"on left side of join|on right side of join", "name a column in using (...) that both sides have"),
)
# The way out of a value that an operation does not take, by the engine's name for the kind of error.
WAYS_OUT_OF_KIND = {
    "Out of Range": "use a wider type: x::hugeint, x::double",
    "Conversion": "try_cast(x as type) is NULL where a value does not fit",
    "Invalid Input": "try(...) around the expression is NULL where it fails",
    "Out of Memory": "it needs more memory than there is: aggregate or filter first, in a separate model",
    "IO": "check that the disk has space, and that every file it reads still exists",
}
# What the engine says (a pattern), and how an analyst would say it.
IN_WORDS = (
    (r"^[A-Z][A-Za-z ]* Error: ", ""),
    (r"^Referenced ", ""),
    (r" \(use: .*", ""),
    (r"in FROM clause", "in the from clause"),
    (r"^Table with name \"?(.+?)\"? does not exist.*", r"no table is named \1"),
    (r" - file system operations are disabled.*", ""),
    (r" - scalar subqueries can only.*", ""),
    (r"(?i)(division by zero).*", r"\1"),
    (r"^unterminated /\* comment.*", "unterminated comment"),
    (r"^Scalar Function with name (.+) does not exist", r"no function is named \1"),
    (r"^(Table Function|Aggregate Function|Type) with name (.+) does not exist",
     lambda match: f"no {match[1].lower()} is named {match[2]}"),
    (r"^Values were not provided.*", "a model takes no parameters"),
    (r"^Set operations can only.*", "the two sides have different numbers of columns"),
    (r"^Cannot deduce template type.*", "the values have incompatible types"),
    (r"^[A-Z](?=[a-z])", lambda match: match[0].lower()),
)
