"""The places that a statement is about: all that a decision before the answer may depend on.

A statement is taken apart into conditions on known columns and on secrets. The places that its known conditions select,
group by group, are its sets. Secret conditions stay text that is never evaluated: the sets of `COUNT(*) WHERE age < 51
AND dx = 'flu'` and of `AVG(sbp) WHERE age < 51` are the same. So there is one measure for all statements, presence:
every answer of the gate shows how many records each group may have. Rewording a secret, or summing it in another unit,
cannot bypass it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np

from querygate.core.audit.audit_records import AuditRecords
from querygate.core.types import Bools, Catalog, Ints
from querygate.sql.logged.logged_statement import LoggedAggregate, LoggedStatement, UnauditableStatement, take_apart

MOST_GROUPS = 500
"""The most sets of one statement; a statement with more cannot be decided."""

KEPT = 256
"""The most conditions whose places are cached."""


class Structure:
    """The places of one version, by its known columns; `records` needs no other columns."""

    def __init__(self, records: AuditRecords, catalog: Catalog) -> None:
        self._columns = tuple(column.name for column in catalog.columns)
        self._secret = tuple(column.name for column in catalog.columns if not is_known(column.role))
        self._person, self._records = catalog.person, records
        self.places = records.settle([column.name for column in catalog.columns if is_known(column.role)])
        self.weights: Ints = records.counts("", "")
        self._masks: OrderedDict[str, Bools] = OrderedDict()

    def sets(self, sql: str) -> Bools:
        """The sets of a statement, a row each, over places. Raises Unreadable or Unanswerable where they cannot be
        determined."""
        found: dict[bytes, Bools] = {}
        for logged in take_apart(sql, self._columns, self._secret, person=self._person):
            for row in self._sets(logged):
                found.setdefault(row.tobytes(), row)
                if len(found) > MOST_GROUPS:
                    raise UnauditableStatement(f"It has more than {MOST_GROUPS} groups.")
        return np.array(list(found.values()), dtype=np.bool_).reshape(-1, self.places)

    def _sets(self, logged: LoggedStatement) -> Iterator[Bools]:
        if not logged.added:
            raise UnauditableStatement("It shows groups without any number.")
        label, number = np.zeros(self.places, dtype=np.int64), 1
        if logged.keys:
            label, keys = self._records.groups([text for text, _ in logged.keys])
            number = len(keys)
        for condition in dict.fromkeys(text for added in logged.added for text in _conditions(added)):
            members = self._mask(condition)
            for group in np.flatnonzero(np.bincount(label[members], minlength=number)).tolist():
                yield members & (label == group)

    def _mask(self, condition: str) -> Bools:
        if condition not in self._masks:
            self._masks[condition] = self._records.mask(condition)
            if len(self._masks) > KEPT:
                self._masks.popitem(last=False)
        self._masks.move_to_end(condition)
        return self._masks[condition]


def _conditions(added: LoggedAggregate) -> Iterator[str]:
    """The known conditions of an aggregate and, if its value is a known column, that it is present."""
    for part in (*added.parts, *added.among):
        yield part.known
        if added.value and not added.secret:
            yield f"({part.known}) AND ({added.value}) IS NOT NULL"


def is_known(role: str) -> bool:
    """May an attacker know it about a person?"""
    return role in ("quasi-identifier", "public")


def known_columns(catalog: Catalog) -> Sequence[str]:
    return [column.name for column in catalog.columns if is_known(column.role)]
