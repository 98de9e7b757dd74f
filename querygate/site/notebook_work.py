"""What can be done with notebooks, and by whom: one's own, and the texts and queries of those that others share about a
dataset that one may ask. Answers are never shared: whoever asks gets their own.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

from querygate.control.saved.notebooks import Cell, CellKind, Notebook, Notebooks
from querygate.core.errors import ConfigError, QueryGateError
from querygate.core.types import Principal, QueryOptions, Request
from querygate.core.written_text import LONGEST_NAME, LONGEST_STATEMENT, check_line, check_text
from querygate.gate.answer import ask
from querygate.site.open_gate import OpenSite
from querygate.site.saved_work import SavedWork, not_there

MOST_CELLS = 60
LONGEST_TEXT = 10_000

Move: TypeAlias = Literal["up", "down"]


class NotebookWork:
    """One method for each thing that can be done with a notebook."""

    def __init__(self, opened: OpenSite) -> None:
        self._gate, self._saved = opened.gate, SavedWork(opened)
        self._notebooks = Notebooks(opened.log, secrets.token_bytes)

    # -- reading -----------------------------------------------------------------------------------------

    def own(self, principal: Principal) -> tuple[Notebook, ...]:
        return self._notebooks.own(principal.name)

    def shared(self, principal: Principal) -> tuple[Notebook, ...]:
        found = self._notebooks.shared_by_others(principal.name)
        open_to = {dataset: self.may_ask(principal, dataset) for dataset in {one.dataset for one in found}}
        return tuple(_without_answers(one) for one in found if open_to[one.dataset])

    def read(self, principal: Principal, ident: str) -> Notebook:
        """One of their own, or one that is shared with them, which has no answers."""
        found = self._notebooks.find(ident)
        if found is not None and found.owner == principal.name:
            return found
        if found is None or not (found.shared and self.may_ask(principal, found.dataset)):
            raise not_there()
        return _without_answers(found)

    def may_ask(self, principal: Principal, dataset: str) -> bool:
        return self._saved.may_ask(principal, dataset)

    # -- writing -----------------------------------------------------------------------------------------

    def begin(self, principal: Principal, name: str, dataset: str, cells: tuple[Cell, ...] = ()) -> Notebook:
        self._saved.check_dataset(principal, dataset)
        return self._notebooks.add(principal.name, check_line("name", name, most=LONGEST_NAME), dataset, cells)

    def copy(self, principal: Principal, ident: str) -> Notebook:
        """One of their own with the same texts and queries, and no answers yet."""
        found = self.read(principal, ident)
        cells = tuple(self._notebooks.new_cell(cell.kind, cell.text) for cell in found.cells)
        return self.begin(principal, found.name, found.dataset, cells)

    def rename(self, principal: Principal, ident: str, name: str) -> Notebook:
        line = check_line("name", name, most=LONGEST_NAME)
        return self._change(principal, ident, lambda found: replace(found, name=line))

    def share(self, principal: Principal, ident: str, *, is_shared: bool) -> Notebook:
        found = self._find_own(principal, ident)
        if is_shared:
            self._saved.check_dataset(principal, found.dataset)
        return self._change(
            principal, ident, lambda now: replace(now, shared=(now.shared or "") if is_shared else None)
        )

    def delete(self, principal: Principal, ident: str) -> None:
        self._notebooks.delete(self._find_own(principal, ident))

    # -- cells -------------------------------------------------------------------------------------------

    def add_cell(self, principal: Principal, ident: str, kind: CellKind, text: str) -> Notebook:
        cell = self._notebooks.new_cell(kind, _checked(kind, text))

        def added(found: Notebook) -> Notebook:
            if len(found.cells) >= MOST_CELLS:
                raise ConfigError("QG806", f"A notebook has at most {MOST_CELLS} parts.", "Begin another notebook.")
            return replace(found, cells=(*found.cells, cell))

        return self._change(principal, ident, added)

    def write_cell(self, principal: Principal, ident: str, cell_id: str, text: str) -> Notebook:
        """Another text. The answer to another statement is no answer to this one, so it goes."""

        def written(cell: Cell) -> Cell:
            checked = _checked(cell.kind, text)
            return cell if checked == cell.text else Cell(cell.id, cell.kind, checked)

        return self._change_cell(principal, ident, cell_id, written)

    def move_cell(self, principal: Principal, ident: str, cell_id: str, move: Move) -> Notebook:
        def moved(found: Notebook) -> Notebook:
            cells, place = list(found.cells), _place(found, cell_id)
            other = min(max(place + (-1 if move == "up" else 1), 0), len(cells) - 1)
            cells[place], cells[other] = cells[other], cells[place]
            return replace(found, cells=tuple(cells))

        return self._change(principal, ident, moved)

    def remove_cell(self, principal: Principal, ident: str, cell_id: str) -> Notebook:
        def removed(found: Notebook) -> Notebook:
            place = _place(found, cell_id)
            return replace(found, cells=found.cells[:place] + found.cells[place + 1 :])

        return self._change(principal, ident, removed)

    def run(self, principal: Principal, ident: str, cell_id: str | None = None) -> Notebook:
        """Ask the query of one part, or of all in their order; always for ranges, which cost nothing."""
        found = self._find_own(principal, ident)
        wanted = found.cells if cell_id is None else (found.cells[_place(found, cell_id)],)
        for cell in wanted:
            if cell.kind == "query":
                asked = self._ask(principal, found.dataset, cell)
                found = self._change_cell(principal, ident, cell.id, partial(_with_answer, asked))
        return found

    # -- along the way -----------------------------------------------------------------------------------

    def _ask(self, principal: Principal, dataset: str, cell: Cell) -> Cell:
        try:
            body = ask(Request(principal, dataset, cell.text, QueryOptions(mode="interval")), self._gate)
        except QueryGateError as error:
            told = f"{error.code}: {error.detail} {error.remedy or ''}".strip()
            return replace(cell, answer=None, policy=None, refused=told)
        served = self._gate.store.current(dataset).catalog
        policy = served.policy_hash if served.version == body["version"] else None
        return replace(cell, answer=body["query_id"], policy=policy, refused=None)

    def _find_own(self, principal: Principal, ident: str) -> Notebook:
        found = self._notebooks.find(ident)
        if found is None or found.owner != principal.name:
            raise not_there()
        return found

    def _change(self, principal: Principal, ident: str, change: Callable[[Notebook], Notebook]) -> Notebook:
        self._find_own(principal, ident)
        after = self._notebooks.change(ident, change)
        if after is None:
            raise not_there()
        return after

    def _change_cell(self, principal: Principal, ident: str, cell_id: str, change: Callable[[Cell], Cell]) -> Notebook:
        def changed(found: Notebook) -> Notebook:
            place = _place(found, cell_id)
            return replace(found, cells=(*found.cells[:place], change(found.cells[place]), *found.cells[place + 1 :]))

        return self._change(principal, ident, changed)


def _with_answer(asked: Cell, now: Cell) -> Cell:
    """What came of a query, unless somebody wrote another one meanwhile."""
    return asked if now.text == asked.text else now


def _without_answers(found: Notebook) -> Notebook:
    return replace(found, cells=tuple(Cell(cell.id, cell.kind, cell.text) for cell in found.cells))


def _place(found: Notebook, cell_id: str) -> int:
    for place, cell in enumerate(found.cells):
        if cell.id == cell_id:
            return place
    raise not_there()


def _checked(kind: CellKind, text: str) -> str:
    if kind == "query":
        return check_text("statement", text, most=LONGEST_STATEMENT, least=1)
    return check_text("text", text, most=LONGEST_TEXT, least=1)
