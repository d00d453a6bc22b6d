"""The engine's functions that do not answer from their arguments alone: the project's own table of them.

The engine's catalog says the same of most, release by release in other words (2.0.1 renamed 100 overloads), and is wrong about
some. So this table decides, and a test compares it with the catalog of every version that is allowed, overload by overload.
No name stands for overloads of two kinds, but for those in `VARYING_CALLS`: the name and the number of arguments tell the kind.
"""

from __future__ import annotations

# Raised with every change of the table: what was remembered of SQL under another version is worked out again.
TABLE_VERSION = 1

# Another value each time, on another day, in another process, or with other tables in the database.
VARYING = frozenset(
    (
        "ago", "current_catalog", "current_connection_id", "current_database", "current_date", "current_localtime",
        "current_localtimestamp", "current_query", "current_query_id", "current_schema", "current_schemas", "current_setting",
        "current_transaction_id", "currval", "format_type", "gen_random_uuid", "get_block_size", "get_current_time",
        "get_current_timestamp", "getenv", "getvariable", "in_search_path", "nextval", "now", "pg_conf_load_time",
        "pg_get_constraintdef", "pg_get_viewdef", "pg_postmaster_start_time", "pg_sleep", "random", "setseed", "setval",
        "sleep_ms", "stats", "today", "transaction_timestamp", "txid_current", "uuid", "uuidv4", "uuidv7", "vector_type",
        "write_log",
    )
)
# The same of those that are written without brackets.
VARYING_WORDS = frozenset(
    ("current_catalog", "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp")
)
# The same of calls with this number of arguments: with two, `age` counts from one to the other.
VARYING_CALLS = frozenset((("age", 1),))
# One value in every session of the warehouse, or an error. A model may use them; a published number is of its evidence alone.
OF_SESSION = frozenset(("current_role", "current_user", "error", "pg_my_temp_schema", "session_user", "user"))
SESSION_WORDS = frozenset(("current_role", "current_schema", "current_user", "session_user"))
# Given a time with a zone, or asked for one, they also read the session's zone and calendar, of which every session of the
# warehouse has the same (`duck.PINNED_SETTINGS`, and Gregorian by default). So each answers from its arguments alone.
ZONED = frozenset(
    (
        "+", "-", "age", "century", "date_diff", "date_part", "date_sub", "date_trunc", "datediff", "datepart", "datesub",
        "datetrunc", "day", "dayname", "dayofmonth", "dayofweek", "dayofyear", "decade", "era", "generate_series", "hour",
        "isodow", "isoyear", "julian", "last_day", "make_timestamptz", "microsecond", "millennium", "millisecond", "minute",
        "month", "monthname", "quarter", "range", "second", "strftime", "time_bucket", "timezone", "timezone_hour",
        "timezone_minute", "week", "weekday", "weekofyear", "year", "yearweek",
    )
)


def varies(name: str, arguments: int) -> bool:
    """Whether a call of a function, lower case, with this number of arguments may give another value another time."""
    return name in VARYING or (name, arguments) in VARYING_CALLS


def is_steady(name: str, stability: str | None, types: str) -> bool:
    """Whether what the engine says of an overload, which takes and returns these types, leaves it a function of its arguments:
    one that it calls constant within a query only reads the zone, as far as the table knows. Macros have no stability."""
    reads_zone = name in ZONED and stability == "CONSISTENT_WITHIN_QUERY" and ("TIME ZONE" in types or "TZ" in types)
    return stability in (None, "CONSISTENT") or reads_zone
