"""A small, strict reader of formulas as R writes them. The text is never evaluated.

    formula  = response "~" term { "+" term }
    response = "Surv(" name "," name ")"     of a Cox model: time, event
             | name                          of a linear or a logistic model
             | name comparison number        of a logistic model: time > 1000, time <= 365
    term     = factor { ":" factor }         several factors: their product
    factor   = name | function "(" name ")"  function: log, sqrt, C (a number as a category)
    name     = letters, digits, "_" and "." or anything but line ends between backquotes or double quotes

>>> found = parse_formula(RecipientModel.of("cox: Surv(time, status) ~ log(size) + C(grade) + age:sex"))
>>> found.response, found.status, [str(term) for term in found.terms]
('time', 'status', ['log(size)', 'C(grade)', 'age:sex'])
>>> found.columns
('time', 'status', 'size', 'grade', 'age', 'sex')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn, cast, get_args

from querygate.core.errors import ExtractRefused, Span
from querygate.core.extracts.extract_spec import Family, RecipientModel
from querygate.core.types import NUMERIC, Type

Function = Literal["log", "sqrt", "C"]

MOST_TERMS = 200

_TOKENS = re.compile(
    r"\s*(?:(?P<name>[^\W\d][\w.]*)|(?P<mark>[`\"])(?P<quoted>(?:(?!(?P=mark))[^\n\r\0])+)(?P=mark)"
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])"
    r"|(?P<sign>[<>]=?|[~+:(),])|(?P<end>$))"
)
_PLAIN = re.compile(r"[^\W\d][\w.]*")


@dataclass(frozen=True, slots=True)
class Factor:
    """A column, or a function of one."""

    column: str
    function: Function | None = None

    def __str__(self) -> str:
        mark = '"' if "`" in self.column else "`"
        name = self.column if _PLAIN.fullmatch(self.column) else f"{mark}{self.column}{mark}"
        return f"{self.function}({name})" if self.function else name


@dataclass(frozen=True, slots=True)
class Term:
    """A factor, or the product of several."""

    factors: tuple[Factor, ...]

    def __str__(self) -> str:
        return ":".join(str(factor) for factor in self.factors)


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a number is compared with."""

    comparison: Literal["<", "<=", ">", ">="]
    number: float

    def __str__(self) -> str:
        return f"{self.comparison} {self.number:.17g}"


@dataclass(frozen=True, slots=True)
class Formula:
    """What is modelled by what. `response` is the time of a Cox model, whose event is `status`; with a `threshold`
    whether it is beyond that is modelled.
    """

    family: Family
    response: str
    status: str | None
    terms: tuple[Term, ...]
    threshold: Threshold | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is used, each once."""
        ends = (self.response, *((self.status,) if self.status else ()))
        return tuple(dict.fromkeys((*ends, *(f.column for term in self.terms for f in term.factors))))

    def __str__(self) -> str:
        left = str(Factor(self.response))
        if self.status:
            left = f"Surv({left}, {Factor(self.status)})"
        if self.threshold:
            left = f"{left} {self.threshold}"
        return f"{left} ~ {' + '.join(str(term) for term in self.terms)}"


_Kind = Literal["name", "quoted", "number", "sign", "end"]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str
    at: int


def parse_formula(model: RecipientModel) -> Formula:
    """What the model's formula says; ExtractRefused QG604 with the place of what cannot be read."""
    reader = _Reader(model.formula)
    response, status = reader.response(model.family)
    threshold = reader.threshold() if model.family == "logistic" else None
    reader.sign("~")
    terms = [reader.term()]
    while reader.next.text == "+":
        reader.sign("+")
        terms.append(reader.term())
    if reader.next.kind != "end":
        reader.fail("a formula must continue with + or : here")
    _check_terms(terms, response, status)
    return Formula(model.family, response, status, tuple(terms), threshold)


def check_columns(formula: Formula, types: Mapping[str, Type]) -> None:
    """ExtractRefused QG604 where a column is not there, or is not of a type that the model can use."""
    for name in formula.columns:
        if name not in types:
            raise _refused(f"there is no column {name!r}.", f"Columns: {', '.join(types)}.")
    if (formula.family != "logistic" or formula.threshold) and types[formula.response] not in NUMERIC:
        raise _refused(f"the response {formula.response!r} is not a number.", "Name a numeric column before the ~.")
    for term in formula.terms:
        for factor in term.factors:
            if types[factor.column] == "codes":
                raise _refused(f"{factor.column!r} is a code list.", "Use numbers and categories.")
            if factor.function in ("log", "sqrt") and types[factor.column] not in NUMERIC:
                raise _refused(f"{factor}: {factor.column!r} is not a number.", f"Write only {factor.column}.")


class _Reader:
    """Recursive descent: one token ahead, no way back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = self._read()
        self.next = next(self._tokens)

    def _read(self) -> Iterator[_Token]:
        at = 0
        while True:
            found = _TOKENS.match(self.text, at)
            if found is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                raise _refused(f"{self.text[at]!r} is not allowed in a formula.", _REMEDY, at)
            kind = cast(_Kind, found.lastgroup)
            yield _Token(kind, found[kind], found.start(kind))
            at = found.end()

    def _take(self) -> _Token:
        token = self.next
        if token.kind != "end":
            self.next = next(self._tokens)
        return token

    def fail(self, wanted: str) -> NoReturn:
        found = repr(self.next.text) if self.next.kind != "end" else "its end"
        raise _refused(f"{wanted}, not with {found}.", _REMEDY, self.next.at)

    def sign(self, sign: str) -> None:
        if self.next.kind != "sign" or self.next.text != sign:
            self.fail(f"a formula must continue with {sign} here")
        self._take()

    def name(self) -> str:
        if self.next.kind not in ("name", "quoted"):
            self.fail("a formula must continue with the name of a column here")
        return self._take().text

    def response(self, family: Family) -> tuple[str, str | None]:
        if family != "cox":
            return self.name(), None
        if self.next.kind != "name" or self.next.text != "Surv":
            self.fail("the formula of a Cox model must begin with Surv(time, event)")
        self._take()
        self.sign("(")
        time = self.name()
        self.sign(",")
        status = self.name()
        self.sign(")")
        return time, status

    def threshold(self) -> Threshold | None:
        """A comparison with a number, if the response goes on with one."""
        if self.next.text not in ("<", "<=", ">", ">="):
            return None
        comparison = cast(Literal["<", "<=", ">", ">="], self._take().text)
        if self.next.kind != "number":
            self.fail("a comparison must continue with a number here")
        return Threshold(comparison, float(self._take().text))

    def term(self) -> Term:
        factors = [self.factor()]
        while self.next.text == ":" and self.next.kind == "sign":
            self.sign(":")
            factors.append(self.factor())
        return Term(tuple(factors))

    def factor(self) -> Factor:
        begin = self.next
        name = self.name()
        if self.next.text != "(" or self.next.kind != "sign":
            return Factor(name)
        if begin.kind != "name" or name not in get_args(Function):
            raise _refused(f"{name[:60]!r} is not a supported function.", _REMEDY, begin.at)
        self.sign("(")
        column = self.name()
        self.sign(")")
        return Factor(column, cast(Function, name))


def _check_terms(terms: list[Term], response: str, status: str | None) -> None:
    """Each column once on either side: what is explained does not explain, and nothing is asked twice."""
    if len(terms) > MOST_TERMS:
        raise _refused(f"there are {len(terms)} terms.", f"Use at most {MOST_TERMS}.")
    if response == status:
        raise _refused(f"{response!r} is both time and event.", "Write Surv(time, event).")
    seen: set[frozenset[Factor]] = set()
    for term in terms:
        columns = [factor.column for factor in term.factors]
        if response in columns or status in columns:
            raise _refused(f"{term}: the response cannot explain itself.", "Remove it after the ~.")
        if len(set(columns)) < len(columns) or frozenset(term.factors) in seen:
            raise _refused(f"{term}: is repeated.", "Remove it.")
        seen.add(frozenset(term.factors))


_REMEDY = (
    "Write names joined by + and :, and log(x), sqrt(x) or C(x), as in 'sbp ~ age + C(grade) + age:sex'. "
    'A name with blanks or signs needs double quotes: "blood pressure" ~ age.'
)


def _refused(detail: str, remedy: str, at: int | None = None) -> ExtractRefused:
    span = None if at is None else Span(1, at + 1)
    place = "" if at is None else f", character {at + 1}"
    return ExtractRefused("QG604", f"formula{place}: {detail}", remedy, span=span)
