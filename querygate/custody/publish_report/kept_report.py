"""A kept report.json, read again."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from querygate.core.json_body import JsonValue


class KeptReport(TypedDict):
    """What is read of it; the other keys of a report are there too."""

    dataset: str
    version: int
    published: str
    policy: dict[str, JsonValue]
    warnings: list[KeptWarning]
    headline: dict[str, float]
    views: NotRequired[KeptViews]  # of a version of views, which has none of the following
    worth: NotRequired[KeptWorth]  # with it
    usable: NotRequired[KeptUsable]
    risk: KeptRisk
    widths: list[KeptWidth]
    statistics: list[KeptStatistic]


class KeptUsable(TypedDict):
    standing: KeptStanding | None
    widths: NotRequired[list[KeptMedian]]
    lost: NotRequired[list[str]]


class KeptStanding(TypedDict):
    share: float | None


class KeptMedian(TypedDict):
    kind: str
    column: str
    width: float | None


class KeptViews(TypedDict):
    measured_records: int
    risk: list[KeptUnit]


class KeptUnit(TypedDict):
    unit: list[str]
    records: int
    mean: float | None
    highest: float | None
    colluders: list[KeptColluders]


class KeptColluders(TypedDict):
    share: float
    telling: float
    exposed: float
    most: int


class KeptWorth(TypedDict):
    ways: list[KeptWay]


class KeptWay(TypedDict):
    name: str
    k: int
    parts: list[KeptPart]  # questions whose columns one view has together, and others
    printed: float | None


class KeptPart(TypedDict):
    shares: list[KeptShare]


class KeptShare(TypedDict):
    name: str
    share: float | None


class KeptRisk(TypedDict):
    prosecutor: KeptAttacker
    codes: NotRequired[KeptAttacker | None]


class KeptAttacker(TypedDict):
    greatest: float
    average: float


class KeptWarning(TypedDict):
    text: str
    advice: str


class KeptWidth(TypedDict):
    column: str
    mean: float


class KeptStatistic(TypedDict):
    statistic: str
    width: float | None
