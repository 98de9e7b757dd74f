"""The sides next to each other: one line for each measure, and what it comes to in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from querygate.custody.risk_report.risk_body import Disease, InstanceFigures, SideFigures, Sides, VerdictLine
from querygate.methods.risk import THRESHOLDS, Attack

NEARLY = 1e-9
"""Up to which share of each other two figures are the same."""

LIMITS = tuple(f"{round(threshold, 2):g}" for threshold in THRESHOLDS)
"""The thresholds of `querygate.methods.risk`, as rules write them."""

Reader = Callable[[SideFigures], "float | None"]


class RiskMeasure(NamedTuple):
    """How a line of the table is read from the figures of a side. Counts are better high, shares low."""

    key: str
    group: str
    label: str
    unit: str  # share, count
    read: Reader


def _of_attack(who: Literal["prosecutor", "journalist"]) -> Iterator[RiskMeasure]:
    def reader(what: Callable[[Attack], float]) -> Reader:
        def read(side: SideFigures) -> float | None:
            found = side.attackers.prosecutor if who == "prosecutor" else side.attackers.journalist
            return None if found is None else what(found)

        return read

    yield RiskMeasure(f"{who}_greatest", who, "maximum risk", "share", reader(lambda found: found.greatest))
    yield RiskMeasure(f"{who}_average", who, "average risk", "share", reader(lambda found: found.average))
    for at, limit in enumerate(LIMITS):
        read = reader(lambda found, at=at: found.above[at].share)  # type: ignore[misc]
        yield RiskMeasure(f"{who}_above_{limit}", who, f"records above {limit}", "share", read)


def _estimate(side: SideFigures) -> float | None:
    return None if side.uniqueness.population is None else side.uniqueness.population.share


def _instance(what: Callable[[InstanceFigures], float]) -> Reader:
    return lambda side: None if side.instance is None else what(side.instance)


MEASURES: tuple[RiskMeasure, ...] = (
    *_of_attack("prosecutor"),
    RiskMeasure("k", "prosecutor", "smallest class (k)", "count", lambda side: side.attackers.k),
    *_of_attack("journalist"),
    RiskMeasure("k_map", "journalist", "fewest people who match (k-map)", "count", lambda side: side.attackers.k_map),
    RiskMeasure(
        "marketer", "marketer", "records matched correctly", "share", lambda side: side.attackers.marketer.average
    ),
    RiskMeasure("alone", "alone", "alone among the records", "share", lambda side: side.uniqueness.sample),
    RiskMeasure("alone_in_population", "alone", "alone in the population (estimate)", "share", _estimate),
    RiskMeasure(
        "alone_in_register", "alone", "one person in the register", "share", lambda side: side.uniqueness.register
    ),
    RiskMeasure(
        "instance_greatest",
        "instance",
        "maximum instance risk (r)",
        "share",
        _instance(lambda found: found.greatest_instance),
    ),
    RiskMeasure(
        "instance_average",
        "instance",
        "average instance risk (R)",
        "share",
        _instance(lambda found: found.average_instance),
    ),
    RiskMeasure(
        "match_greatest",
        "instance",
        "maximum re-identification risk (q)",
        "share",
        _instance(lambda found: found.greatest_match),
    ),
    RiskMeasure(
        "match_average",
        "instance",
        "average re-identification risk (Q)",
        "share",
        _instance(lambda found: found.average_match),
    ),
)


def verdict(sides: Sides) -> tuple[VerdictLine, ...]:
    """Every measure that at least one side has."""
    all_sides = sides.all if sides.limited is None else (*sides.all, sides.limited)
    lines = [_line(one.key, one.group, one.label, one.unit, *map(one.read, all_sides)) for one in MEASURES]
    lines += [*_told(all_sides), *_known(all_sides)]
    return tuple(line for line in lines if any(figure is not None for figure in line.sides))


def _told(sides: Sequence[SideFigures]) -> Iterator[VerdictLine]:
    """Of each sensitive column: records that their class gives away, and what the classes add to a guess."""
    columns = [{line.column: line for line in side.told} for side in sides]
    for column, line in columns[0].items():
        label = "whole class the same" if line.kind == "values" else f"class within {line.width:g}"
        found = [by_name.get(column) for by_name in columns]
        shares = [None if one is None else _share(one.disclosed.records, one.records) for one in found]
        yield _line(f"told_{column}", "told", f"{column}: {label}", "share", *shares)
        gains = [None if one is None else max(0.0, one.gain) for one in found]
        what = "guesses right thanks to the class" if line.kind == "values" else "error of a guess, reduced by"
        yield _line(f"gain_{column}", "told", f"{column}: {what}", "share", *gains)


def _known(sides: Sequence[SideFigures]) -> Iterator[VerdictLine]:
    """Who is alone by codes, sequences and notes, and by these with all quasi-identifiers."""
    by_columns = [{one.columns: one for one in side.known} for side in sides]
    for columns in by_columns[-1]:
        found = [known.get(columns) for known in by_columns]
        name = columns[0] if len(columns) == 1 else "all together"
        key = name.replace(" ", "_")
        averages = [None if one is None else one.average for one in found]
        alone = [None if one is None else one.alone for one in found]
        yield _line(f"known_{key}_average", "known", f"{name}: average risk", "share", *averages)
        yield _line(f"known_{key}_alone", "known", f"{name}: alone among the records", "share", *alone)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _line(
    key: str,
    group: str,
    label: str,
    unit: str,
    raw: float | None,
    harbor: float | None,
    after: float | None,
    limited: float | None = None,
) -> VerdictLine:
    against = None
    if harbor is not None and after is not None:
        riskier = after < harbor if unit == "count" else after > harbor
        same = math.isclose(after, harbor, rel_tol=NEARLY, abs_tol=NEARLY)
        against = "same" if same else "higher" if riskier else "lower"
    return VerdictLine(key, group, label, unit, raw, harbor, after, against, limited)


# -- in words --------------------------------------------------------------------------------------------------------


def summary(sides: Sides, lines: Sequence[VerdictLine], disease: Disease | None) -> tuple[str, ...]:
    """The summary, which a review board reads first."""
    raw, harbor, after = (
        sides.raw.attackers.prosecutor,
        sides.safe_harbor.attackers.prosecutor,
        sides.after.attackers.prosecutor,
    )
    by_texts = list(sides.after.words.known)
    if not sides.after.drivers and by_texts:  # no quasi-identifiers
        return (*by_texts, _against(lines))
    words = [
        f"Somebody known to be in the data is found with a probability of {_percent(after.average)} on average and "
        f"at most {_percent(after.greatest)}; in the raw records it would be {_percent(raw.average)} and "
        f"{_percent(raw.greatest)}, under Safe Harbor {_percent(harbor.average)} and "
        f"{_percent(harbor.greatest)}.",
        _limits(after),
        *by_texts[-1:],
        _against(lines),
    ]
    instance = sides.after.instance
    if disease is not None and instance is not None:
        words.append(
            "Here being in the file is itself the disclosure, and classes of many records do not prevent it: a "
            "matching person of the population is in the file with a probability of at most "
            f"{_percent(instance.greatest_instance)}, and {_percent(instance.average_instance)} on average."
        )
    return tuple(words)


def _limits(found: Attack) -> str:
    kept = [limit for limit, one in zip(LIMITS, found.above, strict=True) if one.records == 0]
    over = [
        f"{_percent(one.share)} of the records are above {limit}"
        for limit, one in zip(LIMITS, found.above, strict=True)
        if one.records
    ]
    if not over:
        return f"Nobody is found with a probability above {LIMITS[0]}, the strictest threshold in use."
    none = f"Nobody is found with a probability above {kept[0]}" if kept else "Some exceed every threshold in use"
    return f"{none}; {' and '.join(over)}."


def _against(lines: Sequence[VerdictLine]) -> str:
    """How the release compares with Safe Harbor on the measures that both have."""
    both = [line for line in lines if line.risk_against_safe_harbor is not None]
    worse = [line for line in both if line.risk_against_safe_harbor == "higher"]
    if not worse:
        return f"The release is not riskier than Safe Harbor on any of the {len(both)} measures, on the same records."
    named = ", ".join(f"{GROUPS[line.group]}: {line.label}" for line in worse[:3])
    more = f" and {len(worse) - 3} more" if len(worse) > 3 else ""
    return f"The release is riskier than Safe Harbor on {len(worse)} of {len(both)} measures: {named}{more}."


GROUPS = {
    "prosecutor": "prosecutor",
    "journalist": "journalist",
    "marketer": "marketer",
    "alone": "uniqueness",
    "instance": "being in the file",
    "told": "what a class reveals",
    "known": "codes, sequences and notes",
}
"""Groups of measures, as they are called in words."""


def _percent(share: float) -> str:
    """A share that is never rounded to nothing.

    >>> _percent(0.25), _percent(0.0004), _percent(1.0)
    ('25.0 %', '0.04 %', '100.0 %')
    """
    return f"{100 * share:.1f} %" if share >= 0.001 or share == 0 else f"{100 * share:.2g} %"
