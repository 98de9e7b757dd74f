"""The report on a published version, for the custodian: one JSON object, from which the page and charts are made.

Every section is a function of the same case. Figures are aggregates; only one kind of chart shows raw values, and there
is no identifier anywhere. See docs/reference/publish-report.md.
"""

from __future__ import annotations

import json
from dataclasses import replace

from querygate.core.json_body import to_json
from querygate.core.progress import Progress, no_progress
from querygate.custody.pages.fill import data_uris, fill
from querygate.custody.publish_report.advice import make_warnings
from querygate.custody.publish_report.charts import PICTURES, can_draw, draw
from querygate.custody.publish_report.column_widths import widths
from querygate.custody.publish_report.crossed_cuts import crossed_cuts
from querygate.custody.publish_report.earlier_versions import changes, versions
from querygate.custody.publish_report.example_answers import counts, statistics
from querygate.custody.publish_report.headline import class_sizes, guarantees, headline
from querygate.custody.publish_report.k_sweep import sweep
from querygate.custody.publish_report.knowledge import knowledge
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.publish_report.report_fields import PublishReport
from querygate.custody.publish_report.usable_figures import usable_figures
from querygate.custody.publish_report.version_risk import disclosure, outliers, risk
from querygate.custody.publish_report.view_report import make_view_files

FORMAT = 1
TEMPLATE = "publish_report.html"


def make_report(case: ReportCase, progress: Progress = no_progress) -> PublishReport:
    """The report. Its advice, and what changed, follow from the rest of it."""
    published = case.published
    report = PublishReport(
        format=FORMAT,
        dataset=case.catalog.dataset,
        version=case.catalog.version,
        title=case.catalog.title,
        published=case.catalog.published,
        policy_hash=case.catalog.policy_hash,
        policy=json.loads(case.policy.canonical()),
        headline=headline(case),
        guarantees=guarantees(case),
        risk=risk(case),
        disclosure=disclosure(case),
        knowledge=knowledge(case),
        outliers=outliers(case),
        class_sizes=class_sizes(case),
        widths=widths(case),
        statistics=statistics(case),
        counts=tuple(counts(case)),
        numbers=published.numbers,
        codes=published.codes,
        methods=published.comparison,
        versions=None if published.versions is None else versions(published.versions),
        sweep=sweep(case, progress),
        crossed_cuts=crossed_cuts(case, progress),
        usable=usable_figures(case, progress),
    )
    return replace(
        report,
        changes=None
        if case.before is None or "views" in case.before
        else changes(case.before, report),  # other figures
        warnings=make_warnings(report, case.policy),
    )


def make_files(case: ReportCase, *, full: bool, progress: Progress = no_progress) -> dict[str, bytes]:
    """The files of the report: report.json and, if it is to be full, report.html with its pictures."""
    if case.published.views is not None:
        return make_view_files(case, case.published.views, full=full, progress=progress)
    body = make_report(case, progress)
    files = {"report.json": json.dumps(to_json(body), indent=2, ensure_ascii=False, allow_nan=False).encode()}
    if full:
        progress("drawing the charts of the report")
        pictures = {name: make(case, body) for name, make in PICTURES.items()} if can_draw() else {}
        drawn = {name: draw(figure) for name, figure in pictures.items() if figure is not None}
        files |= {f"{name}.png": png for name, png in drawn.items()}
        files["report.html"] = fill(TEMPLATE, report=body, images=data_uris(drawn), can_draw=can_draw()).encode()
    return files
