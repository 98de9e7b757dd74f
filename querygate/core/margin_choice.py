"""Which margins of a version published as views can answer the aggregates of a statement.

An aggregate needs its sensitive columns linked, so its margins are those of a unit that has all of them; without
sensitive columns it needs only counts. Among these, views that have all its quasi-identifiers are used, or all views if
none has. This depends only on the statement and the catalog: a refusal here does not depend on data.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Sequence
from dataclasses import replace

from querygate.core.errors import UnsupportedSQL
from querygate.core.frozen_classes import frozen
from querygate.core.plan import Plan
from querygate.core.types import Catalog


@frozen
class MarginChoice:
    """Aggregates of a plan that are answered from the same margins, by their places in it and in the catalog.

    `plan` is the plan with no other aggregates, and no measure that none of them needs but the first, and `columns` are
    those of the plan. `around` are margins that have fewer of them, and may still tell more narrowly how many records
    there are: the counts, of which sensitive ones are a part, and the other views of the unit.
    """

    plan: Plan
    columns: frozenset[str]
    places: tuple[int, ...]
    margins: tuple[int, ...]
    around: tuple[int, ...] = ()


class _Latest(threading.local):
    """What this thread chose last: a statement is checked, read and estimated, and asks for its margins each time."""

    plan: Plan | None = None
    catalog: Catalog | None = None
    chosen: tuple[MarginChoice, ...] = ()


_LATEST = _Latest()


def choose_margins(plan: Plan, catalog: Catalog) -> tuple[MarginChoice, ...]:
    """The margins of all aggregates, those that count the groups first. Refuses columns that are not linked."""
    if plan.inner is not None:
        return choose_margins(plan.inner, catalog)
    if _LATEST.plan is not plan or _LATEST.catalog is not catalog:
        chosen = _choose(plan, catalog)
        _LATEST.plan, _LATEST.catalog, _LATEST.chosen = plan, catalog, chosen
    return _LATEST.chosen


def _choose(plan: Plan, catalog: Catalog) -> tuple[MarginChoice, ...]:
    alone: list[tuple[int, ...]] = [(), *((place,) for place in range(len(plan.aggregates)))]
    quasi = frozenset[str]().union(*(margin.quasi for margin in catalog.margins))
    parts = [plan.columns_of(plan.measures[i] for i in _used(plan, places)) for places in alone]
    margins = [_margins_of(names, names - quasi, catalog) for names in parts]
    if not all(margins):
        raise _not_linked([names - quasi for names, told in zip(parts, margins, strict=True) if not told], catalog)
    found: dict[tuple[int, ...], list[int]] = {margins[0]: []}
    for place, told in enumerate(margins[1:]):
        found.setdefault(told, []).append(place)
    return tuple(
        _choice(part_of(plan, places), quasi, tuple(places), margins, catalog) for margins, places in found.items()
    )


def check_linked(plan: Plan, catalog: Catalog) -> None:
    """Refuse a statement that no margins can answer, before anything is read."""
    if catalog.margins:
        for branch in plan.branches:
            choose_margins(branch, catalog)


def part_of(plan: Plan, places: Sequence[int]) -> Plan:
    """The plan with these aggregates alone, and the first measure, which counts each group."""
    kept = [plan.aggregates[place] for place in places]
    used = _used(plan, places)
    if len(used) == len(plan.measures) and list(places) == list(range(len(plan.aggregates))):
        return plan
    at = {measure: place for place, measure in enumerate(used)}
    aggregates = tuple(
        replace(
            aggregate,
            measure=at[aggregate.measure],
            may_vanish=None if aggregate.may_vanish is None else at[aggregate.may_vanish],
            sides=tuple(at[side] for side in aggregate.sides),
        )
        for aggregate in kept
    )
    return replace(plan, measures=tuple(plan.measures[measure] for measure in used), aggregates=aggregates)


def _used(plan: Plan, places: Sequence[int]) -> list[int]:
    """The measures that some aggregates need, by their places in the plan, and the first."""
    return sorted({0}.union(*(plan.aggregates[place].measures for place in places)))


def _choice(
    part: Plan, quasi: frozenset[str], places: tuple[int, ...], chosen: tuple[int, ...], catalog: Catalog
) -> MarginChoice:
    unit, names = catalog.margins[chosen[0]].sensitive, part.columns
    if not unit:
        return MarginChoice(part, names, places, chosen)
    asked = names & quasi
    counts = [i for i, margin in enumerate(catalog.margins) if not margin.sensitive]
    whole = [i for i in counts if asked <= catalog.margins[i].columns]
    others = [i for i, margin in enumerate(catalog.margins) if margin.sensitive == unit and i not in chosen]
    return MarginChoice(part, names, places, chosen, tuple(sorted([*(whole or counts), *others])))


def _margins_of(names: frozenset[str], sensitive: frozenset[str], catalog: Catalog) -> tuple[int, ...]:
    """Margins that tell of columns, by their places in the catalog; none where no unit has all sensitive ones."""
    linked = [i for i, margin in enumerate(catalog.margins) if sensitive.issubset(margin.sensitive)]
    if not sensitive:  # classes of counts are never coarser than those of a unit
        linked = [i for i in linked if not catalog.margins[i].sensitive]
    whole = [i for i in linked if names <= catalog.margins[i].columns]
    return tuple(whole or linked)


def _not_linked(apart: Sequence[frozenset[str]], catalog: Catalog) -> UnsupportedSQL:
    """The refusal of aggregates that need these columns together, each by itself."""
    alone = [name for names in apart if len(names) == 1 for name in names]
    if alone:
        return UnsupportedSQL("QG217", f"No view covers {alone[0]}.", "Use other columns.")
    held = [set(names) for names in catalog.linked]
    needed = _joined([*map(set, apart), *held])
    wanted = [_in_order(names, catalog) for names in needed if names not in held]
    asked = [_in_order(names, catalog) for names in _joined([*map(set, apart)])]
    replaced = [_in_order(names, catalog) for names in held if names not in needed]
    instead = f", in place of {json.dumps(replaced, ensure_ascii=False)[1:-1]}" if replaced else ""
    return UnsupportedSQL(
        "QG217",
        f"This dataset is published as views, and none of them covers {'; or '.join(map(_listed, asked))} together.",
        "Use one of these columns at a time. To let you use them together, the custodian can link them: linked = "
        f"{json.dumps(wanted, ensure_ascii=False)}{instead}.",
    )


def _joined(groups: Sequence[set[str]]) -> list[set[str]]:
    """Groups that have a column in common as one: a column is linked in one group only."""
    found: list[set[str]] = []
    for group in groups:
        touching = [one for one in found if one & group]
        found = [one for one in found if not one & group] + [group.union(*touching)]
    return found


def _in_order(names: Collection[str], catalog: Catalog) -> list[str]:
    return [column.name for column in catalog.columns if column.name in names]


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
