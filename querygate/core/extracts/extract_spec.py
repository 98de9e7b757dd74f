"""A request for an extract, as it travels from the one who asks to those who decide and to the builder.

>>> wish = ExtractSpec.of({
...     "dataset": "trial", "purpose": "Does age matter?", "kind": "condensed", "k": 20,
...     "models": ["cox: Surv(time, status) ~ age + sex"],
... })
>>> wish.models[0].family, wish.models[0].formula
('cox', 'Surv(time, status) ~ age + sex')
>>> ExtractSpec.of(wish.to_dict()) == wish
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, cast, get_args

from querygate.core.errors import ExtractRefused

Kind = Literal[
    "k-anonymous", "condensed", "release", "same-disease", "limited", "randomised", "noisy-model", "dp-synthetic"
]
Family = Literal["cox", "linear", "logistic"]
Format = Literal["csv", "parquet", "arrow", "stata"]
Times = Literal["drawn", "kept"]

LONGEST_TEXT = 4000
LARGEST_K = 100_000
_POLICY_SAYS = ("method", "suppress", "suppress_cells", "tolerances")
_NOT_WITH: Mapping[str, tuple[str, ...]] = {
    "release": ("k", *_POLICY_SAYS),
    "same-disease": _POLICY_SAYS,
    "limited": ("k", *_POLICY_SAYS),
    "randomised": ("k", "suppress", "suppress_cells", "tolerances"),
    "noisy-model": ("k", *_POLICY_SAYS, "columns", "models"),
    "dp-synthetic": ("k", *_POLICY_SAYS, "models"),
}
"""Keys that do not go with a kind, because the policy says how its records are protected."""

METHODS: Mapping[str, tuple[str, ...]] = {
    "k-anonymous": (
        *("auto", "mondrian", "mondrian-relaxed", "snake", "snake-polished", "univariate", "boxes", "top-down"),
        *("bottom-up", "top-down-greedy", "r-tree", "gather", "mondrian-target", "boxes-by-point"),
        *("full-domain", "full-subtree", "local"),
    ),
    "condensed": ("improved", "condensation", "tfrp", "mdav", "r-microhybrid", "microperturbation"),
    "randomised": ("randomised-response", "distortion", "small-domain", "pram", "rank-swap"),
}
"""By kind: a request is read where the methods themselves are not."""

A_KIND: Mapping[str, str] = {"release": "a release", "same-disease": "a same-disease file"}
"""What records are called that are looked up in the policy's population."""

NOISY: Mapping[str, str] = {"noisy-model": "a noisy model", "dp-synthetic": "a noisy synthetic table"}
"""What is paid for from the privacy budget: none of it is a record of anybody."""

NO_K: Mapping[str, str] = {
    **A_KIND,
    "limited": "a limited data set",
    "randomised": "randomised records",
    **NOISY,
}
"""What records are called whose protection the policy alone decides."""


@dataclass(frozen=True, slots=True)
class RecipientModel:
    """A model the recipient will fit, in the formula language of R: `cox: Surv(time, status) ~ age + sex`."""

    family: Family
    formula: str

    @classmethod
    def of(cls, text: str) -> RecipientModel:
        family, _, formula = (part.strip() for part in text.partition(":"))
        if family not in get_args(Family) or "~" not in formula:
            raise invalid(
                "models", "must name a family and a formula, as in 'linear: sbp ~ age + sex'", *get_args(Family)
            )
        return cls(cast(Family, family), formula)

    def __str__(self) -> str:
        return f"{self.family}: {self.formula}"


@dataclass(frozen=True, slots=True)
class ExtractSpec:
    """What is asked for: which records and columns, how they are to be protected, and what they must still tell.

    `method` and `k` are found by the builder where they are not given; a same-disease file has a k if one is asked for.
    `tolerances` bound what a model may lose (`significance`, `sign`, `outside`: shares of coefficients) and how wide a
    range may be (`mean(age)` ...).
    `suppress` is the share of records that may be left out, `suppress_cells` that of cells that may be replaced by `*`
    to keep records that would be left out.
    `times` says whether condensed records have survival times that are drawn like other numbers, or the patients' own,
    by rank (the published method).
    `noisy` is the model of a noisy model (core/extracts/noisy_question.py), `parts` its components, clusters or bins,
    and `epsilon` what it, or a noisy synthetic table, may cost of the privacy budget.
    """

    dataset: str
    purpose: str
    kind: Kind = "k-anonymous"
    columns: tuple[str, ...] = ()  # none: every column the policy lets out
    where: str = ""
    method: str = ""
    k: int | None = None
    suppress: float = 0.0
    suppress_cells: float = 0.0
    models: tuple[RecipientModel, ...] = ()
    tolerances: tuple[tuple[str, float], ...] = ()
    formats: tuple[Format, ...] = ("csv", "parquet")
    times: Times = "drawn"
    noisy: str = ""
    parts: int | None = None
    epsilon: float | None = None

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> ExtractSpec:
        """From a request's JSON or TOML; ExtractRefused QG604 names the key that is wrong."""
        known = {field.name for field in fields(cls)}
        for key in body:
            if key not in known:
                raise invalid(str(key)[:60], "is not a known key", *sorted(known))
        found = cls(**{key: _READERS[key](key, value) for key, value in body.items()}, **_missing(body))
        for key in _NOT_WITH.get(found.kind, ()):
            if getattr(found, key):
                kind = NO_K[found.kind]
                raise invalid(key, f"cannot be set for {kind}, because the policy says how its records are protected")
        if found.method and found.method not in METHODS[found.kind]:
            raise invalid("method", f"is not a method for {found.kind} extracts", *METHODS[found.kind])
        if found.times == "kept" and not found._may_keep_times:
            raise invalid("times", "can be kept only in improved condensed records whose first model is a Cox model")
        found._check_noise()
        return replace(found, tolerances=tuple(sorted(found.tolerances)))

    def _check_noise(self) -> None:
        """What costs privacy budget says how much, and nothing else does."""
        if self.kind not in NOISY:
            for key in ("noisy", "parts", "epsilon"):
                if getattr(self, key):
                    raise invalid(key, "applies to noisy models and noisy synthetic tables alone")
            return
        if self.epsilon is None:
            raise invalid("epsilon", f"is missing; {NOISY[self.kind]} is paid for from the privacy budget")
        if (self.kind == "noisy-model") != bool(self.noisy):
            raise invalid("noisy", "does not apply to noisy synthetic tables" if self.noisy else "is missing")

    @property
    def _may_keep_times(self) -> bool:
        is_cox = bool(self.models) and self.models[0].family == "cox"
        return self.kind == "condensed" and self.method in ("", "improved") and is_cox

    def to_dict(self) -> dict[str, Any]:
        """As `of` reads it. Times that are drawn go without saying, as in requests from before there was a choice."""
        body = asdict(self)
        if self.times == "drawn":
            del body["times"]
        for key in ("noisy", "parts", "epsilon"):
            if not body[key]:
                del body[key]
        return {**body, "models": [str(model) for model in self.models], "tolerances": dict(self.tolerances)} | {
            name: list(body[name]) for name in ("columns", "formats")
        }


def invalid(key: str, wanted: str, *accepted: str) -> ExtractRefused:
    """The refusal of a request whose key is wrong."""
    choice = f" Accepted: {', '.join(accepted)}." if accepted else ""
    return ExtractRefused("QG604", f"{key}: {wanted}.", f"Correct {key} in the request.{choice}")


def _missing(body: Mapping[str, Any]) -> dict[str, Any]:
    for key in ("dataset", "purpose"):
        if not body.get(key):
            raise invalid(key, "is missing")
    return {}


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or "\0" in value:
        raise invalid(key, f"must be text of at most {LONGEST_TEXT:,} characters")
    return value.strip()


def _texts(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or len(value) > 1000:
        raise invalid(key, "must be a list of strings")
    found = tuple(_text(key, one) for one in value)
    if len(set(found)) < len(found) or not all(found):
        raise invalid(key, "must list distinct strings, none of them empty")
    return found


def _choice(*accepted: str) -> Any:
    def read(key: str, value: Any) -> str:
        if value not in accepted:
            raise invalid(key, "is not an accepted value", *accepted)
        return str(value)

    return read


def _formats(key: str, value: Any) -> tuple[str, ...]:
    return tuple(_choice(*get_args(Format))(key, one) for one in _texts(key, value))


def _k(key: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value <= LARGEST_K:
        raise invalid(key, f"must be a whole number from 2 to {LARGEST_K:,}")
    return value


def _parts(key: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
        raise invalid(key, "must be a whole number from 1 to 1,000")
    return value


def _epsilon(key: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.001 <= value <= 100:
        raise invalid(key, "must be a number from 0.001 to 100")
    return float(value)


def _share(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise invalid(key, "must be a number from 0 to below 1")
    return float(value)


def _tolerances(key: str, value: Any) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping) or len(value) > 100:
        raise invalid(key, "must be a table of names and numbers")
    found = []
    for name, number in value.items():
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < float("inf"):
            raise invalid(key, "must have no negative numbers")
        found.append((_text(key, name), float(number)))
    return tuple(sorted(found))


_READERS: dict[str, Any] = {
    "dataset": _text,
    "purpose": _text,
    "kind": _choice(*get_args(Kind)),
    "columns": _texts,
    "where": _text,
    "method": _text,
    "k": _k,
    "suppress": _share,
    "suppress_cells": _share,
    "models": lambda key, value: tuple(RecipientModel.of(text) for text in _texts(key, value)),
    "tolerances": _tolerances,
    "formats": _formats,
    "times": _choice(*get_args(Times)),
    "noisy": _text,
    "parts": _parts,
    "epsilon": _epsilon,
}
