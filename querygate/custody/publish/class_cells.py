"""Turns classes, or the frame cells of views, into the tables of the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from querygate.core.block import CodeSets
from querygate.core.types import Column
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy.column_policy import ClassMoments
from querygate.custody.policy.moment_rules import has_moments
from querygate.custody.publish.cell_tables import CellTables, texts_table
from querygate.custody.publish.range_plan import comes_in_ranges
from querygate.custody.publish.sensitive_numbers import PER_CLASS, class_moments, moments_table
from querygate.custody.publish.step_state import PublicationState, Step
from querygate.custody.publish.view_cells import ViewTables, margins_of
from querygate.custody.publish.view_records import tells_sums


def generalise(state: PublicationState) -> PublicationState:
    """Boxes of the classes and codes of the other columns, as the physical columns of the cells."""
    state.progress.begin(Step.GENERALISE, "generalising")
    columns = []
    for index, column in enumerate(state.policy.published):
        hides = state.policy.answers.noisy_only  # whether anything is missing: every column may be, then
        nullable = column.name not in state.code_lists and (hides or state.profiles[column.name].missing > 0)
        columns.append(_published(state, index, column, nullable))
    state = replace(state, columns=tuple(columns), moments=class_moments(state))
    made = CellTables(state)
    if comes_in_ranges(state):  # which are made when they are written
        return replace(state, cells=made)
    cells = made.held()
    return replace(state, cells=cells, number_of_cells=made.number, code_lists=made.code_lists)


def _published(state: PublicationState, index: int, column: ColumnPolicy, nullable: bool) -> Column:
    made = state.code_lists.get(column.name)
    return Column(
        name=column.name,
        index=index,
        role=column.role,
        type=column.type or "category",
        nullable=nullable,
        low=column.low,
        high=column.high,
        values=made.system.codes if made else state.texts.get(column.name, ()),
        title=column.title,
        parents=made.system.parents if made else (),
        rare=column.rare,
        order=column.order,
        cuts=state.policy.cuts_of(column),
        moments=state.policy.anonymise.class_moments if has_moments(column) else "none",
        shared=state.policy.anonymise.class_moments != "none" and has_moments(column) and column.carry in PER_CLASS,
    )


def code_sets(state: PublicationState) -> dict[int, CodeSets]:
    """The meaning of the sets of each list of codes, by column."""
    index_of = {column.name: column.index for column in state.columns}
    return {index_of[name]: made.sets for name, made in state.code_lists.items()}


def generalise_views(state: PublicationState) -> PublicationState:
    """Margins of frame cells, as the physical columns of the cells."""
    if state.views is None:
        raise ValueError("there are no views")
    state.progress.begin(Step.GENERALISE, "generalising")
    columns = []
    for index, column in enumerate(state.policy.published):
        nullable = state.policy.answers.noisy_only or state.profiles[column.name].missing > 0
        sums: ClassMoments = "rounded" if tells_sums(state, column) else "none"
        columns.append(replace(_published(state, index, column, nullable), moments=sums))
    made = ViewTables(state, columns)
    for cell in state.views.cells:
        made.add(cell.place, cell.margins)
    return replace(
        state,
        columns=tuple(columns),
        margins=margins_of(state),
        cells=made.tables(),
        number_of_cells=made.cells,
    )


def tables(state: PublicationState) -> dict[str, pa.Table | Iterable[pa.Table]]:
    """The store's tables: cells, the members of value sets, moments, and the texts of values."""
    made = state.cells.tables() if isinstance(state.cells, CellTables) else state.cells
    moments = {} if state.views is not None else moments_table(state)
    return {**made, **moments, "value_text": texts_table(state.columns, state.texts)}


def number_of(state: PublicationState) -> int:
    """The number of cells; of those that are made when they are written, once they are."""
    return state.cells.number if isinstance(state.cells, CellTables) else state.number_of_cells
