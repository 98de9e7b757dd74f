"""What comes out when ranges are compared with everything that can be: missed values, false claims, and gaps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from querygate.core.types import Range

SHARP = 1e-9  # of the value, or of 1 where that is larger: cells are whole numbers, and 0 has no digits


@dataclass
class Tally:
    """What was found about one statistic: ranges that miss a value, that are called sharp and are not, that are sharp
    but for a NULL which cannot be, and how much too wide those are that are not called sharp."""

    cases: int = 0
    sharp: int = 0
    unsound: list[str] = field(default_factory=list)
    blunt: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    blurred: int = 0  # not called sharp
    unbounded: int = 0  # of these
    gaps: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def try_(self, compute: Callable[[], Range], truths: Sequence[Any], case: object, *, complete: bool = True) -> None:
        """Compute a range and compare it with the value of every data set, None where that has none.

        An error is no answer, so it counts as unsound. `complete` says that there are no other data sets: only then is
        it known how wide the range should be.
        """
        self.cases += 1
        known = [value for value in truths if value is not None and not math.isnan(value)]
        try:
            found = compute()
        except Exception as wrong:
            self.unsound.append(f"{case}: {wrong!r}")
            return
        if not _is_sound(found, known, len(known) < len(truths)):
            self.unsound.append(f"{case}: {found} misses {min(known, default=None)} .. {max(known, default=None)}")
        elif known and complete:
            self._measure(found, min(known), max(known), case)
            if found.sharp and found.may_be_null and len(known) == len(truths):
                self.doubtful.append(f"{case}: {found} is called sharp, but no data set is NULL")

    def _measure(self, found: Range, low: Any, high: Any, case: object) -> None:
        below, above = _beyond(low, found.low), _beyond(found.high, high)
        if not found.sharp:
            self.blurred += 1
            self.unbounded += not math.isfinite(below + above)
            if high > low and math.isfinite(below + above):
                self.gaps.append((below + above) / float(high - low))
            return
        self.sharp += 1
        if max(below / max(abs(low), 1), above / max(abs(high), 1)) > SHARP:
            self.blunt.append(f"{case}: {found} is called sharp but is {below} and {above} too wide")

    def add(self, other: Tally) -> None:
        self.cases += other.cases
        self.sharp += other.sharp
        self.unsound += other.unsound
        self.blunt += other.blunt
        self.doubtful += other.doubtful
        self.blurred += other.blurred
        self.unbounded += other.unbounded
        self.gaps += other.gaps
        self.seconds += other.seconds

    @property
    def median_gap(self) -> float:
        """How much wider than the truth the bounded ranges are that are not called sharp, in the middle case, as a part
        of the true width."""
        return statistics.median(self.gaps) if self.gaps else 0.0

    @property
    def blur(self) -> str:
        """How many ranges are not called sharp, and how many of these have no bound."""
        return f"{self.blurred:,} not sharp" + (f", {self.unbounded:,} unbounded" if self.unbounded else "")


def _is_sound(found: Range, known: Sequence[Any], null: bool) -> bool:
    if null and not found.may_be_null:
        return False
    if not known:
        return True
    return found.low is not None and found.high is not None and found.low <= min(known) <= max(known) <= found.high


def _beyond(outer: Any, inner: Any) -> float:
    """outer - inner, 0 where both are the same infinity."""
    return 0.0 if outer == inner else float(outer - inner)
