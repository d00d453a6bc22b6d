"""`wh new`."""

PAGE = "docs/ingestors.md"
EXAMPLES = ()


def command() -> None: ...
