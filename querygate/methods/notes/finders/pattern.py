"""What finders made of patterns share.

Every pattern is bounded: repetitions have an upper limit or cannot match the same characters in two ways, and a match
begins only where a word or number begins. Work is then linear in the length of the text whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from querygate.methods.notes.spans import IdentifierKind, TextSpan

Finder = Callable[[str], Iterator[TextSpan]]


def spans_of(
    pattern: re.Pattern[str], text: str, kind: IdentifierKind, rule: str, group: int | str = 0
) -> Iterator[TextSpan]:
    """A span for each match of the pattern, or of a group of it."""
    for match in pattern.finditer(text):
        if match.start(group) >= 0:
            yield TextSpan(match.start(group), match.end(group), kind, rule)


def preceded_by(cue: re.Pattern[str], text: str, start: int, reach: int = 40) -> bool:
    """Does the text right before `start` end in the cue? The cue's pattern ends in `$`."""
    return cue.search(text[max(0, start - reach) : start]) is not None
