"""How much the database may be asked for one statement before it is answered.

Functions of columns are tabulated over public domains, which takes about a microsecond for each value and a few
milliseconds for each question. A statement of five thousand words can ask for hours of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from querygate.core.errors import SyntaxRefused
from querygate.core.limits.deadline import check_deadline
from querygate.core.ports import Native, SqlReading, TabulatedValues
from querygate.core.types import SqlValue

MOST, EACH = 5_000_000, 4_000
"""Values in all, and as how many a question counts beside its own."""


@dataclass
class Work:
    values: int = 0


@dataclass(frozen=True)
class WorkLimit:
    """The database, for one statement. Equal where the database is, so that tables once found are found again."""

    native: Native
    work: Work = field(default_factory=Work, compare=False)

    def read(self, sql: str, own: str) -> SqlReading:
        check_deadline()
        return self.native.read(sql, own)

    def tabulate(self, text: str, kind: str, values: Sequence[SqlValue]) -> TabulatedValues:
        check_deadline()
        self.work.values += len(values) + EACH
        if self.work.values > MOST:
            raise SyntaxRefused(
                "QG102",
                "The statement uses too many functions of columns.",
                "Use fewer, or compare the columns themselves, as in born >= DATE '2020-01-01'.",
            )
        return self.native.tabulate(text, kind, values)
