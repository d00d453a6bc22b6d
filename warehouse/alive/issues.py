"""A condition as a ready issue for a tracker: a Markdown file that GitHub and GitLab show alike, and the commands that open it there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warehouse.alive.conditions import Condition
from warehouse.digest import bytes_digest
from warehouse.errors import printable


@dataclass(frozen=True)
class IssueFile:
    """A file that was written, the issue's title, and whether it says something else than before."""

    path: Path
    title: str
    is_new: bool

    @property
    def commands(self) -> tuple[str, str]:
        """Those of GitHub's and GitLab's own command-line tools."""
        title, path = shlex.quote(self.title), shlex.quote(str(self.path))
        return (f"gh issue create --title {title} --body-file {path}", f'glab issue create --title {title} --description "$(cat {path})"')


def write_issues(conditions: tuple[Condition, ...], folder: Path) -> Iterator[IssueFile]:
    """Write each condition into a file that is named for it; one that says the same already is left as it is. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in conditions:
        path = folder / f"{each.kind}-{re.sub('[^a-z0-9]+', '-', each.key.lower())[:40].strip('-')}-{bytes_digest(each.key.encode())[:8]}.md"
        text = issue_text(each)
        is_new = not path.exists() or path.read_text(encoding="utf-8") != text
        if is_new:
            path.write_text(text, encoding="utf-8")
        yield IssueFile(path, printable(each.title), is_new)


def issue_text(condition: Condition) -> str:
    """What, since when, evidence and commands. All that comes from evidence stands in code blocks, in which no tracker finds links or people."""
    parts = ["## What", _block(condition.title, *condition.lines)]
    if condition.since:
        parts.append(f"Since {condition.since:%Y-%m-%d %H:%M} UTC.")
    if condition.evidence:
        parts += ["## Evidence", _block(*condition.evidence)]
    if condition.commands:
        parts += ["## Commands", _block(*condition.commands, kind="sh")]
    return "\n\n".join(parts) + "\n"


def _block(*lines: str, kind: str = "text") -> str:
    text = "\n".join(printable(line) for line in lines)
    fence = "`" * max(3, 1 + max((len(found) for found in re.findall("`+", text)), default=0))
    return f"{fence}{kind}\n{text}\n{fence}"
