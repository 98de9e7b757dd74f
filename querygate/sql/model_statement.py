"""A formula to the one statement whose answer a model is computed from: counts or sums for each covariate pattern.

    formula = outcome "~" term { "+" term } [ "|" stratum { "+" stratum } ]
    term    = factor { ":" factor }                 several factors: their product
    factor  = column | condition | expression       as GROUP BY takes it
            | bands(column) | bands(column, 40, 60) ordered columns in bands: as policy and data are cut, or as given
            | C(column)                             numbers as categories

What stands between the signs is SQL, and is read as SQL: it goes into a statement that the gate checks as any other, so
that a formula can ask for nothing that a statement could not. Only names are freer: a column of the dataset needs no
quotes because SQL has a use for the word, and backticks are quotes too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from querygate.core.errors import Refusal
from querygate.core.model_question import STRATIFIED, ModelQuestion
from querygate.core.types import Catalog, Column
from querygate.sql.formula_pieces import Piece, read_expression, refused, sides_of, split, whole, worded
from querygate.sql.name_text import in_quotes, name_text
from querygate.sql.parse import parse
from querygate.sql.suggestions.quoted_names import NamedText, as_written, with_names

MOST_FACTORS = 20
MOST_BANDS = 12
MOST_NUMBERS = 6

Counts = Literal["shares", "sums", "moments"]
"""Whether a pattern has records with the outcome and without it, sums and how much they are expected of, or moments of
the outcome and of numeric covariates."""

Cuts = Callable[[str], Sequence[int | float]]
"""By the name of a numeric column: where nobody's interval straddles."""


@dataclass(frozen=True, slots=True)
class Factor:
    """What records are told apart by. `levels` are those of bands, in their order; `numeric` says that its value is a
    number of the model, and not a category."""

    name: str
    sql: str
    levels: tuple[str, ...] = ()
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class ModelStatement:
    """A statement with the factors as its keys, in their order. `terms` and `strata` name factors by their places.

    With "shares" its aggregates are records with the outcome, without it, and all of them; with "sums" the sum of the
    outcome, what it is expected of, and of linear models variance and mean within patterns. `summed` are the columns of
    the first two sums, where they are columns.
    """

    sql: str
    factors: tuple[Factor, ...]
    terms: tuple[tuple[int, ...], ...]
    strata: tuple[int, ...]
    counts: Counts
    summed: tuple[Column | None, Column | None] = (None, None)
    has_variance: bool = False
    covariates: tuple[Column, ...] = ()


def make_statement(question: ModelQuestion, catalog: Catalog, cuts: Cuts) -> ModelStatement:
    """What to ask for a model; UnsupportedSQL QG218 with the place of what cannot be used.

    A word that is a column's name and a word of SQL is the column; where that makes no sense, it is SQL's.
    """
    texts = (question.formula, question.where)
    readings = (dict.fromkeys((with_names(text, catalog), as_written(text))) for text in texts)
    refusals = []
    for formula, where in itertools.product(*readings):
        try:
            return _make(question, formula, where, catalog, cuts)
        except Refusal as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _make(
    question: ModelQuestion, formula: NamedText, where: NamedText, catalog: Catalog, cuts: Cuts
) -> ModelStatement:
    outcome_text, terms_text, strata_text = sides_of(question, formula)
    outcome = read_expression(outcome_text, question.formula)
    reader = _Factors(catalog, cuts, question.formula)
    stratified = question.family in STRATIFIED
    covariates: list[Column] = []
    if question.family == "linear":
        terms_text, covariates = _numbers_apart(terms_text, catalog, question)
    terms = [
        tuple(reader.place(part, categorical=stratified) for part in split(term, TokenType.COLON))
        for term in terms_text
    ]
    strata = [reader.place(stratum, categorical=True) for stratum in strata_text]
    _check_factors(reader.factors, terms, strata, outcome, question)
    _check_covariates(covariates, outcome, question)
    counts, aggregates, summed = _aggregates(question, outcome, catalog)
    if covariates:
        counts, aggregates = "moments", _moments(_text(outcome, catalog), covariates)
    keys = [
        factor.sql if factor.sql == name_text(factor.name) else f"{factor.sql} AS {in_quotes(factor.name)}"
        for factor in reader.factors
    ]
    grouped = f" GROUP BY {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
    condition = f" WHERE {worded(read_expression(whole(where), question.where))}" if question.where else ""
    sql = f"SELECT {', '.join([*keys, *aggregates])} FROM {name_text(catalog.dataset)}{condition}{grouped}"  # noqa: S608 - it is read, and never run
    return ModelStatement(
        sql,
        tuple(reader.factors),
        tuple(terms),
        tuple(strata),
        counts,
        summed,
        counts == "sums" and question.family == "linear",
        tuple(covariates),
    )


# -- the text ----------------------------------------------------------------------------------------------------


# -- factors -----------------------------------------------------------------------------------------------------


class _Factors:
    """The factors of a formula, each once."""

    def __init__(self, catalog: Catalog, cuts: Cuts, formula: str) -> None:
        self.factors: list[Factor] = []
        self._catalog, self._cuts, self._formula = catalog, cuts, formula

    def place(self, piece: Piece, *, categorical: bool) -> int:
        factor = self._read(piece, categorical=categorical)
        if factor not in self.factors:
            self.factors.append(factor)
        return self.factors.index(factor)

    def _read(self, piece: Piece, *, categorical: bool) -> Factor:
        tree = read_expression(piece, self._formula)
        function = str(tree.this).lower() if isinstance(tree, exp.Anonymous) else ""
        if function == "bands":
            return self._bands(tree, piece)
        if function == "c" and len(tree.expressions) == 1:
            column = self._column(tree.expressions[0], piece)
            return Factor(column.name, name_text(column.name))
        if isinstance(tree, exp.Column):
            column = self._column(tree, piece)
            if column.type == "number" or column.type in ("date", "timestamp"):
                remedy = (
                    f"Write bands({name_text(column.name)})." if column.type == "number" else "Write a condition on it."
                )
                raise refused(f"{column.name} has too many values.", self._formula, piece, remedy=remedy)
            numeric = column.type == "integer" and not categorical
            return Factor(column.name, name_text(column.name), numeric=numeric)
        return Factor(piece.words, f"({worded(tree)})")

    def _column(self, tree: exp.Expr, piece: Piece) -> Column:
        found = self._catalog.column(tree.name) if isinstance(tree, exp.Column) else None
        if found is None:
            listed = ", ".join(column.name for column in self._catalog.columns)
            raise refused("there is no such column.", self._formula, piece, remedy=f"Columns: {listed}.")
        return found

    def _bands(self, tree: exp.Expr, piece: Piece) -> Factor:
        inside = tree.expressions
        column = self._column(inside[0], piece) if inside else None
        if column is None or column.type not in ("integer", "number"):
            raise refused("bands() needs a numeric column.", self._formula, piece)
        edges = [_number(edge) for edge in inside[1:]]
        given = [edge for edge in edges if edge is not None]
        if len(given) < len(edges) or given != sorted(set(given)):
            raise refused("the starts of bands must be ascending numbers.", self._formula, piece)
        sharp = () if given else self._cuts(column.name)
        told = [cut for cut in column.cuts if cut in sharp]
        edges_used = given or _thinned(column, told, 2 * MOST_BANDS) or _thinned(column, sharp, MOST_BANDS)
        if not edges_used:
            remedy = f"Write where the bands start: bands({name_text(column.name)}, 40, 60)."
            raise refused("this column has no published cuts.", self._formula, piece, remedy=remedy)
        levels = _band_names(column, edges_used)
        name = name_text(column.name)
        tests = [f"WHEN {name} < {edge} THEN '{level}'" for edge, level in zip(edges_used, levels, strict=False)]
        last = f"WHEN {name} >= {edges_used[-1]} THEN '{levels[-1]}'"
        return Factor(piece.words, f"CASE {' '.join([*tests, last])} END", levels)


def _number(tree: exp.Expr) -> int | float | None:
    sign, tree = (-1, tree.this) if isinstance(tree, exp.Neg) else (1, tree)
    if not isinstance(tree, exp.Literal) or tree.is_string:
        return None
    text = str(tree.this)
    try:
        return sign * (int(text) if text.isdigit() else float(text))
    except ValueError:
        return None


def _thinned(column: Column, cuts: Sequence[int | float], most: int) -> list[int | float]:
    """Cuts inside the domain, so far apart that each is worth a band: those of the policy may be nearer."""
    if column.low is None or column.high is None:
        return []
    apart, kept = (column.high - column.low) / most, [column.low]
    for cut in sorted(cuts):
        if cut - kept[-1] >= apart and column.high - cut >= apart / 2:
            kept.append(cut)
    return kept[1:]


def _band_names(column: Column, edges: Sequence[int | float]) -> tuple[str, ...]:
    """As a person writes them: `under 30`, `30-39`, `70 and over`."""
    ends = [edge - 1 if column.type == "integer" else edge for edge in edges[1:]]
    link = "-" if column.type == "integer" else " to under "
    between = [f"{low:g}" if low == high else f"{low:g}{link}{high:g}" for low, high in zip(edges, ends, strict=False)]
    return (f"under {edges[0]:g}", *between, f"{edges[-1]:g} and over")


def _check_factors(
    factors: Sequence[Factor],
    terms: Sequence[tuple[int, ...]],
    strata: Sequence[int],
    outcome: exp.Expr,
    question: ModelQuestion,
) -> None:
    """Nothing twice, and what is explained does not explain."""
    formula = question.formula
    if len(factors) > MOST_FACTORS:
        raise refused(f"there are {len(factors)} factors; use at most {MOST_FACTORS}.", formula)
    names = [factor.name for factor in factors]
    repeated = len(names) != len(set(names)) or any(len(set(term)) < len(term) for term in terms)
    if repeated or len({frozenset(term) for term in terms}) < len(terms) or len(set(strata)) < len(strata):
        raise refused("something is named twice.", formula, remedy="Name each term once.")
    if set(strata) & set(itertools.chain(*terms)):
        raise refused("the compared factor cannot also be a stratum.", formula)
    used = {column.name.lower() for column in outcome.find_all(exp.Column)}
    for factor in factors:
        inside = {column.name.lower() for column in parse(f"SELECT ({factor.sql})").find_all(exp.Column)}
        if inside & used:
            raise refused("the outcome cannot explain itself.", formula, remedy="Remove it after the ~.")
    unknown = sorted(set(question.reference) - set(names))
    if unknown:
        raise refused(
            "reference: this is not a factor in the formula.", formula, remedy=f"Factors: {', '.join(names)}."
        )


def _numbers_apart(terms: list[Piece], catalog: Catalog, question: ModelQuestion) -> tuple[list[Piece], list[Column]]:
    """Terms of linear models that are numeric columns, which are no keys; and the other terms."""
    others, found = [], []
    for term in terms:
        columns = [_plain(read_expression(part, question.formula), catalog) for part in split(term, TokenType.COLON)]
        numeric = [column for column in columns if column is not None and column.type in ("integer", "number")]
        if not numeric:
            others.append(term)
        elif len(columns) > 1:
            remedy = f"Write bands({name_text(numeric[0].name)}) in it."
            raise refused("an interaction cannot contain a numeric column.", question.formula, term, remedy=remedy)
        else:
            found += numeric
    return others, found


def _check_covariates(covariates: Sequence[Column], outcome: exp.Expr, question: ModelQuestion) -> None:
    used = {column.name.lower() for column in outcome.find_all(exp.Column)}
    if any(column.name.lower() in used for column in covariates):
        raise refused("the outcome cannot explain itself.", question.formula, remedy="Remove it after the ~.")
    if len(set(covariates)) < len(covariates) or len(covariates) > MOST_NUMBERS:
        raise refused(f"use each numeric column once, and at most {MOST_NUMBERS} of them.", question.formula)


def _moments(outcome: str, covariates: Sequence[Column]) -> list[str]:
    """How many records know all numbers; their means; their variances and covariances, row by row."""
    names = [outcome, *(name_text(column.name) for column in covariates)]
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    made = [f"COUNT(*) FILTER (WHERE {known}) AS records"]
    made += [f"AVG({name}) FILTER (WHERE {known}) AS mean_{place}" for place, name in enumerate(names)]
    for a, one in enumerate(names):
        for b, other in list(enumerate(names))[a:]:
            moment = f"VAR_POP({one})" if a == b else f"COVAR_POP({one}, {other})"
            made.append(f"{moment} FILTER (WHERE {known}) AS covariance_{a}_{b}")
    return made


# -- aggregates --------------------------------------------------------------------------------------------------


def _aggregates(
    question: ModelQuestion, outcome: exp.Expr, catalog: Catalog
) -> tuple[Counts, list[str], tuple[Column | None, Column | None]]:
    column, text = _plain(outcome, catalog), _text(outcome, catalog)
    numeric = column is not None and column.type in ("integer", "number")
    if question.exposure and question.family != "poisson":
        raise refused("exposure: only Poisson models accept it.", question.formula)
    if question.family == "linear":
        asked = {"SUM": "total", "COUNT": "records", "VAR_POP": "variance", "AVG": "mean"}
        return "sums", [f"{function}({text}) AS {name}" for function, name in asked.items()], (column, None)
    if question.family == "poisson" and (numeric or question.exposure):
        return _poisson_sums(question, text, column if numeric else None, catalog)
    if numeric:
        remedy = f"Write a condition, as in {name_text(column.name)} >= 30 ~ sex." if column else ""
        raise refused("the outcome of this family must be true or false.", question.formula, remedy=remedy)
    tests = {"events": text, "others": f"NOT {text}", "records": f"{text} OR NOT {text}"}
    counted = [f"COUNT(*) FILTER (WHERE {test}) AS {name}" for name, test in tests.items()]
    return "shares", counted, (None, None)


def _poisson_sums(
    question: ModelQuestion, text: str, column: Column | None, catalog: Catalog
) -> tuple[Counts, list[str], tuple[Column | None, Column | None]]:
    if column is not None and (column.low is None or column.low < 0):
        raise refused(f"{column.name} may be negative, and counts cannot be.", question.formula)
    known = f"{text} IS NOT NULL" if column is not None else f"({text} OR NOT {text})"
    if not question.exposure:
        return "sums", [f"SUM({text}) AS events", f"COUNT({text}) AS records"], (column, None)
    time = catalog.column(question.exposure)
    if time is None or time.type not in ("integer", "number") or time.low is None or time.low < 0:
        raise refused("exposure: must be a numeric column without negative values.", question.formula)
    name = name_text(time.name)
    events = f"SUM({text})" if column is not None else "COUNT(*)"
    test = f"{name} IS NOT NULL" if column is not None else f"{text} AND {name} IS NOT NULL"
    made = [f"{events} FILTER (WHERE {test}) AS events", f"SUM({name}) FILTER (WHERE {known}) AS exposure"]
    return "sums", made, (column, time)


def _text(outcome: exp.Expr, catalog: Catalog) -> str:
    column = _plain(outcome, catalog)
    return name_text(column.name) if column is not None else f"({worded(outcome)})"


def _plain(tree: exp.Expr, catalog: Catalog) -> Column | None:
    return catalog.column(tree.name) if isinstance(tree, exp.Column) else None
