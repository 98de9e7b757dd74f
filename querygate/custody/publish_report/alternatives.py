"""Beside this version: other methods, other ways of telling a number, earlier versions, and what changed since."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from querygate.custody.policy import Policy
from querygate.custody.publish_report.report_case import ReportCase


def methods(case: ReportCase) -> list[dict[str, Any]]:
    """What was tried, the published one first."""
    return [asdict(tried) for tried in case.published.comparison]


def numbers(case: ReportCase) -> list[dict[str, Any]]:
    """Widths and leaks of each sensitive number as it is told, and widths as it could be."""
    return [asdict(number) for number in case.published.numbers]


def codes(case: ReportCase) -> list[dict[str, Any]]:
    """What became of the codes of each list."""
    return [asdict(one) for one in case.published.codes]


def versions(case: ReportCase) -> dict[str, Any] | None:
    """How the version goes with earlier ones that can be read; None where there are none."""
    if case.published.versions is None:
        return None
    found = asdict(case.published.versions)
    by_version = found.pop("by_version")
    return {**found, "by_version": [{"version": version, **pair} for version, pair in by_version.items()]}


def policy_of(policy: Policy) -> dict[str, Any]:
    meaning: dict[str, Any] = json.loads(policy.canonical())
    return meaning


def changes(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is different since the report on the version before; None where there is none."""
    if before is None:
        return None
    figures = [
        {"figure": figure, "before": then, "now": dict(_figures(now)).get(figure)} for figure, then in _figures(before)
    ]
    named = {line["figure"] for line in figures}
    figures += [{"figure": f, "before": None, "now": value} for f, value in _figures(now) if f not in named]
    keys = [dict(_leaves(body["policy"])) for body in (before, now)]
    differ = sorted(key for key in keys[0].keys() | keys[1].keys() if keys[0].get(key) != keys[1].get(key))
    return {
        "version": before["version"],
        "figures": figures,
        "policy": [{"key": key, "before": keys[0].get(key), "now": keys[1].get(key)} for key in differ],
    }


def _figures(body: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name in ("rows", "classes", "cells", "k", "ncp"):
        yield name, body["headline"][name]
    for line in body["widths"]:
        yield f"mean width of {line['column']}", line["mean"]
    for line in body["statistics"]:
        if line["width"] is not None:
            yield f"range of {line['statistic']}", line["width"]


def _leaves(meaning: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The keys of a policy, each by its whole path."""
    if isinstance(meaning, dict):
        for key, value in meaning.items():
            yield from _leaves(value, f"{path}.{key}" if path else key)
    else:
        yield path, meaning
