"""What a statement can mean on published cells: how many records of a row satisfy a condition, with which values.

Pure array work on blocks of cells. An engine only groups cells to the columns a statement uses; everything that
decides a range is here, once, for every engine.
"""

from querygate.bounds.class_limits import ClassLimits, Nesting, nest
from querygate.bounds.class_sums import moment_columns
from querygate.bounds.column_values import value_bounds
from querygate.bounds.expression_values import expression_bounds
from querygate.bounds.frame_counts import Counted, FrameCounts
from querygate.bounds.frechet import JointLimits
from querygate.bounds.group_cells import ROW, StackedGroups, counts_by_frame, gather, gather_stacks
from querygate.bounds.group_spread import spread
from querygate.bounds.margin_readings import Readings, StackedReadings, read_stacks
from querygate.bounds.membership import Membership, count_bounds

__all__ = [
    "gather",
    "counts_by_frame",
    "expression_bounds",
    "ROW",
    "Membership",
    "count_bounds",
    "moment_columns",
    "value_bounds",
    "spread",
    "JointLimits",
    "ClassLimits",
    "Nesting",
    "nest",
    "Readings",
    "read_stacks",
    "Counted",
    "FrameCounts",
    "StackedGroups",
    "StackedReadings",
    "gather_stacks",
]
