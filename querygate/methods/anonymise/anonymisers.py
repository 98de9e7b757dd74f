"""The registry of anonymisers: ways to divide a table into classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from querygate.core.registry import Registry
from querygate.core.types import Ints
from querygate.methods.anonymise.clusters.bottom_up import bottom_up
from querygate.methods.anonymise.clusters.gather import gather
from querygate.methods.anonymise.clusters.neighbour_boxes import directed_boxes
from querygate.methods.anonymise.clusters.polish import snake_polished
from querygate.methods.anonymise.clusters.spatial_index import spatial_index
from querygate.methods.anonymise.clusters.top_down import top_down
from querygate.methods.anonymise.clusters.top_down_greedy import top_down_greedy
from querygate.methods.anonymise.division.mondrian import Progress, mondrian
from querygate.methods.anonymise.division.relaxed_mondrian import relaxed
from querygate.methods.anonymise.division.snake import snake
from querygate.methods.anonymise.division.target_splits import mondrian_target
from querygate.methods.anonymise.division.univariate import univariate
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import Table


class Anonymiser(Protocol):
    """A way to divide a table: the class of each combination, numbered 0..m-1, every promise kept."""

    def __call__(
        self, table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None
    ) -> Ints: ...


@dataclass(frozen=True, slots=True)
class Method:
    """A registered anonymiser, and what it works on.

    `by_record`: it divides records, so that equal ones may part; its table has one combination per record, in a fixed
    order. Otherwise a combination of codes is never divided.
    """

    run: Anonymiser
    by_record: bool = False

    def __call__(self, table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
        return self.run(table, k, guards, progress=progress)


ANONYMISERS: Registry[Method] = Registry("anonymiser")
ANONYMISERS.register("mondrian", Method(mondrian))
ANONYMISERS.register("mondrian-relaxed", Method(relaxed, by_record=True))
ANONYMISERS.register("mondrian-target", Method(mondrian_target, by_record=True))
ANONYMISERS.register("snake", Method(snake, by_record=True))
ANONYMISERS.register("snake-polished", Method(snake_polished, by_record=True))
ANONYMISERS.register("univariate", Method(univariate))
ANONYMISERS.register("boxes", Method(directed_boxes, by_record=True))
ANONYMISERS.register("boxes-by-point", Method(directed_boxes, by_record=True))
ANONYMISERS.register("top-down", Method(top_down, by_record=True))
ANONYMISERS.register("bottom-up", Method(bottom_up, by_record=True))
ANONYMISERS.register("top-down-greedy", Method(top_down_greedy, by_record=True))
ANONYMISERS.register("r-tree", Method(spatial_index, by_record=True))
ANONYMISERS.register("gather", Method(gather, by_record=True))
