"""Limits on the widths of ranges: the largest k that keeps them, or what would make them possible.

Nothing is assumed about how widths depend on k: every remedy that is said to keep the limits was tried and measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from querygate.core.errors import ConfigError
from querygate.core.types import Ints
from querygate.custody.policy import StatisticPolicy
from querygate.custody.publish.method_trial import Trial
from querygate.methods.anonymise import Table

Made = tuple[Ints, Trial]
Make = Callable[..., Made]
"""k, and the table where it is not the whole one -> classes, and what they are worth."""


class WidthLimits:
    """How wide the ranges of some statistics may be."""

    def __init__(self, limits: tuple[tuple[StatisticPolicy, float], ...]) -> None:
        self.limits = limits

    def excess(self, tried: Trial) -> float:
        """The largest width relative to its limit; 1 if all limits are kept."""
        return max([1.0, *(tried.widths[str(statistic)] / limit for statistic, limit in self.limits)])

    def largest(self, records: int, labels: Ints, tried: Trial, make: Make) -> Made:
        """The largest k found that keeps the limits: all doublings are tried, then the gap above the best is halved."""
        best: Made = (labels, tried)
        step = tried.k
        while 2 * step <= records:
            step *= 2
            best = self._better(best, make(step))
        low, high = best[1].k, min(2 * best[1].k, records + 1)
        while high - low > 1:
            middle = (low + high) // 2
            best = self._better(best, make(middle))
            low, high = (middle, high) if best[1].k == middle else (low, middle)
        return best

    def _better(self, best: Made, other: Made) -> Made:
        return other if self.excess(other[1]) <= 1 and other[1].k > best[1].k else best

    # -- what would make it possible -----------------------------------------------------------------------------------

    def refusal(self, table: Table, tried: Trial, make: Make) -> ConfigError:
        """Says by how much the limits are missed, and what would help."""
        ways = [*self._by_k(table, tried, make), *self._by_dropping(table, tried, make), self._by_width(tried)]
        remedy = "Each of these would be enough, unless it says otherwise:\n" + "\n".join(ways)
        return ConfigError("QG803", self._missed(table.records, tried), remedy)

    def refusal_in_parts(self, records: int, tried: Trial) -> ConfigError:
        """The same of a table that is divided part by part, which takes too long to try what else would help."""
        remedy = (
            f"This would be enough: {self._by_width(tried)} A smaller k or fewer quasi-identifiers narrow ranges too: "
            "publish some of the records to find out by how much."
        )
        return ConfigError("QG803", self._missed(records, tried), remedy)

    def _missed(self, records: int, tried: Trial) -> str:
        missed = [
            f"{statistic}: {_shown(tried.widths[str(statistic)])} wide, limit {limit:g}"
            for statistic, limit in self.limits
            if tried.widths[str(statistic)] > limit
        ]
        detail = f"With k = {tried.k} and {records:,} records, the limits of max_width cannot be met. "
        return detail + "; ".join(missed) + "."

    def _by_k(self, table: Table, tried: Trial, make: Make) -> Iterator[str]:
        """A smaller k; and more records, because twice the records at twice the k have boxes of about the same width:
        other records are not measured."""
        smaller = self._smaller_k(tried.k, make)
        if smaller is None:
            yield f"A smaller k alone is not enough: even k = 2 gives {self._widths(make(2)[1])}."
            return
        records = -(-table.records * tried.k // smaller)
        yield f"k = {smaller}."
        yield f"More records: about {records:,} of the same spread come near the limits (an estimate)."

    def _smaller_k(self, k: int, make: Make) -> int | None:
        """The largest smaller k found to keep the limits."""
        failed, kept = k, 0
        step = k // 2
        while step >= 2 and not kept:
            if self.excess(make(step)[1]) <= 1:
                kept = step
            else:
                failed, step = step, step // 2
        while kept and failed - kept > 1:
            middle = (kept + failed) // 2
            if self.excess(make(middle)[1]) <= 1:
                kept = middle
            else:
                failed = middle
        return kept or None

    def _by_dropping(self, table: Table, tried: Trial, make: Make) -> Iterator[str]:
        """Without one of the quasi-identifiers that the limits are not about."""
        needed = {name for statistic, _ in self.limits for name in statistic.columns}
        for attribute in table.attributes:
            if attribute.name in needed or len(table.attributes) == 1:
                continue
            rest = tuple(a for a in table.attributes if a is not attribute)
            other = make(tried.k, replace(table, attributes=rest))[1]
            verdict = "" if self.excess(other) <= 1 else " (not enough on its own)"
            yield f"Without the quasi-identifier {attribute.name}: {self._widths(other)}{verdict}."

    def _widths(self, tried: Trial) -> str:
        return ", ".join(f"{s} {_shown(tried.widths[str(s)])} wide" for s, _ in self.limits)

    def _by_width(self, tried: Trial) -> str:
        wide = ", ".join(f'"{s}" = {_shown(max(limit, tried.widths[str(s)]))}' for s, limit in self.limits)
        return f"max_width = {{ {wide} }}."


def _shown(width: float) -> str:
    """A width with three digits, rounded up, so that it can serve as a limit.

    >>> _shown(12.341), _shown(0.00012341), _shown(5.0)
    ('12.4', '0.000124', '5')
    """
    text = f"{width:.3g}"
    if float(text) < width:
        text = f"{width + 0.5 * 10.0 ** (_magnitude(width) - 2):.3g}"
    return f"{float(text):g}"


def _magnitude(width: float) -> int:
    return int(f"{width:e}".partition("e")[2])
