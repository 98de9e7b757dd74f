"""Dates with slashes: whether the day or the month comes first follows from the whole column, or the custodian is
asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from querygate.core.column_profile import ColumnFigures, Surveyor, with_changed
from querygate.core.publications.vault_ports import ReadAs, Source
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.policy.drafts.draft_birth_date import Amend
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_text
from querygate.custody.policy.identifier_signs import PATTERNS, SLASHED

DAY_FIRST, MONTH_FIRST = "day/month/year", "month/day/year"

OFTEN = 0.99
"""Columns are tried if at least this share of the sampled values has slashes."""


@dataclass(frozen=True, slots=True)
class DateOrder:
    """The order in a column, and whether it is certain because the other order does not fit every value."""

    order: str
    is_certain: bool


def with_date_order(
    source: Source, figures: tuple[ColumnFigures, ...], survey: Surveyor, amend: Amend
) -> tuple[Source, tuple[ColumnFigures, ...], dict[str, DateOrder]]:
    """The source and its figures, with columns as dates if all their values are dates in the same order."""
    tried = [c.name for c in figures if c.matches.get(SLASHED, 0.0) >= OFTEN]
    if not tried:
        return source, figures, {}
    fits = {
        order: {
            c.name
            for c in survey(amend(source, ReadAs(written=dict.fromkeys(tried, order))), PATTERNS, tried)
            if c.all_are("date") or c.all_are("timestamp")
        }
        for order in (DAY_FIRST, MONTH_FIRST)
    }
    orders = {
        name: DateOrder(order, not any(name in fits[other] for other in fits if other != order))
        for order in (MONTH_FIRST, DAY_FIRST)  # day first if both fit
        for name in tried
        if name in fits[order]
    }
    if not orders:
        return source, figures, {}
    source = amend(source, ReadAs(written={name: found.order for name, found in orders.items()}))
    return source, with_changed(figures, survey(source, PATTERNS, orders)), orders


def with_written(proposals: Iterable[Proposal], orders: Mapping[str, DateOrder]) -> tuple[Proposal, ...]:
    """The proposals; those of such columns say the order."""
    return tuple(_told(p, orders[p.name]) if p.name in orders else p for p in proposals)


def _told(p: Proposal, found: DateOrder) -> Proposal:
    note = (
        "every value is a date in this order and not in the other"
        if found.is_certain
        else f'no day is above 12: check that it is not "{MONTH_FIRST}"'
    )
    return replace(p, keys={"written": toml_text(found.order)} | p.keys, notes={"written": note, **p.notes})
