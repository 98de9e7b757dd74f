"""Spellings of one value: `m`, `M` and `m ` are the same sex, and told apart none of them has people enough."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping

from querygate.core.column_profile import ColumnFigures
from querygate.core.count_text import counted
from querygate.custody.policy import column_names
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text
from querygate.custody.policy.toml_reader import dotted

Spellings = Mapping[str, tuple[str, ...]]
"""Values, and the texts that are read as them."""

SHORT = 2
"""Texts of so few letters may differ by upper and lower case alone: AA and Aa are different genotypes."""

WORDS = frozenset({"y", "n", "u", "j", "x", "o", "s", "t", "f", "yes", "no", "ja", "nein", "oui", "non", "si", "sí"})
"""Answers whose short forms do not."""

SPELLED = ("quasi-identifier", "sensitive", "withheld")
"""Roles of columns whose spellings are told."""

NOTE = (
    "{spellings} of {values}: they differ only by upper and lower case, or by spaces; remove those that mean "
    "something else"
)


def spellings_in(c: ColumnFigures, k: int) -> dict[str, tuple[str, ...]]:
    """The commonest spelling of each value, and the others; only of columns of few values, which are no numbers, and of
    values that k records have.

    >>> spellings_in(ColumnFigures("sex", 9, values=(("M", 1), ("m", 5), ("m ", 1), ("w", 2)), distinct=4), 5)
    {'m': ('M', 'm ')}
    >>> spellings_in(ColumnFigures("rs7412", 9, values=(("AA", 1), ("Aa", 6), ("aa", 2)), distinct=3), 5)
    {}
    """
    if any(c.all_are(kind) for kind in ("number", "boolean", "date", "timestamp")):
        return {}
    alike: dict[str, list[tuple[str, int]]] = defaultdict(list)
    by_case = _may_differ_by_case({_plain(text) for text, _ in c.values})
    for text, records in c.values:
        plain = _plain(text)
        alike[plain if len(plain) > SHORT or by_case else text.strip()].append((text, records))
    found: dict[str, tuple[str, ...]] = {}
    for texts in alike.values():
        best = max(texts, key=lambda one: one[1])[0].strip()
        others = tuple(sorted(text for text, _ in texts if text != best))
        if others and len(texts) > 1 and sum(records for _, records in texts) >= k:
            found[best] = others
    return found


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _may_differ_by_case(plain: set[str]) -> bool:
    sexes = [text for text in plain if column_names.are_sexes([text])]
    return len(sexes) > 1 or {text for text in plain if len(text) <= SHORT} <= WORDS


def spelled_key(spelled: Spellings) -> tuple[str, str]:
    """The key of the policy, and what is said beside it."""
    pairs = (f"{dotted([value])} = {toml_list(map(toml_text, texts))}" for value, texts in spelled.items())
    others = sum(map(len, spelled.values()))
    told = counted(others, "other spelling"), counted(len(spelled), "value")
    return f"{{ {', '.join(pairs)} }}", NOTE.format(spellings=told[0], values=told[1])
