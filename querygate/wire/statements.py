"""What a statement of a client is answered with: by the gate, or where it asks for schemas alone, by a shadow catalog.

Everything here blocks, and is called in threads. A statement that the gate answers is charged and put on record there,
once; to describe one costs nothing and leaves no entry, unless it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from querygate.control.usage import Used
from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import NotPermitted, QueryGateError, UnsupportedSQL
from querygate.core.jobs import JobUnderway
from querygate.core.limits.cancellation import check_cancelled, is_called_off
from querygate.core.types import Catalog, Principal, Request, folded
from querygate.gate.answer import ask
from querygate.gate.answer_columns import ForeseenColumns, foresee_columns
from querygate.gate.dataset_list import served_catalogs
from querygate.gate.grant_check import known_datasets
from querygate.gate.incidents import make_failure
from querygate.site.job_exchange import JobExchange, result_of
from querygate.site.open_gate import OpenSite
from querygate.site.user_limits import UserLimits
from querygate.sql.postgres.catalog_statement import is_about_catalog
from querygate.sql.postgres.client_statement import (
    LONGEST_TEXT,
    MOST_PARAMETERS,
    EditedText,
    check_length,
    count_parameters,
    dataset_of,
    is_column_probe,
    parameter_casts,
    parameter_columns,
    too_many_parameters,
    with_values,
)  # fmt: skip
from querygate.sql.postgres.copy_statement import CopyForm
from querygate.wire.answer_table import fields_of, notes_on, rows_of
from querygate.wire.catalog import ShadowCatalogs
from querygate.wire.parameters import SAMPLE_TEXT, SAMPLES
from querygate.wire.session_settings import SessionSettings
from querygate.wire.types import BY_NAME, BY_OID, OF_COLUMN, TEXT, Field, PgType, Value, size_of


@dataclass(frozen=True, slots=True)
class Result:
    """A table, or without fields a command's end."""

    tag: str
    fields: tuple[Field, ...] | None = None
    rows: Sequence[Sequence[Value]] = ()
    notes: tuple[str, ...] = ()
    form: CopyForm | None = None
    """Where rows are wanted as lines, in which form."""
    size: int = field(init=False)
    """About how many bytes it is: of the day's allowance, and in memory."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(size_of(cell) for row in self.rows for cell in row))


class StatementRefused(Exception):
    """An error, and the character of the client's own statement that it is about, from 0."""

    def __init__(self, error: QueryGateError, place: int | None) -> None:
        super().__init__(error.code)
        self.error, self.place = error, place


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, and how they want it."""

    principal: Principal
    settings: SessionSettings


class Statements:
    """The statements of all sessions."""

    def __init__(self, opened: OpenSite, limits: UserLimits, exchange: JobExchange | None) -> None:
        self._opened, self._gate, self._limits, self._exchange = opened, opened.gate, limits, exchange
        self._catalogs = ShadowCatalogs()
        self._longest = max(LONGEST_TEXT, opened.site.settings["max_sql_chars"])

    def check_length(self, length: int) -> None:
        """Before anything else is done with a text; the gate and the catalog have closer limits. QG102."""
        check_length(length, self._longest)

    def parameter_types(self, asker: Asker, text: str, told: Sequence[int]) -> tuple[PgType, ...]:
        """The types of the parameters: as the client says, or as they are compared, or texts."""
        number = max(count_parameters(text), len(told))
        if number > MOST_PARAMETERS:
            raise too_many_parameters()
        if not number:
            return ()
        served = self._served(asker.principal)
        name = dataset_of(text, [catalog.dataset for catalog in served])
        columns = {folded(c.name): c.type for catalog in served if catalog.dataset == name for c in catalog.columns}
        compared, casts = parameter_columns(text, columns), parameter_casts(text)
        known = [BY_OID.get(oid) for oid in told] + [None] * (number - len(told))
        return tuple(
            found or BY_NAME.get(casts.get(i, "")) or OF_COLUMN.get(compared.get(i, ""), TEXT)
            for i, found in enumerate(known, 1)
        )

    def describe(
        self, asker: Asker, text: str, types: Sequence[PgType], values: Sequence[str] | None
    ) -> tuple[Field, ...]:
        """The columns of its table. Without values, examples of their types stand for them."""
        filled = [SAMPLES.get(one, SAMPLE_TEXT) for one in types] if values is None else values
        served = self._served(asker.principal)
        ready = with_values(text, filled, [catalog.dataset for catalog in served], self._longest)
        try:
            with self._limits.counted(asker.principal):
                if _is_about_schemas(ready.text):
                    return self._look(asker, ready.text, served).fields or ()
                request, is_whole = self._request(asker, ready.text, served), values is not None or not types
                return fields_of(foresee_columns(request, self._gate, is_whole=is_whole), asker.settings.layout)
        except Exception as error:
            raise _refused(error, ready) from None

    def run(self, asker: Asker, text: str, values: Sequence[str], expected: tuple[Field, ...] | None = None) -> Result:
        """The result of a statement. `expected` are the columns that were described, if they were."""
        served = self._served(asker.principal)
        if count_parameters(text) > len(values):
            error = NotPermitted(
                "QG306", "The statement has parameters without values.", "Write values in their place."
            )
            raise StatementRefused(error, None)
        ready = with_values(text, values, [catalog.dataset for catalog in served], self._longest)
        try:
            with self._limits.counted(asker.principal) as given:
                about_schemas = _is_about_schemas(ready.text)
                result = (self._look if about_schemas else self._ask)(asker, ready.text, served)
                given.rows = 0 if about_schemas else len(result.rows)
                given.bytes = result.size
            return _as_described(result, expected)
        except JobUnderway:
            raise
        except Exception as error:
            raise _refused(error, ready) from None

    def find_result(self, asker: Asker, job: JobUnderway, expected: tuple[Field, ...] | None) -> Result | None:
        """The noisy answer of a job, which the log has by then; None while it is not there. Whoever calls the statement
        off calls off the job, unless it is being computed: what was spent stays spent."""
        exchange = self._exchange
        found = None if exchange is None else exchange.find(job.job_id)
        if exchange is None or found is None:
            raise NotPermitted("QG316", "The job of this answer is gone.", "Send the statement again.")
        if is_called_off():
            exchange.cancel(job.job_id)
        check_cancelled()
        if not exchange.shows_end(found):
            return None
        result = self._table(asker, cast(AnswerBody, result_of(found)["answer"]))
        self._limits.usage.add(asker.principal.name, Used(result.size, len(result.rows), 0))
        return _as_described(result, expected)

    def _ask(self, asker: Asker, sql: str, served: Sequence[Catalog]) -> Result:
        return self._table(asker, ask(self._request(asker, sql, served), self._gate))

    def _table(self, asker: Asker, body: AnswerBody) -> Result:
        foreseen, layout = ForeseenColumns.of(body), asker.settings.layout
        rows = rows_of(body, foreseen, layout)
        return Result(f"SELECT {len(rows)}", fields_of(foreseen, layout), rows, tuple(notes_on(body, layout)))

    def _look(self, asker: Asker, sql: str, served: Sequence[Catalog]) -> Result:
        fields, rows = self._catalogs.read(asker.principal.name, served, sql, asker.settings.all())
        shown = () if is_column_probe(sql) else rows
        return Result(f"SELECT {len(shown)}", fields, shown)

    def _request(self, asker: Asker, sql: str, served: Sequence[Catalog]) -> Request:
        names = [catalog.dataset for catalog in served]
        dataset = dataset_of(sql, names) or next(iter(names), "")
        return Request(asker.principal, dataset, sql, asker.settings.options)

    def _served(self, principal: Principal) -> tuple[Catalog, ...]:
        """What this person may know of."""
        store = self._opened.store
        known = known_datasets(principal, store.datasets(), self._gate.grants)
        return tuple(served_catalogs(store, broken=lambda error: None, among=known))


def _is_about_schemas(sql: str) -> bool:
    return is_about_catalog(sql) or is_column_probe(sql)


def _refused(error: Exception, ready: EditedText) -> StatementRefused:
    told = error if isinstance(error, QueryGateError) else make_failure(error)
    place = None if told.span is None else ready.place_of(told.span)
    return StatementRefused(told, place)


def _as_described(result: Result, expected: tuple[Field, ...] | None) -> Result:
    if expected is not None and expected != result.fields:
        raise UnsupportedSQL("QG206", "The columns have changed since the statement was prepared.", "Prepare it again.")
    return result
