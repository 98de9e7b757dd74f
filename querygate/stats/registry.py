"""The registry through which the gate finds statistics, and its decorator.

A statistic is registered beside its algorithm and names the file that proves it. The decorator does what all have in
common: it drops cells that cannot be selected, returns NULL for too few records, and sets `may_be_null` where the
selection may turn out too small. So the algorithm only ever sees cells that can be selected, and enough of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, TypeAlias

from querygate.core.registry import Registry
from querygate.core.types import Cells, Range
from querygate.stats.cells import selectable

P = ParamSpec("P")
Result: TypeAlias = Literal["count", "value", "number"]
Algorithm: TypeAlias = Callable[Concatenate[Cells, P], Range]


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic of one column: its range over cells, and where the proof is.

    `result` is "count", "value" (of the type of the column, so ends on integer and date columns are whole numbers) or
    "number" (real). `parameters` names what `range` takes after the cells, in order.
    """

    name: str
    range: Callable[..., Range]
    proof: str
    result: Result
    summary: str
    parameters: tuple[str, ...] = ()


STATISTICS: Registry[Statistic] = Registry("statistic")
"""Statistics of one column, by the name SQL gives them."""

PROOFS = "docs/explanation/proofs"


def statistic(
    name: str,
    *,
    proof: str,
    result: Result,
    summary: str,
    needs: int = 1,
    parameters: tuple[str, ...] = (),
) -> Callable[[Algorithm[P]], Algorithm[P]]:
    """Register the decorated algorithm. `needs` is the number of records below which SQL answers NULL.

    The algorithm receives cells with most >= 1 and at least `needs` records in all, and returns the range over the
    selections of at least `needs` records.
    """

    def register(algorithm: Algorithm[P]) -> Algorithm[P]:
        @wraps(algorithm)
        def guarded(cells: Cells, /, *args: P.args, **kwargs: P.kwargs) -> Range:
            cells = selectable(cells)
            if cells.count_high < max(needs, 1):
                return Range.null() if needs else Range.exact(0)
            found = algorithm(cells, *args, **kwargs)
            if found.may_be_null or cells.count_low >= needs:
                return found
            return replace(found, may_be_null=True)

        STATISTICS.register(name, Statistic(name, guarded, f"{PROOFS}/{proof}", result, summary, parameters))
        return guarded

    return register
