"""The JSON shapes of answers, verdicts and budgets, as every front door gives them out and the log keeps them."""

from __future__ import annotations

from typing import Any, NotRequired, TypeAlias, TypedDict

from querygate.core.types import Role, Type

Row: TypeAlias = dict[str, Any]
"""One group, by column: a key, a RangeBody or a NoisyBody as the column's kind says; `_group` is a GroupBody."""


class DatasetBody(TypedDict):
    dataset: str
    title: str
    version: int
    rows: int | None  # None where every answer is noisy
    k: int
    published: str


class PublishedColumnBody(TypedDict):
    """Numbers have a public domain, others public values.

    `cuts` are where conditions on a number may begin (>=) or end (<) with nobody in doubt, `policy_cuts` those that the
    policy names, whether all of them are so or not. `exact_values` are never
    published in a set with others; `decided` is the share of the records whose value is published by itself.
    """

    name: str
    title: str
    role: Role
    type: Type
    nullable: bool | None  # None where every answer is noisy
    domain: NotRequired[list[int | float | str] | None]
    values: NotRequired[list[str]]
    groups: NotRequired[dict[str, list[str]]]  # the codes of each group of a list that is told, by its column
    cuts: NotRequired[list[int | float | str]]
    policy_cuts: NotRequired[list[int | float | str]]
    exact_values: NotRequired[list[str]]
    decided: NotRequired[float]


class TogetherBody(TypedDict):
    columns: list[str]
    decided: float


class ReferenceBody(TypedDict):
    name: str
    key: str
    rows: int
    columns: list[dict[str, str]]
    on: list[str]
    hash: str


class DescriptionBody(DatasetBody):
    unit: str
    modes: list[str]
    columns: list[PublishedColumnBody]
    tables: list[ReferenceBody]
    policy: list[str]
    examples: list[str]
    views: NotRequired[list[list[str]]]
    linked: NotRequired[list[list[str]]]
    together: NotRequired[list[TogetherBody]]


class ColumnBody(TypedDict):
    name: str
    kind: str
    type: str


class RangeBody(TypedDict):
    low: int | float | str | None
    high: int | float | str | None
    attained_low: int | float | str | None
    attained_high: int | float | str | None
    sharp: bool
    may_be_null: bool
    estimate: NotRequired[int | float | str | None]  # inside the range and not guaranteed; old answers have none
    estimate_note: NotRequired[str]  # why there is none


class NoisyBody(TypedDict):
    value: int | float
    noise: str
    scale: float | None
    interval95: list[int | float] | None
    epsilon: float


class CountBody(TypedDict):
    low: int
    high: int


class GroupBody(TypedDict):
    certain: bool
    count: CountBody
    rolled_up: NotRequired[list[str]]  # keys over all of whose values the row is; with several grouping sets only
    first: NotRequired[bool]  # with LIMIT: is it certainly among the first?


class LimitBody(TypedDict):
    first: int
    last: int | None
    certain: int
    possible: int
    note: str


class SpentBody(TypedDict):
    spent: float
    left: float


class ReadableBody(TypedDict):
    headings: list[str]
    rows: list[list[str]]
    explanation: NotRequired[list[str]]


class CauseBody(TypedDict):
    """What a part of a statement adds to a width. `part`: low, high, values, key or condition as they stand at `at`;
    ranges for how the values of a column are published; rest for what has no single place."""

    column: str
    at: str
    part: str
    width: int | float | str
    share: float | None  # None of an infinite width


class WidthBody(TypedDict):
    """A column of ranges: its width, on average over the rows, and causes that add up to it."""

    name: str
    width: int | float | str
    causes: list[CauseBody]


class PublishedRangeBody(TypedDict):
    range: str
    records: int


class StraddleBody(TypedDict):
    """The published ranges or sets that a part of a statement cuts through, and how many records they hold."""

    column: str
    at: str
    part: str
    records: int
    ranges: int
    largest: list[PublishedRangeBody]


class SharperBody(TypedDict):
    """A question nearby with its own widths, and how many times narrower it is; None: all of it is exact."""

    sql: str
    changes: list[str]
    widths: dict[str, int | float | str]
    exact: bool
    narrower: float | None


class ExplanationBody(TypedDict):
    """Why the ranges of an answer are as wide as they are. Not complete: more could have been tried.

    `apart` are the columns of aggregates that no view has all together. `withheld` says why nothing else is told."""

    columns: list[WidthBody]
    apart: NotRequired[list[list[str]]]
    straddling: list[StraddleBody]
    suggestions: list[SharperBody]
    complete: bool
    withheld: NotRequired[str]


class AnswerBody(TypedDict):
    query_id: str
    dataset: str
    version: int
    mode: str
    columns: list[ColumnBody]
    limit: NotRequired[LimitBody]  # where more rows are shown than LIMIT asks for, or other ones may be meant
    rows: list[Row]
    budget: NotRequired[SpentBody]
    notes: list[str]
    explanation: NotRequired[ExplanationBody]
    elapsed_ms: NotRequired[float]  # of ranges: how long raw rows took is nobody's business
    readable: NotRequired[ReadableBody]


class ModelAbout(TypedDict):
    """How a model was read, and the statement whose answer it was computed from."""

    family: str
    formula: str
    where: str
    statement: str
    patterns: int
    exact: bool
    records: CountBody
    reference: dict[str, str]


class ModelBody(AnswerBody):
    """A model: a row for each coefficient or level. `query_id` is that of the answer it was computed from."""

    model: ModelAbout


class CostBody(TypedDict):
    epsilon: float
    epsilon_least: NotRequired[float]
    delta: NotRequired[float]


class Verdict(TypedDict):
    """Would a statement be accepted? Ranges have a width and a canonical hash, noisy answers a budget and accuracy."""

    accepted: bool
    mode: NotRequired[str]
    columns: list[ColumnBody]
    groups_at_most: int
    width: NotRequired[str]
    widths: NotRequired[dict[str, int | float | str]]
    sharpened_by: NotRequired[list[str]]
    views: NotRequired[list[list[str]]]
    canonical: NotRequired[str]
    cost: CostBody
    budget: NotRequired[dict[str, float]]
    accuracy: NotRequired[dict[str, float | None]]
    notes: NotRequired[list[str]]


class SpenderBody(TypedDict):
    whose: str
    name: str
    epsilon: float
    releases: int


class BudgetBody(TypedDict):
    dataset: str
    epsilon_per_query: float
    epsilon_least: float
    delta: float
    limits: dict[str, float]
    left: dict[str, float]
    spent: NotRequired[list[SpenderBody]]
