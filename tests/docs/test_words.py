"""The texts speak of the product: no machine's paths, no leftover marks, no word for two ideas."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import ROOT, all_pages
from tests.each import each

DEPLOY = sorted(path for path in (ROOT / "deploy").iterdir() if path.is_file() and path.suffix != ".md")
each_text = each("path", [*all_pages(), *DEPLOY])

# The folders where this text was written, and how it was written, are nobody's business.
MACHINE = re.compile(r"(?<![\w.])/(?:work|root|Users|home/\w+)/\w|[A-Z]:\\\\", re.IGNORECASE)
WORKPLACE = re.compile(r"\b(?:as discussed|the brief|this session|the ticket|sprint|assistant)\b", re.IGNORECASE)
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|TBD|lorem ipsum)\b|<<<<<<<|>>>>>>>")


def found(pattern: re.Pattern[str], path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [f"{path.name}:{i}: {line.strip()[:90]}" for i, line in enumerate(lines, 1) if pattern.search(line)]


@each_text
def test_no_path_of_one_machine(path: Path) -> None:
    assert not found(MACHINE, path)


@each_text
def test_no_word_of_a_workplace(path: Path) -> None:
    assert not found(WORKPLACE, path)


@each_text
def test_nothing_is_left_unfinished(path: Path) -> None:
    assert not found(UNFINISHED, path)


@each_text
def test_written_in_one_alphabet_and_closed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert text.count("\n```") % 2 == (1 if text.startswith("```") else 0), "a fence is not closed"
