"""The path of a model: a formula becomes one statement, which takes the path of every query; the model is computed from
its answer, and from nothing else. So a model reveals no more than that answer, and the log, limits, budgets and audits
hold for it as they do for any statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from querygate.core.answer_bodies import ModelAbout, ModelBody
from querygate.core.errors import Refusal, Span
from querygate.core.limits.deadline import check_deadline, within
from querygate.core.model_question import ModelQuestion
from querygate.core.ports import Limits, PublishedVersion
from querygate.core.types import Answer, AnswerColumn, Column, Estimate, Group, QueryOptions, Range, Request
from querygate.gate.answer import STEPS, compute_ranges
from querygate.gate.likely_values import NOTE as NOT_GUARANTEED
from querygate.gate.models.model_design import level_text, reference_level
from querygate.gate.models.model_families import COLUMNS, ModelRow, fit
from querygate.gate.models.model_patterns import Patterns, read_patterns
from querygate.gate.query_state import INTERVAL, Gate, State
from querygate.gate.render import make_body
from querygate.gate.sharpness import find_sharpness
from querygate.gate.steps.find import find
from querygate.sql import ANOTHER
from querygate.sql.model_statement import ModelStatement, make_statement

MODEL = "model"
"""The kind of log entry that says which model a statement was asked for."""

WIDE = "QG219"

_NO_ESTIMATE = Estimate(None, "There is no likely table to compute it from.")


def ask_model(question: ModelQuestion, gate: Gate) -> ModelBody:
    """Fit a model to what the gate answers about its covariate patterns. Raises QueryGateError."""
    with within(gate.clock_s, gate.limits.timeout_s):
        statement = _understand(question, gate)
        options = QueryOptions(mode=INTERVAL, explain=question.explain)
        request = Request(question.principal, question.dataset, statement.sql, options)
        began_s = gate.clock_s()
        try:
            state = compute_ranges(State(gate.new_id(), request, began_s), gate, (find, *STEPS))
        except Refusal as refusal:
            refusal.suggestion = None  # it would be a statement, and no model
            refusal.remedy = refusal.remedy.removesuffix(f" {ANOTHER}")
            refusal.span = _in_formula(refusal.span, statement.sql, question.formula)
            raise
        try:
            check_deadline()
            patterns = read_patterns(statement, state.answer, state.plan, state.catalog.min_group)
            rows = fit(question, patterns)
        except Refusal as refusal:
            refusal.query_id = state.query_id
            _name_views(refusal, state)
            _note(question, state, gate, refusal.code)
            raise
        elapsed_ms = round((gate.clock_s() - began_s) * 1000, 1)
        table = replace(_table(question, rows, state.answer), elapsed_ms=elapsed_ms)
        body = _body(question, state, patterns, table)
        _note(question, state, gate, None, body)
        return body


def _in_formula(span: Span | None, sql: str, formula: str) -> Span | None:
    """Where what is marked in the statement stands in the formula; nowhere, if it is not of one line of it."""
    if span is None or "\n" in formula:
        return None
    marked = sql.split("\n")[span.line - 1][span.column - 1 :][: span.length]
    at = formula.find(marked) if marked else -1
    return Span(1, at + 1, span.length) if at >= 0 else None


def _name_views(refusal: Refusal, state: State) -> None:
    """Where no view has all factors, that is why counts of their combinations are wide: say which are together."""
    if refusal.code != WIDE:
        return
    asked = [column.name for column in state.catalog.columns if _divides(column) and column.name in state.plan.columns]
    views = [frozenset(margin.quasi) for margin in state.catalog.margins]
    if not views or any(view.issuperset(asked) for view in views):
        return
    parts = dict.fromkeys(tuple(name for name in asked if name in view) for view in views)
    largest = [part for part in parts if not any(set(part) < set(other) for other in parts)]
    refusal.detail = f"No view of this dataset has {_listed(asked)} together, so counts of their combinations are wide."
    together = "; ".join(_listed(part) for part in largest if part)
    refusal.remedy = f"Use factors that are in the same view: {together}. Or use fewer and coarser levels."


def _divides(column: Column) -> bool:
    return column.role in ("quasi-identifier", "public")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _understand(question: ModelQuestion, gate: Gate) -> ModelStatement:
    """Found as for a query: whoever may not ask about a dataset is not told its columns either."""
    request = Request(question.principal, question.dataset, "", QueryOptions(mode=INTERVAL))
    release = find(State("", request, gate.clock_s()), gate).release
    return make_statement(question, release.catalog, lambda name: _dividing_cuts(release, name, gate.limits))


def _dividing_cuts(release: PublishedVersion, name: str, limits: Limits) -> tuple[int | float, ...]:
    """Where classes begin, without the first of them: nobody is below that."""
    return find_sharpness(release, limits).cuts.get(name, ())[1:]


def _note(question: ModelQuestion, state: State, gate: Gate, code: str | None, table: ModelBody | None = None) -> None:
    """Which model the statement before was asked for and what came of it, on record before it leaves."""
    asked = {"query_id": state.query_id, "family": question.family, "formula": question.formula, "code": code}
    body = {**asked, "table": table}
    gate.log.note(MODEL, user=question.principal.name, dataset=question.dataset, body=body, query_id=state.query_id)


def _table(question: ModelQuestion, rows: Sequence[ModelRow], answer: Answer) -> Answer:
    """The rows of a model as groups of an answer, so that every form of answers is one of models."""
    names = COLUMNS[question.family]
    keys = tuple(AnswerColumn(name, "key", "category", place) for place, name in enumerate(("term", "level")))
    columns = tuple(AnswerColumn(name, "range", "number", place) for place, name in enumerate(names))
    figures = [figure for row in rows for figure in row.figures.values()]
    likely = any(figure.likely is not None and not figure.range.sharp for figure in figures)
    notes = tuple(note for note in answer.notes if note != NOT_GUARANTEED) + ((NOT_GUARANTEED,) if likely else ())
    return replace(answer, columns=(*keys, *columns), groups=tuple(_group(row, names) for row in rows), notes=notes)


def _group(row: ModelRow, names: Sequence[str]) -> Group:
    figures = [row.figures[name] for name in names]
    estimates = tuple(Estimate(one.likely) if one.likely is not None else _NO_ESTIMATE for one in figures)
    count = Range(*row.records)
    return Group((row.term, row.level), tuple(one.range for one in figures), count, certain=True, estimates=estimates)


def _body(question: ModelQuestion, state: State, patterns: Patterns, table: Answer) -> ModelBody:
    statement = patterns.statement
    low, high = patterns.records
    about: ModelAbout = {
        "family": question.family,
        "formula": question.formula,
        "where": question.where,
        "statement": statement.sql,
        "patterns": patterns.size,
        "exact": patterns.is_exact,
        "records": {"low": low, "high": high},
        "reference": {
            statement.factors[place].name: level_text(reference_level(patterns, place, question.reference))
            for place in dict.fromkeys(place for term in statement.terms for place in term)
            if not statement.factors[place].numeric
        },
    }
    body: ModelBody = {**make_body(table), "model": about}
    if state.explanation is not None:
        body["explanation"] = state.explanation
    return body
