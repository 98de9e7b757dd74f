"""A report.json that was kept, as it is read again."""

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
    views: NotRequired[dict[str, JsonValue]]  # of a version of views, which has none of the following
    risk: KeptRisk
    widths: list[KeptWidth]
    statistics: list[KeptStatistic]


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
