"""Beside this version: earlier versions, and what changed since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from querygate.core.json_body import JsonValue, to_json
from querygate.custody.publish.republication_guard import Republication
from querygate.custody.publish_report.kept_report import KeptReport
from querygate.custody.publish_report.report_fields import (
    Changes,
    EarlierVersions,
    FigureChange,
    KeyChange,
    OverlapWith,
    PublishReport,
)


def versions(found: Republication) -> EarlierVersions:
    """How the version relates to earlier readable ones."""
    pairs = [
        OverlapWith(version, pair.smallest, pair.divided, pair.left, pair.came, pair.changed)
        for version, pair in found.by_version.items()
    ]
    return EarlierVersions(found.by_person, found.sticky, found.retired, found.together, tuple(pairs), found.certified)


def changes(before: KeptReport, report: PublishReport) -> Changes:
    """What has changed since the report on the previous version."""
    now = cast(KeptReport, to_json(report))
    then_figures, now_figures = dict(_figures(before)), dict(_figures(now))
    then_keys, now_keys = dict(_leaves(before["policy"])), dict(_leaves(now["policy"]))
    return Changes(
        version=before["version"],
        figures=tuple(
            FigureChange(figure, then_figures.get(figure), now_figures.get(figure))
            for figure in then_figures | now_figures
        ),
        policy=tuple(
            KeyChange(key, then_keys.get(key), now_keys.get(key))
            for key in sorted(then_keys.keys() | now_keys.keys())
            if then_keys.get(key) != now_keys.get(key)
        ),
    )


def _figures(body: KeptReport) -> Iterator[tuple[str, float]]:
    for name in ("rows", "classes", "cells", "k", "ncp"):
        yield name, body["headline"][name]
    for width in body["widths"]:
        yield f"mean width of {width['column']}", width["mean"]
    for answer in body["statistics"]:
        if answer["width"] is not None:
            yield f"range of {answer['statistic']}", answer["width"]


def _leaves(meaning: JsonValue, path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """The keys of a policy, each by its whole path."""
    if isinstance(meaning, dict):
        for key, value in meaning.items():
            yield from _leaves(value, f"{path}.{key}" if path else key)
    else:
        yield path, meaning
