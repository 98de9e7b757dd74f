"""The report on a version of views: short, from the figures measured while publishing and the written file. For the
custodian alone.

What was joined depends on sensitive values, so nobody else sees it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from querygate.core.count_text import counted
from querygate.core.json_body import JsonValue, to_json
from querygate.core.progress import Progress, no_progress
from querygate.custody.pages.fill import data_uris, fill
from querygate.custody.publish.view_summary import ViewFigures
from querygate.custody.publish_report.advice import of_lost
from querygate.custody.publish_report.charts import can_draw, draw
from querygate.custody.publish_report.earlier_versions import versions
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.publish_report.report_fields import Advice, EarlierVersions
from querygate.custody.publish_report.usable_figures import UsableFigures, usable_figures
from querygate.custody.publish_report.view_chart import risk_and_utility
from querygate.custody.publish_report.view_worth import ViewWorth, view_worth

FORMAT = 2
"""A report on views; 1 is on classes over all quasi-identifiers."""

TEMPLATE = "view_report.html"


@dataclass(frozen=True, slots=True)
class ViewHeadline:
    rows: int
    persons: int
    classes: int
    cells: int
    k: int
    k_asked: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewReport:
    """Fields are the keys of report.json, in their order."""

    format: int
    dataset: str
    version: int
    title: str
    published: str
    policy_hash: str
    policy: Mapping[str, JsonValue]
    warnings: tuple[Advice, ...]
    headline: ViewHeadline
    views: ViewFigures
    worth: ViewWorth
    usable: UsableFigures
    versions: EarlierVersions | None


def make_view_report(case: ReportCase, figures: ViewFigures, progress: Progress = no_progress) -> ViewReport:
    published, worth = case.published, view_worth(case, figures.risk, progress)
    usable = usable_figures(case, progress)
    return ViewReport(
        format=FORMAT,
        dataset=case.catalog.dataset,
        version=case.catalog.version,
        title=case.catalog.title,
        published=case.catalog.published,
        policy_hash=case.catalog.policy_hash,
        policy=json.loads(case.policy.canonical()),
        warnings=(*_warnings(case, figures), *of_lost(usable), *_better_as_classes(worth)),
        headline=ViewHeadline(
            published.rows,
            published.persons,
            published.classes,
            published.cells,
            published.measured.k,
            case.policy.k,
            round(published.seconds, 2),
        ),
        views=figures,
        worth=worth,
        usable=usable,
        versions=None if published.versions is None else versions(published.versions),
    )


def make_view_files(
    case: ReportCase, figures: ViewFigures, *, full: bool, progress: Progress = no_progress
) -> dict[str, bytes]:
    """report.json and, if it is to be full, report.html with its picture."""
    body = make_view_report(case, figures, progress)
    files = {"report.json": json.dumps(to_json(body), indent=2, ensure_ascii=False, allow_nan=False).encode()}
    if full:
        progress("drawing the charts of the report")
        figure = risk_and_utility(body.worth.ways) if can_draw() else None
        drawn = {} if figure is None else {"risk_and_utility": draw(figure)}
        files |= {f"{name}.png": png for name, png in drawn.items()}
        files["report.html"] = fill(TEMPLATE, report=body, images=data_uris(drawn), can_draw=can_draw()).encode()
    return files


def _warnings(case: ReportCase, figures: ViewFigures) -> Iterator[Advice]:
    for text in case.published.warnings:
        yield Advice(text, "")
    for margin in figures.margins:
        if margin.classes == figures.frame_cells and not margin.sensitive and len(margin.quasi) > 1:
            yield Advice(
                f"The view over {', '.join(margin.quasi)} has one class in each of {counted(margin.classes, 'cell')} "
                "of the frame, so it reveals little.",
                "Use fewer columns in it, or lower k.",
            )


def _better_as_classes(worth: ViewWorth) -> Iterator[Advice]:
    own = worth.ways[0].printed
    for way in worth.ways[1:]:
        if way.name == "classes" and own is not None and way.printed is not None and way.printed > own:
            yield Advice(
                f"With classes instead of views, {way.printed:.0%} of counts, prevalences and means could be "
                f"printed, with these views {own:.0%}.",
                "Put columns that researchers ask about together into one view, or publish classes: remove [views].",
            )
