"""Every link in the documentation leads somewhere, and every file that is named is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import DOCS, ROOT, all_pages, anchors, code_spans, links
from tests.each import each

each_page = each("page", all_pages())
_OUTSIDE = re.compile(r"[a-z]+:")
_FILE = re.compile(r"(?:querygate|adapters|tests|docs|deploy)(?:/[\w.-]+)+/?")


def problem(page: Path, target: str) -> str | None:
    """What is wrong with a relative link; None where it leads to a file and a heading that exist."""
    path, _, anchor = target.partition("#")
    there = (page.parent / path).resolve() if path else page
    if not there.exists():
        return "there is no such file"
    if anchor and there.suffix == ".md" and anchor not in anchors(there):
        return "there is no such heading"
    return None


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    inside = [(line, target) for line, target in links(page) if not _OUTSIDE.match(target)]
    broken = [
        f"{page.name}:{line}: {target}: {problem(page, target)}" for line, target in inside if problem(page, target)
    ]
    assert not broken, "\n".join(broken)


@each_page
def test_files_that_are_named_exist(page: Path) -> None:
    named = [(line, code) for line, code in code_spans(page) if _FILE.fullmatch(code)]
    missing = [f"{page.name}:{line}: {code}" for line, code in named if not (ROOT / code).exists()]
    assert not missing, "\n".join(missing)


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, waiting = set[Path](), [DOCS / "index.md"]
    while waiting:
        there = waiting.pop()
        if there.is_dir():  # a link to a folder shows what is in it
            waiting += there.glob("*.md")
        elif there not in reached and there.suffix == ".md":
            reached.add(there)
            targets = [target.partition("#")[0] for _, target in links(there) if not _OUTSIDE.match(target)]
            waiting += [(there.parent / target).resolve() for target in targets if target]
    lost = sorted(str(page.relative_to(ROOT)) for page in DOCS.rglob("*.md") if page not in reached)
    assert not lost


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `heading`, here\n[x](page.md#a-heading-here) [y](gone.md) [z](#gone) `[w](code.md)`\n")
    assert [(target, problem(page, target)) for _, target in links(page)] == [
        ("page.md#a-heading-here", None),
        ("gone.md", "there is no such file"),
        ("#gone", "there is no such heading"),
    ]
