"""Markdown to HTML, for pages that we wrote: headings with anchors as GitHub spells them, links that are followed, wide
tables that scroll. No markup of a page's own gets through."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER: Final = MarkdownIt("commonmark", {"html": True}).enable("table")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS: Final = re.compile(r"```\w*|[|]|(?<!\S)[-#>]+(?=\s)|-{3,}")
_SPACES: Final = re.compile(r"\s+")
_CODE: Final = re.compile(r"QG\d{3}")
_HEADING: Final = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)

Follow = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Markup:
    """A page: its HTML, and its headings."""

    html: str
    headings: tuple[Heading, ...]

    def __html__(self) -> str:
        """Templates take it as it is: what was not ours is escaped by now."""
        return self.html


def parse(text: str) -> list[Token]:
    return _PARSER.parse(text)


def render(text: str, follow: Follow) -> Markup:
    """The page as HTML.

    >>> render("# A *page*\\n[x](y.md) <script>", lambda target: "/y").html
    '<h1 id="a-page">A <em>page</em></h1>\\n<p><a href="/y">x</a> &lt;script&gt;</p>\\n'
    """
    tokens = parse(text)
    headings = _anchor(tokens)
    for token in tokens:
        _tame(token)
        _follow_links(token.children or (), follow)
    html = _PARSER.renderer.render(_with_scrolling(tokens), _PARSER.options, {})
    html = html.replace("<pre>", '<pre tabindex="0">')  # what scrolls, the keyboard can reach; of a text it is &lt;pre
    return Markup(html, tuple(headings))


def first_heading(text: str) -> str:
    """The title of a page, without marks.

    >>> first_heading("<!-- made -->\\n# The `key`\\n")
    'The key'
    """
    found = _HEADING.search(text)
    return plain(_PARSER.parseInline(found[1])[0]) if found else ""


def plain(inline: Token) -> str:
    """The words of a line, without marks and without comments."""
    kept = ("text", "code_inline", "softbreak")
    parts = (one for one in inline.children or () if one.type in kept)
    return "".join(" " if one.type == "softbreak" else one.content for one in parts)


class Anchors:
    """What links to the headings of one page name; a heading that comes again is numbered.

    >>> anchors = Anchors()
    >>> anchors.spell("What `k` does, and why"), anchors.spell("Why"), anchors.spell("Why")
    ('what-k-does-and-why', 'why', 'why-1')
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def spell(self, heading: str) -> str:
        slug = re.sub(r"[^\w\- ]", "", _LINK.sub(r"\1", heading).lower()).replace(" ", "-")
        self._seen[slug] += 1
        return slug if self._seen[slug] == 1 else f"{slug}-{self._seen[slug] - 1}"


def strip_marks(text: str) -> str:
    """The words of a text, for a search: without the marks of Markdown, links as their words.

    >>> strip_marks("a [page](x.md#y), **bold** `code_1`  | cell |")
    'a page, bold code_1 cell'
    """
    words = _LINK.sub(r"\1", _COMMENT.sub(" ", text))
    return _SPACES.sub(" ", _MARKS.sub(" ", words.replace("**", "").replace("`", ""))).strip()


def _walk_headings(tokens: Sequence[Token]) -> list[tuple[int, Heading]]:
    """Where each heading opens."""
    anchors = Anchors()
    places = [place for place, token in enumerate(tokens) if token.type == "heading_open"]
    texts = [plain(tokens[place + 1]) for place in places]
    return [
        (place, Heading(int(tokens[place].tag[1]), anchors.spell(text), text))
        for place, text in zip(places, texts, strict=True)
    ]


def _anchor(tokens: list[Token]) -> list[Heading]:
    """Refusals are linked by their code as it is written, too."""
    found = _walk_headings(tokens)
    for place, heading in found:
        tokens[place].attrSet("id", heading.anchor)
        if _CODE.fullmatch(heading.text):
            children = tokens[place + 1].children
            if children is not None:
                children.insert(0, Token("span_open", "span", 1, attrs={"id": heading.text}))
                children.insert(1, Token("span_close", "span", -1))
    return [heading for _, heading in found]


def _tame(token: Token) -> None:
    """Comments are for writers; other markup is shown as it is written."""
    for one in (token, *(token.children or ())):
        if one.type in ("html_block", "html_inline"):
            one.content = escape(_COMMENT.sub("", one.content)).strip("\n")
        elif one.type == "fence":
            one.info = one.info.split()[0] if one.info.strip() else ""


def _follow_links(inline: Sequence[Token], follow: Follow) -> None:
    """Links to pages lead to pages; a link to a file of the source code is no link."""
    dropped = False
    for token in inline:
        if token.type == "image":
            token.attrSet("src", follow(str(token.attrs["src"])) or "")
            token.attrSet("loading", "lazy")
        elif token.type == "link_open":
            there = follow(str(token.attrs["href"]))
            dropped = there is None
            if there is None:
                token.tag, token.attrs = "span", {}
            else:
                token.attrSet("href", there)
        elif token.type == "link_close" and dropped:
            token.tag, dropped = "span", False


def _with_scrolling(tokens: Sequence[Token]) -> list[Token]:
    """Tables in a frame that scrolls, which the keyboard can reach."""
    frame: dict[str, str | int | float] = {"class": "scroll", "tabindex": "0", "role": "region"}
    made: list[Token] = []
    number = itertools.count(1)
    for token in tokens:
        if token.type == "table_open":
            attributes = {**frame, "aria-label": f"Table {next(number)}"}
            made.append(Token("div_open", "div", 1, attrs=attributes, block=True))
        made.append(token)
        if token.type == "table_close":
            made.append(Token("div_close", "div", -1, block=True))
    return made
