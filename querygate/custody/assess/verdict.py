"""Raw, Safe Harbor and the release side by side: one line for each measure, and what it comes to in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Figures = Mapping[str, Any]
SIDES = ("raw", "safe_harbor", "after")

NEARLY = 1e-9
"""Up to which share of each other two figures are the same."""


class RiskMeasure(NamedTuple):
    """How a line of the table is read from the figures of a side. Counts are better high, shares low."""

    key: str
    group: str
    label: str
    unit: str  # share, count
    read: Callable[[Figures], float | None]


def _attack(who: str, what: str) -> Callable[[Figures], float | None]:
    return lambda side: None if side["attackers"][who] is None else side["attackers"][who][what]


def _above(who: str, at: int) -> Callable[[Figures], float | None]:
    return lambda side: None if side["attackers"][who] is None else side["attackers"][who]["above"][at]["share"]


def _estimate(side: Figures) -> float | None:
    estimate = side["uniqueness"]["population"]
    return None if estimate is None else estimate["share"]


def _instance(what: str) -> Callable[[Figures], float | None]:
    return lambda side: None if side["instance"] is None else side["instance"][what]


LIMITS = ("0.05", "0.09", "0.2", "0.33")
"""The thresholds of `querygate.methods.risk`, as rules write them."""

MEASURES: tuple[RiskMeasure, ...] = (
    RiskMeasure("prosecutor_greatest", "prosecutor", "greatest risk", "share", _attack("prosecutor", "greatest")),
    RiskMeasure("prosecutor_average", "prosecutor", "average risk", "share", _attack("prosecutor", "average")),
    *(
        RiskMeasure(
            f"prosecutor_above_{limit}", "prosecutor", f"records above {limit}", "share", _above("prosecutor", at)
        )
        for at, limit in enumerate(LIMITS)
    ),
    RiskMeasure("k", "prosecutor", "smallest class (k)", "count", lambda side: side["attackers"]["k"]),
    RiskMeasure("journalist_greatest", "journalist", "greatest risk", "share", _attack("journalist", "greatest")),
    RiskMeasure("journalist_average", "journalist", "average risk", "share", _attack("journalist", "average")),
    *(
        RiskMeasure(
            f"journalist_above_{limit}", "journalist", f"records above {limit}", "share", _above("journalist", at)
        )
        for at, limit in enumerate(LIMITS)
    ),
    RiskMeasure("k_map", "journalist", "fewest people who match (k-map)", "count", lambda s: s["attackers"]["k_map"]),
    RiskMeasure("marketer", "marketer", "records matched rightly", "share", _attack("marketer", "average")),
    RiskMeasure("alone", "alone", "alone among the records", "share", lambda side: side["uniqueness"]["sample"]),
    RiskMeasure("alone_in_population", "alone", "alone in the population (estimate)", "share", _estimate),
    RiskMeasure(
        "alone_in_register", "alone", "one person of the register", "share", lambda s: s["uniqueness"]["register"]
    ),
    RiskMeasure("instance_greatest", "instance", "greatest instance risk (r)", "share", _instance("greatest_instance")),
    RiskMeasure("instance_average", "instance", "average instance risk (R)", "share", _instance("average_instance")),
    RiskMeasure(
        "match_greatest", "instance", "greatest re-identification risk (q)", "share", _instance("greatest_match")
    ),
    RiskMeasure("match_average", "instance", "average re-identification risk (Q)", "share", _instance("average_match")),
)


def verdict(sides: Mapping[str, Figures]) -> list[dict[str, Any]]:
    """Every measure that at least one side has."""
    lines = [
        _line(one.key, one.group, one.label, one.unit, [one.read(sides[name]) for name in SIDES]) for one in MEASURES
    ]
    return [line for line in [*lines, *_told(sides)] if any(line[name] is not None for name in SIDES)]


def _told(sides: Mapping[str, Figures]) -> Iterator[dict[str, Any]]:
    """Of each sensitive column: records that their class gives away, and what the classes add to a guess."""
    columns = {name: {line["column"]: line for line in sides[name]["told"]} for name in SIDES}
    for column, line in columns["raw"].items():
        told = "same" if line["kind"] == "values" else "narrow"
        label = "all of the class the same" if told == "same" else f"class within {line['width']:g}"
        found = [columns[name].get(column) for name in SIDES]
        shares = [None if one is None else _share(one[told]["records"], one["records"]) for one in found]
        yield _line(f"told_{column}", "told", f"{column}: {label}", "share", shares)
        gains = [None if one is None else max(0.0, one["gain"]) for one in found]
        what = "guesses right thanks to the class" if told == "same" else "error of a guess, shortened by"
        yield _line(f"gain_{column}", "told", f"{column}: {what}", "share", gains)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _line(key: str, group: str, label: str, unit: str, found: Sequence[float | None]) -> dict[str, Any]:
    raw, harbor, after = found
    against = None
    if harbor is not None and after is not None:
        riskier = after < harbor if unit == "count" else after > harbor
        same = math.isclose(after, harbor, rel_tol=NEARLY, abs_tol=NEARLY)
        against = "same" if same else "higher" if riskier else "lower"
    line = {"measure": key, "group": group, "label": label, "unit": unit}
    return {**line, "raw": raw, "safe_harbor": harbor, "after": after, "risk_against_safe_harbor": against}


# -- in words --------------------------------------------------------------------------------------------------------


def summary(body: Mapping[str, Any]) -> list[str]:
    """What a board reads first."""
    sides, lines = body["sides"], body["verdict"]
    after, harbor = sides["after"]["attackers"]["prosecutor"], sides["safe_harbor"]["attackers"]["prosecutor"]
    raw = sides["raw"]["attackers"]["prosecutor"]
    words = [
        f"Somebody known to be in the data is found with a chance of {_percent(after['average'])} on average and "
        f"{_percent(after['greatest'])} at most; in the raw records it would be {_percent(raw['average'])} and "
        f"{_percent(raw['greatest'])}, under Safe Harbor {_percent(harbor['average'])} and "
        f"{_percent(harbor['greatest'])}.",
        _limits(after["above"]),
        _against(lines),
    ]
    instance = sides["after"]["instance"]
    if body["disease"] is not None and instance is not None:
        words.append(
            "Being in the file is the disclosure here, which classes of many records do not prevent: somebody of the "
            f"population who matches is in it with a chance of {_percent(instance['greatest_instance'])} at most and "
            f"{_percent(instance['average_instance'])} on average."
        )
    return words


def _limits(above: Sequence[Mapping[str, Any]]) -> str:
    passed = [limit for limit, one in zip(LIMITS, above, strict=True) if one["records"] == 0]
    over = [
        f"{_percent(one['share'])} above {limit}" for limit, one in zip(LIMITS, above, strict=True) if one["records"]
    ]
    if not over:
        return f"No record is above any of the thresholds {', '.join(LIMITS)}."
    kept = f"No record is above {', '.join(passed)}" if passed else "No threshold is kept by all records"
    return f"{kept}; of the records, {', '.join(over)}."


def _against(lines: Sequence[Mapping[str, Any]]) -> str:
    """How the release stands to Safe Harbor on the measures that both have."""
    both = [line for line in lines if line["risk_against_safe_harbor"] is not None]
    worse = [line for line in both if line["risk_against_safe_harbor"] == "higher"]
    if not worse:
        return f"On none of the {len(both)} measures is the release riskier than Safe Harbor on the same records."
    named = ", ".join(f"{GROUPS[line['group']]}: {line['label']}" for line in worse[:3])
    more = f" and {len(worse) - 3} more" if len(worse) > 3 else ""
    return f"On {len(worse)} of {len(both)} measures the release is riskier than Safe Harbor: {named}{more}."


GROUPS = {
    "prosecutor": "prosecutor",
    "journalist": "journalist",
    "marketer": "marketer",
    "alone": "uniqueness",
    "instance": "being in the file",
    "told": "what a class gives away",
}
"""Groups of measures, as they are called in words."""


def _percent(share: float) -> str:
    """A share that is never rounded to nothing.

    >>> _percent(0.25), _percent(0.0004), _percent(1.0)
    ('25.0 %', '0.04 %', '100.0 %')
    """
    return f"{100 * share:.1f} %" if share >= 0.001 or share == 0 else f"{100 * share:.2g} %"
