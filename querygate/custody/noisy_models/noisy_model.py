"""A noisy model from its request to the released files: price, draw, and files made only from the drawn answer.

plan     columns with public bounds, and the price, before a row is read
draw     one row of each person, the family fitted by the library within the bounds
answer   the result in ordinary units, with its explanations; JSON, for the ledger
files    model.json, model.csv and the report, only from the answer in the ledger
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from querygate.core.answer_forms.spreadsheet_cells import escape
from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.extracts.noisy_question import NoisyFamily, NoisyQuestion, parts_of
from querygate.custody.noisy_models import library_models
from querygate.custody.noisy_models.guarded_library import caveat, guarded, open_library
from querygate.custody.noisy_models.public_design import PublicColumn, public_columns
from querygate.custody.pages.fill import fill
from querygate.custody.policy import Policy
from querygate.methods.dp import Entropy

TEMPLATE = "noisy_model.html"
MOST_CELLS = 20_000

FAMILIES: Mapping[NoisyFamily, str] = {
    "linear": "linear regression, functional mechanism",
    "logistic": "logistic regression, objective perturbation",
    "bayes": "Gaussian naive Bayes, noisy counts and moments",
    "pca": "principal components, noisy mean and covariance",
    "kmeans": "k-means, noisy counts and sums in each iteration",
    "histogram": "histogram over public cells, geometric noise",
}


@dataclass(frozen=True)
class NoisyModelPlan:
    """What is fitted, within which public bounds, at what price."""

    asked: NoisyQuestion
    response: PublicColumn | None
    columns: tuple[PublicColumn, ...]
    parts: int
    epsilon: float

    @classmethod
    def of(cls, spec: ExtractSpec, policy: Policy) -> NoisyModelPlan:
        """Made from the request and the policy alone; ExtractRefused if a bound is not public."""
        asked = NoisyQuestion.of(spec.noisy)
        columns = public_columns(policy, asked.columns)
        response = public_columns(policy, (asked.response,))[0] if asked.response else None
        parts = parts_of(spec, asked)
        if asked.family == "histogram":
            _check_cells(columns, parts)
        return cls(asked, response, columns, parts, float(spec.epsilon or 0.0))

    @property
    def method(self) -> str:
        return FAMILIES[self.asked.family]

    def draw(self, table: pa.Table, entropy: Entropy) -> dict[str, Any]:
        """The answer, from one row of each person; the rows affect it only through noisy figures."""
        library = open_library()
        with guarded():
            found = _finite(self._fit(table, library, entropy))
        if found["account"] > self.epsilon * (1 + 1e-9):
            raise ExtractRefused(
                "QG605", "The library spent more than the price.", "Nothing was released. Report this fault."
            )
        return {
            "family": self.asked.family,
            "method": self.method,
            "formula": f"{self.asked.response or ''} ~ {' + '.join(self.asked.columns)}".strip(),
            "epsilon": self.epsilon,
            **found,
            "bounds": [asdict(column) for column in (*((self.response,) if self.response else ()), *self.columns)],
            "notes": list(self._notes(found)),
        }

    def _fit(self, table: pa.Table, library: Any, entropy: Entropy) -> dict[str, Any]:
        response, columns, parts, epsilon = self.response, self.columns, self.parts, self.epsilon
        if response is not None:
            fit = {
                "linear": library_models.fit_linear,
                "logistic": library_models.fit_logistic,
                "bayes": library_models.fit_bayes,
            }[str(self.asked.family)]
            return fit(table, response, columns, epsilon, library)
        if self.asked.family == "pca":
            return library_models.fit_pca(table, columns, parts, epsilon, library, entropy)
        fit_parts = library_models.fit_kmeans if self.asked.family == "kmeans" else library_models.fit_histogram
        return fit_parts(table, columns, parts, epsilon, library)

    def _notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        yield caveat()
        yield (
            f"Epsilon {self.epsilon:g} protects one person: with or without any one person's record, each outcome is "
            f"at most exp({self.epsilon:g}) times as likely."
        )
        if self.asked.family == "histogram":
            yield "Values outside of a domain count in its outermost bin; missing and undeclared values have a cell."
        else:
            yield (
                "Numbers were clamped to their public domains. Records with a missing or undeclared value in one of "
                "these columns were left out. If a person has several rows, one of them counts."
            )
        if found.get("stable") is False:
            yield "The noise outweighs the data, and coefficients are not usable: use fewer columns or more epsilon."


def model_files(answer: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, bytes]:
    """The files, made only from the drawn answer and the request."""
    body = {**facts, "model": dict(answer)}
    lines = list(model_lines(answer))
    return {
        "model.json": json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False).encode(),
        "model.csv": _csv(lines),
        "report.html": fill(TEMPLATE, facts=facts, model=answer, lines=lines).encode(),
    }


def model_lines(answer: Mapping[str, Any]) -> Iterator[tuple[str, str, float | None]]:
    """Every number of an answer as (subject, name, number)."""
    for key in ("intercept",):
        if key in answer:
            yield "model", key, answer[key]
    for term, value in answer.get("coefficients", {}).items():
        yield "model", term, value
    for one in answer.get("models", ()):
        yield one["value"], "intercept", one["intercept"]
        yield from ((one["value"], term, value) for term, value in one["coefficients"].items())
    for one in answer.get("classes", ()):
        yield one["value"], "share", one["share"]
        for what in ("mean", "sd"):
            yield from ((one["value"], f"{what} of {term}", value) for term, value in one[what].items())
    yield from (("centre", name, value) for name, value in answer.get("centre", {}).items())
    for at, one in enumerate(answer.get("components", ()), 1):
        yield f"component {at}", "share of variance", one["share"]
        yield from ((f"component {at}", name, value) for name, value in one["direction"].items())
    for at, one in enumerate(answer.get("centres", ()), 1):
        yield from ((f"cluster {at}", name, value) for name, value in one.items())
    for one in answer.get("cells", ()):
        yield ", ".join(f"{name} {value}" for name, value in one.items() if name != "count"), "count", one["count"]


def _finite(found: Any) -> Any:
    """For JSON: a number that noise has made infinite becomes None."""
    if isinstance(found, dict):
        return {key: _finite(value) for key, value in found.items()}
    if isinstance(found, list):
        return [_finite(value) for value in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found


def _csv(lines: list[tuple[str, str, float | None]]) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["of", "what", "number"])
    for of, what, number in lines:
        writer.writerow([escape(of), escape(what), "" if number is None else repr(number)])
    return stream.getvalue().encode()


def _check_cells(columns: tuple[PublicColumn, ...], parts: int) -> None:
    cells = 1
    for column in columns:
        cells *= (parts if column.is_number else len(column.values)) + 1
    if cells > MOST_CELLS:
        raise ExtractRefused(
            "QG605",
            f"The histogram has {cells:,} cells, more than {MOST_CELLS:,}.",
            "Use fewer columns or fewer parts.",
        )
