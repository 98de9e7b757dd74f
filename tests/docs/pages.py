"""The documentation as tests read it: pages, fenced blocks, headings, links.

A fence says what its block is. The word after the language is a name that tests act on:

    ```sql survey                 accepted by the gate on the demo dataset `survey`
    ```sql survey by-classes      accepted if the demo study is published by classes, as survey_by_classes.toml has it
    ```sql survey refused QG210   refused, with this code
    ```toml patients.toml         a file that the commands below it use
    ```text                       after such SQL or after commands: exactly what they print
    ```json                       after a call over HTTP: what comes back, apart from ids and times
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.places import ROOT

DOCS = ROOT / "docs"

_FENCE = re.compile(r"^```(.*)$")
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)\)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block. `output` is the block that follows it with nothing but blank lines between."""

    page: Path
    line: int
    language: str
    words: tuple[str, ...]
    text: str
    output: Block | None = None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def all_pages() -> list[Path]:
    """Every page of text in the repository that people read."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    return [*top, *sorted((ROOT / "deploy").glob("*.md")), *sorted(DOCS.rglob("*.md"))]


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    ends: list[int] = []
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if fence:
            end = next(i for i in range(number + 1, len(lines)) if lines[i] == "```")
            language, *words = fence[1].split() or [""]
            found.append(Block(page, number + 1, language, tuple(words), "\n".join(lines[number + 1 : end]) + "\n"))
            ends.append(end)
            number = end
        number += 1
    return tuple(_with_output(block, i, found, ends, lines) for i, block in enumerate(found))


def _with_output(block: Block, i: int, found: list[Block], ends: list[int], lines: list[str]) -> Block:
    if i + 1 == len(found) or any(line.strip() for line in lines[ends[i] + 1 : found[i + 1].line - 1]):
        return block
    return Block(block.page, block.line, block.language, block.words, block.text, found[i + 1])


def prose(page: Path) -> str:
    """The page without its fenced blocks; lines keep their numbers."""
    kept, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = _FENCE.match(line) is not None
        kept.append("" if inside or fence else line)
        inside = inside != fence
    return "\n".join(kept)


def links(page: Path) -> Iterator[tuple[int, str]]:
    """(line, target) of every link in the prose of a page."""
    text = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), prose(page))
    for link in _LINK.finditer(text):
        yield text.count("\n", 0, link.start()) + 1, link[1]


@cache
def anchors(page: Path) -> frozenset[str]:
    """What a link to the page may name after #: headings, as GitHub spells them."""
    found: list[str] = []
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*$", prose(page), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.append(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    numbered = [f"{slug}-{found[:i].count(slug)}" if slug in found[:i] else slug for i, slug in enumerate(found)]
    return frozenset(numbered)


def code_spans(page: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every piece of inline code in the prose."""
    text = prose(page)
    for code in _CODE.finditer(text):
        yield text.count("\n", 0, code.start()) + 1, code[0].strip("`").strip()
