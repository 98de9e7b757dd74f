"""The report on a published version: fields are the keys of report.json, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from querygate.core.json_body import JsonValue
from querygate.custody.code_lists.code_items import CodeReport
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.number_widths import NumberReport
from querygate.custody.publish.republication_guard import Overlap
from querygate.custody.publish_report.column_widths import ColumnWidth
from querygate.custody.publish_report.crossed_cuts import CrossedCuts
from querygate.custody.publish_report.example_answers import CountAnswer, StatisticAnswer
from querygate.custody.publish_report.headline import ClassSizes, Guarantee, Headline
from querygate.custody.publish_report.k_sweep import Sweep
from querygate.custody.publish_report.knowledge import KnowledgeRisk
from querygate.custody.publish_report.usable_figures import UsableFigures
from querygate.custody.publish_report.version_risk import CloseNumbers, Outliers, Risk, SharedValues


@dataclass(frozen=True, slots=True)
class Advice:
    text: str
    advice: str


@dataclass(frozen=True, slots=True)
class OverlapWith:
    """What the new version reveals together with an earlier one."""

    version: int
    smallest: int
    divided: int
    left: int
    came: int
    changed: int


@dataclass(frozen=True, slots=True)
class EarlierVersions:
    by_person: bool
    sticky: bool
    retired: tuple[int, ...]
    together: Overlap
    by_version: tuple[OverlapWith, ...]
    certified: tuple[int, ...] = ()  # of views: versions that it was certified with


@dataclass(frozen=True, slots=True)
class FigureChange:
    figure: str
    before: float | None
    now: float | None


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key of the policy by its whole path."""

    key: str
    before: JsonValue
    now: JsonValue


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different since the report on an earlier version."""

    version: int
    figures: tuple[FigureChange, ...]
    policy: tuple[KeyChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishReport:
    format: int
    dataset: str
    version: int
    title: str
    published: str
    policy_hash: str
    policy: Mapping[str, JsonValue]
    warnings: tuple[Advice, ...] = ()
    headline: Headline
    guarantees: tuple[Guarantee, ...]
    risk: Risk
    disclosure: tuple[SharedValues | CloseNumbers, ...]
    knowledge: tuple[KnowledgeRisk, ...] = ()
    outliers: Outliers
    class_sizes: ClassSizes
    widths: tuple[ColumnWidth, ...]
    statistics: tuple[StatisticAnswer, ...]
    counts: tuple[CountAnswer, ...]
    numbers: tuple[NumberReport, ...]
    codes: tuple[CodeReport, ...]
    methods: tuple[Trial, ...]  # the published one first
    versions: EarlierVersions | None  # None where there are none that can be read
    sweep: Sweep
    crossed_cuts: CrossedCuts
    usable: UsableFigures
    changes: Changes | None = None
