"""Texts of notebooks: Markdown that one person writes and others read, so that nothing in it may act or call home.

HTML is shown as text. Pictures are not drawn: they would have the reader's browser call another host. Links that run
script are no links (markdown-it refuses them), and all others say nothing of where they were followed from.

>>> str(make_html("**Salt** <script>"))
'<p><strong>Salt</strong> &lt;script&gt;</p>\\n'
"""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt
from markupsafe import Markup

_PARSER: Final = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")


def make_html(text: str) -> Markup:
    """Headings go one level down: the first is the notebook's name."""
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer nofollow")
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704 - HTML is off, see above


def make_inert(text: str) -> str:
    """The Markdown for readers that let HTML through, with every tag as text.

    >>> make_inert("a < b, <b>bold</b>")
    'a < b, &lt;b>bold&lt;/b>'
    """
    return _TAG.sub("&lt;", text).replace("![", "\\![")


def make_fence(text: str, language: str) -> str:
    """A block of code that ends where it should, whatever is in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
