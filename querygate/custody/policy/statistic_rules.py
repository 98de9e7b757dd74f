"""The statistics a policy wants sharp, and how wide their ranges may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.policy_types import StatisticKind, StatisticPolicy
from querygate.custody.policy.toml_reader import SOME_TEXT, Bound, TomlTable, listed

KINDS = {"mean": 1, "var": 1, "sd": 1, "median": 1, "cov": 2, "corr": 2, "count": 0}
"""The number of columns of each statistic."""

WIDTH = Bound(above=0)

TARGETED = "mondrian-target"
"""The method that keeps a column predictable."""


def read_statistics(table: TomlTable, columns: Sequence[ColumnPolicy]) -> tuple[StatisticPolicy, ...]:
    """The list `statistics`; empty by default."""
    raw = table.raw.get("statistics", [])
    if not isinstance(raw, list):
        table.fail("statistics", "is not a list of strings", f"a list of {_accepted(columns)}")
        return ()
    return tuple(statistic for _, statistic in _distinct(table, "statistics", raw, columns))


def read_max_width(table: TomlTable, columns: Sequence[ColumnPolicy]) -> tuple[tuple[StatisticPolicy, float], ...]:
    """The table `max_width`: a width for each statistic it names."""
    raw = table.raw.get("max_width", {})
    if not isinstance(raw, dict):
        table.fail("max_width", "must be a table", 'a width per statistic, such as { "mean(x)" = 5 }')
        return ()
    found = []
    for text, statistic in _distinct(table, "max_width", list(raw), columns):
        limit = WIDTH.read(raw[text])
        if limit is None:
            table.fail("max_width", f"the width of {statistic} is not an accepted number", WIDTH.phrase)
        else:
            found.append((statistic, float(limit)))
    return tuple(found)


def read_largest_k(table: TomlTable) -> bool:
    wanted: object = table.raw.get("largest_k", False)
    if not isinstance(wanted, bool):
        table.fail("largest_k", "is neither true nor false", "true, false")
        return False
    if wanted and not table.raw.get("max_width"):
        table.fail("largest_k", "has no limit to stop at", "true together with max_width")
    return wanted


def check_method(table: TomlTable, method: str | None, columns: Sequence[ColumnPolicy]) -> None:
    """Check that a method for a single number is used with one."""
    quasi = [column for column in columns if column.role == "quasi-identifier"]
    if method == "univariate" and not (len(quasi) == 1 and quasi[0].is_numeric):
        table.fail(
            "method", "univariate divides a single number", "for policies with one quasi-identifier, not a category"
        )


def read_target(table: TomlTable, method: str | None, columns: Sequence[ColumnPolicy]) -> str:
    """The column that classes are made for. Such classes tell more of it, so that a sensitive one needs a guarantee."""
    if "target" not in table:
        if method == TARGETED:
            table.fail("method", f"{TARGETED} needs a target", "another method, or a column as target")
        return ""
    if method != TARGETED:
        table.fail("target", f"is for method {TARGETED} alone", f'method = "{TARGETED}", or no target')
    name = table.text("target", SOME_TEXT)
    known = {column.name: column for column in columns if column.role in ("sensitive", "public")}
    if name not in known:
        table.fail("target", f"{name} is not a sensitive or public column", listed(known) or "no target here")
    elif known[name].role == "sensitive" and not (known[name].diversity or known[name].guard):
        what = f"{name} is sensitive and without a guarantee, and classes made for it would tell it"
        table.fail("target", what, "a column with diversity, or a number with a guard")
    return name


def _distinct(
    table: TomlTable, key: str, raw: Sequence[object], columns: Sequence[ColumnPolicy]
) -> Iterator[tuple[str, StatisticPolicy]]:
    """The named statistics, as written and as read, each once; adds problems for those that cannot be read."""
    seen = set()
    for text in raw:
        if not isinstance(text, str) or (found := _parsed(text, columns)) is None:
            table.fail(key, f"{text!r} is not a statistic of this policy", _accepted(columns))
        elif found in seen:
            table.fail(key, f"names {found} twice", "each statistic once")
        else:
            seen.add(found)
            yield text, found


def _parsed(text: str, columns: Sequence[ColumnPolicy]) -> StatisticPolicy | None:
    """`corr(age, sbp)` of known columns; names may contain commas and brackets."""
    word, _, inside = text.strip().partition("(")
    kind = word.strip()
    if kind not in KINDS or (bool(inside) and not inside.endswith(")")) or bool(inside) != bool(KINDS[kind]):
        return None
    names = _named(inside[:-1], {column.name for column in _numeric(columns)}, KINDS[kind])
    return None if names is None else StatisticPolicy(cast(StatisticKind, kind), names)


def _named(text: str, known: set[str], number: int) -> tuple[str, ...] | None:
    if number == 0:
        return ()
    if number == 1:
        return (text.strip(),) if text.strip() in known else None
    splits = [(text[: m.start()].strip(), text[m.end() :].strip()) for m in re.finditer(",", text)]
    fits = [pair for pair in splits if known.issuperset(pair) and pair[0] != pair[1]]
    return tuple(sorted(fits[0])) if fits else None


def _numeric(columns: Sequence[ColumnPolicy]) -> list[ColumnPolicy]:
    return [column for column in columns if column.is_published and column.is_numeric]


def _accepted(columns: Sequence[ColumnPolicy]) -> str:
    forms = [f"{kind}({', '.join('xy'[:number])})" if number else kind for kind, number in KINDS.items()]
    names = listed(column.name for column in _numeric(columns)) or "none here"
    return f"{listed(forms)}, with published numbers ({names})"
