"""How a proposed policy publishes: as certified views where it can, and otherwise as classes.

Views answer most of what papers print much more narrowly at the same k. They have no hierarchies, of lists of codes
only named groups, and not several rows per person where something is sensitive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from querygate.core.column_figures import ColumnFigures
from querygate.custody.policy.proposal import Proposal
from querygate.custody.policy.proposal_domains import toml_list, toml_text
from querygate.custody.policy.proposal_frame import bridge

DIVERSE = '{ kind = "distinct", l = 2 }'
NEEDS_CLASSES = "Left out: views have no hierarchies yet. Published as classes, with no table [views], it could be in."
SHARP = (
    "Views in place of classes over all quasi-identifiers: counts, prevalences and means by a few columns at a time "
    "are much narrower at the same k. `querygate policy preview` compares both and other views, in figures."
)
PLAIN = "Classes in place of views: {why}. Class means are told in steps of a guard over k."
PLAIN_ROWS = "Classes in place of views: {why}."
LINKED = (
    "Two sensitive columns are asked about together only if they are linked, and linked columns have larger classes: "
    "answers about each of them are wider. Often laid beside each other:"
)


ORDER = ("quasi-identifier", "sensitive")


@dataclass(frozen=True, slots=True)
class Form:
    """Columns with the keys that fit how they are published, and the tables that follow them: comments and lines."""

    columns: tuple[Proposal, ...]
    tables: tuple[tuple[str, tuple[str, ...]], ...]


def choose_form(
    proposals: Sequence[Proposal], figures: Mapping[str, ColumnFigures], k: int, *, several_rows: bool
) -> Form:
    """Views, or classes with the reason why. What is published comes first, in the order in which it is asked for:
    views are chosen in that order.
    """
    proposals = sorted(proposals, key=lambda p: (ORDER.index(p.role), p.rank) if p.is_published else (len(ORDER), ()))
    shown = [p for p in proposals if p.is_published or p.role == "codes"]
    why = ""
    if several_rows and any(p.role != "quasi-identifier" for p in shown):
        why = "people have several rows, and views cannot show then that nobody's value is certain"
    elif any(p.role == "codes" or _is_diagnosis(p) for p in shown) or not any(map(_fits_views, shown)):
        why = "views have no hierarchies, and of lists of codes only the groups that `views.codes` names"
    small = ("Groups that cannot have k records are not shown.", ("[answers]", f"min_group = {k}"))
    if not why:
        plain = [p.left_out(NEEDS_CLASSES) if p.is_published and "hierarchy" in p.keys else p for p in proposals]
        bridged = bridge(plain, figures)
        views = (SHARP, ("[views]", 'mode = "auto"'))
        return Form(bridged.columns, (small, views, *bridged.preferred, *_linked(bridged.columns)))
    columns = tuple(map(_of_classes, proposals))
    if several_rows:
        return Form(columns, (small, (PLAIN_ROWS.format(why=why), ())))
    lines = ("[anonymise]", 'class_moments = "rounded"') if _has_sums(columns) else ()
    return Form(columns, (small, ((PLAIN if lines else PLAIN_ROWS).format(why=why), lines)))


def _fits_views(p: Proposal) -> bool:
    return p.role == "quasi-identifier" and "hierarchy" not in p.keys


def _is_diagnosis(p: Proposal) -> bool:
    return p.is_published and p.keys.get("hierarchy", "").startswith('"icd')


def _has_sums(columns: Sequence[Proposal]) -> bool:
    return any(p.role == "sensitive" and p.type in ("integer", "number") for p in columns)


def _of_classes(p: Proposal) -> Proposal:
    """In classes no bin is narrower than the guard, and categories need others in every class."""
    role = p.offer or p.role
    if role != "sensitive":
        return p
    if "guard" in p.keys:
        notes = {key: note for key, note in p.notes.items() if key != "bins"}
        return replace(p, keys=p.keys | {"bins": p.keys["guard"]}, notes=notes)
    return replace(p, keys=p.keys | {"diversity": DIVERSE}) if p.type in ("category", "boolean") else p


def _linked(columns: Sequence[Proposal]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Pairs of measures that analysts lay beside each other, each column in one of them at most. An offer."""
    by_measure = {p.measure: p.name for p in reversed(columns) if p.role == "sensitive" and p.measure}
    pairs: list[tuple[str, str]] = []
    for p in columns:
        other = by_measure.get(p.beside, "")
        taken = {name for pair in pairs for name in pair}
        if p.role == "sensitive" and other and not {p.name, other} & taken:
            pairs.append((p.name, other))
    if pairs:
        listed = toml_list(toml_list(map(toml_text, pair)) for pair in pairs)
        yield LINKED, (f"# linked = {listed}",)
