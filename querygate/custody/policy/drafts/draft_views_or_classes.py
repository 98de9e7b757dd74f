"""Chooses how a proposed policy publishes: as certified views if possible, otherwise as classes.

For most figures in papers views give much narrower ranges at the same k. But they publish only named groups of code
lists, and cannot have several rows per person if any column is sensitive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy.drafts.column_proposal import ALIKE, Proposal, is_seldom
from querygate.custody.policy.drafts.draft_codes import ProposedGroup, group_lines
from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text
from querygate.custody.policy.drafts.draft_frame import bridge
from querygate.custody.policy.drafts.draft_populated_cuts import with_fitting_cuts
from querygate.custody.policy.view_rules import ONE_VIEW

DIVERSE = '{ kind = "distinct", l = 2 }'
NEEDS_CLASSES = "Left out for now: a column with a hierarchy makes the classes of views larger."
SHARP = (
    "Views instead of classes over all quasi-identifiers: counts, prevalences and means by a few columns at a time "
    "are much narrower at the same k. `querygate policy preview` measures both, and other views."
)
PLAIN = "Classes instead of views: {why}. Class means are rounded to steps of the guard divided by k."
PLAIN_ROWS = "Classes instead of views: {why}."
OF_GROUPS = "Views publish the groups of its codes that [views.codes] names, and nothing else of it."
LINKED = (
    "Researchers can ask about two sensitive columns together only if they are linked. Linked columns have larger "
    "classes, so answers about each of them are wider. Often compared:"
)


ORDER = ("quasi-identifier", "sensitive")

SMALL_GROUPS = (
    "Groups that certainly have fewer than k records are left out of answers, to keep tables short. This does not "
    "protect people, and does not hide every small group: one that may have k records is shown."
)


@dataclass(frozen=True, slots=True)
class Form:
    """Columns with keys that fit this form, and the tables after them: comments and lines."""

    columns: tuple[Proposal, ...]
    tables: tuple[tuple[str, tuple[str, ...]], ...]


def choose_form(
    proposals: Sequence[Proposal],
    figures: Mapping[str, ColumnFigures],
    k: int,
    *,
    several_rows: bool,
    groups: Mapping[str, Sequence[ProposedGroup]] | None = None,
) -> Form:
    """Views, or classes with the reason. Published columns come first, by importance, because views are chosen in that
    order.
    """
    proposals = sorted(proposals, key=lambda p: (ORDER.index(p.role), p.rank) if p.is_published else (len(ORDER), ()))
    proposals = with_fitting_cuts(proposals, figures, k)
    shown = [p for p in proposals if p.is_published or p.role == "codes"]
    why = ""
    if several_rows and any(p.role != "quasi-identifier" for p in shown):
        why = "people have several rows, so views cannot guarantee that nobody's value is certain"
    elif any(p.role == "codes" and not (groups or {}).get(p.name) for p in shown):
        why = (
            "views publish only groups of codes that `views.codes` names, and no group was found that enough people "
            "have"
        )
    elif any(map(_is_diagnosis, shown)) or not any(map(_fits_views, shown)):
        why = "a diagnosis is generalised along its hierarchy, which makes the classes of views large"
    small = (SMALL_GROUPS, ("[answers]", f"min_group = {k}"))
    if not why:
        plain = [p.left_out(NEEDS_CLASSES) if p.is_published and "hierarchy" in p.keys else p for p in proposals]
        bridged = bridge(plain, figures)
        views = (SHARP, ("[views]", *_view_lines(bridged.frame, bridged.columns)))
        lists = [group_lines(p.name, (groups or {})[p.name]) for p in shown if p.role == "codes"]
        columns = tuple(
            replace(p, why=(p.why[0], p.why[1], OF_GROUPS)) if p.role == "codes" else p for p in bridged.columns
        )
        return Form(columns, (small, views, *bridged.preferred, *_linked(bridged.columns), *lists))
    columns = tuple(
        p.left_out(ALIKE) if p.role == "sensitive" and _is_category(p) and is_seldom(figures[p.name], k) else p
        for p in map(_of_classes, proposals)
    )
    if several_rows:
        return Form(columns, (small, (PLAIN_ROWS.format(why=why), ())))
    lines = ("[anonymise]", 'class_moments = "rounded"') if _has_sums(columns) else ()
    return Form(columns, (small, ((PLAIN if lines else PLAIN_ROWS).format(why=why), lines)))


def _view_lines(frame: str, columns: Sequence[Proposal]) -> tuple[str, ...]:
    """The views that follow from the schema. Too many quasi-identifiers for one view have few values each: then one
    view has all of them, and another the first three, in finer steps. If `frame` is not empty, some people in its cells
    were not asked a question: classes are divided by it last, so that divisions by other columns stay.
    """
    quasi = [p.name for p in columns if p.role == "quasi-identifier"]
    spanning = [quasi, quasi[:-1]] if len(quasi) > ONE_VIEW else [quasi]
    if len(spanning) == 1 and not frame:
        return ('mode = "auto"',)
    last = [sorted(view, key=lambda name: name == frame) for view in spanning]
    framed = (f"frame = {toml_list([toml_text(frame)])}",) if frame else ()
    return ('mode = "spanning"', *framed, f"spanning = {toml_list(toml_list(map(toml_text, view)) for view in last)}")


def _fits_views(p: Proposal) -> bool:
    return p.role == "quasi-identifier" and "hierarchy" not in p.keys


def _is_diagnosis(p: Proposal) -> bool:
    return p.is_published and p.keys.get("hierarchy", "").startswith('"icd')


def _has_sums(columns: Sequence[Proposal]) -> bool:
    return any(p.role == "sensitive" and p.type in ("integer", "number") for p in columns)


def _of_classes(p: Proposal) -> Proposal:
    """For classes: no bin is narrower than the guard, and categories need other values in every class."""
    role = p.offer or p.role
    if role != "sensitive":
        return p
    if "guard" in p.keys:
        notes = {key: note for key, note in p.notes.items() if key != "bins"}
        return replace(p, keys=p.keys | {"bins": p.keys["guard"]}, notes=notes)
    return replace(p, keys=p.keys | {"diversity": DIVERSE}) if _is_category(p) else p


def _is_category(p: Proposal) -> bool:
    return p.type in ("category", "boolean")


def _linked(columns: Sequence[Proposal]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Pairs of measures that analysts compare, each column in at most one pair; only a suggestion."""
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
