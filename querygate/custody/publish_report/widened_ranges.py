"""What has become clearly wider than in the version before: other views, a larger k or one more column can cost a lot,
and whoever publishes should hear of it before researchers do.

Widths are in widths that could just be printed, so that figures of all kinds can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from querygate.core.json_body import JsonValue
from querygate.custody.publish_report.kept_report import KeptReport
from querygate.custody.workload.usable_share import Figure, Standing, median_width

FEWER = 0.1
"""The loss in the share of printable figures that is worth a warning."""

TIMES, MORE = 1.5, 0.25
"""So many times as wide as before, and wider by so much."""

NAMED = 4

OTHER_POLICY = "Compare both policies. `querygate policy preview` shows what each rule and each view costs."
FITTED = (
    "The policy has not changed, but both versions must fit together, which can make classes coarser: wait and publish "
    "more changes at once, go back with `querygate rollback`, or start afresh with `--on-overlap retire`."
)
OTHER_RECORDS = "The policy has not changed, so the records have: compare both sources."


@dataclass(frozen=True, slots=True)
class MedianWidth:
    """The median width of figures of a `kind`, or about a `column`; None if most have no bounds."""

    kind: str
    column: str
    figures: int
    width: float | None


def median_widths(figures: Sequence[Figure], means: Sequence[Figure]) -> tuple[MedianWidth, ...]:
    """By kind, of what was asked; and by column, the means over everybody too."""
    by_kind: dict[str, list[float]] = {}
    by_column: dict[str, list[float]] = {}
    for figure in figures:
        by_kind.setdefault(figure.kind, []).append(figure.width)
    for figure in (*figures, *means):
        for name in figure.question.columns:
            by_column.setdefault(name, []).append(figure.width)
    told = set(by_column)
    for figure in figures:
        for name in figure.question.quasi - told:  # nothing is asked of it, only by it
            by_column.setdefault(name, []).append(figure.width)
    return (
        *(MedianWidth(kind, "", len(found), median_width(found)) for kind, found in sorted(by_kind.items())),
        *(MedianWidth("", name, len(found), median_width(found)) for name, found in sorted(by_column.items())),
    )


def sharper(before: KeptReport, policy: Mapping[str, JsonValue], *, fitted: bool) -> str:
    """What to do about lost sharpness. `fitted`: the version had to go with earlier ones."""
    if before["policy"] != policy:
        return OTHER_POLICY
    return FITTED if fitted else OTHER_RECORDS


def lost_sharpness(before: KeptReport, own: Standing, widths: Sequence[MedianWidth]) -> Iterator[str]:
    """A line for the share, and one for widths; nothing where the report before did not measure it."""
    usable, version = before.get("usable"), before["version"]
    if usable is None:
        return
    then = {(one["kind"], one["column"]): one["width"] for one in usable.get("widths", [])}
    found = [(one, then[one.kind, one.column]) for one in widths if (one.kind, one.column) in then]
    wider = [(one, width) for one, width in found if _is_wider(width, one.width)]
    named = sorted(
        (pair for pair in wider if pair[0].column), key=lambda pair: -_end(pair[0].width) / ((pair[1] or 0.0) + MORE)
    )
    columns = "; ".join(f"{one.column} {_told(width)} before, {_told(one.width)} now" for one, width in named[:NAMED])
    about = f" By column: {columns}." if columns else ""
    share = None if usable["standing"] is None else usable["standing"]["share"]
    if share is not None and own.share is not None and own.share <= share - FEWER:
        yield (
            f"{own.share:.0%} of counts, prevalences and means could be printed; in version {version} it was "
            f"{share:.0%}."
        )
    kinds = [f"{one.kind}s {_told(width)} before, {_told(one.width)} now" for one, width in wider if one.kind]
    if kinds or about:
        yield (
            f"Ranges are wider than in version {version}, in widths that could just be printed (median): "
            f"{'; '.join(kinds) or 'by kind about the same'}.{about}"
        )


def _is_wider(then: float | None, now: float | None) -> bool:
    return _end(now) > TIMES * _end(then) and _end(now) - _end(then) > MORE if then is not None else False


def _end(width: float | None) -> float:
    return inf if width is None else width


def _told(width: float | None) -> str:
    return "no bounds" if width is None else f"{width:.2g}" if width < 10 else f"{width:,.0f}"
