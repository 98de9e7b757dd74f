"""The table [views]: which views a dataset is published as; by default they follow from the schema alone.

    mode = "auto"       two views that share the frame column and the first category, and divide the other
                        quasi-identifiers between them in the order of the file (one view where there are three or
                        fewer), and further ones of two categories each that neither has together
    mode = "spanning"   the views listed in `spanning`
    mode = "none"       classes over all quasi-identifiers, as without the table

No value of the data is involved. Requirements that views cannot keep are refused here, by key.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice, pairwise
from typing import Any

from querygate.core.errors import ConfigError
from querygate.core.types import DISCRETE
from querygate.custody.policy.column_policy import ColumnPolicy, Number
from querygate.custody.policy.interval_edges import exact, grid_edges, round_step
from querygate.custody.policy.moment_rules import has_moments
from querygate.custody.policy.policy_types import ViewRules
from querygate.custody.policy.toml_reader import VALUES, Bound, TomlTable, listed, read_value

ONE_VIEW = 3
"""Up to so many quasi-identifiers are all in one view: two views of two each would answer fewer questions (on the demo
survey 14 % of figures are usable in place of 24 %), since no view has both categories.
"""

TOGETHER = 2
"""At most this many views are certified together; others are inserted after them."""

MOST_CROSSING = 3
"""By default this many pairs of categories have a view of their own: each makes publication slower."""

FRAME_CELLS = 10
"""The default number of cells of a frame column. With more cells there are fewer people in each, and less is
published."""

FEW_VALUES = 12
"""A number with at most this many public cells is really a category (a sex of 1 or 2): views show each cell."""

FINEST, LARGEST = 12, 36
"""A unit is at most 2^-11 of the guard, unless the domain would have more than 2^36 of those."""

EXACT = 2**53
"""Whole numbers up to this are exact as doubles."""

BESIDE = (
    "is refused: anyone who combines classes over all quasi-identifiers with views can work out complete records of "
    "single people"
)
PLAIN = "nothing: remove the line"


def read_views(top: TomlTable, columns: Sequence[ColumnPolicy]) -> ViewRules | None:
    """The views, or None for classes over all quasi-identifiers."""
    if "views" not in top:
        return None
    table = top.table("views")
    if not table.is_table:
        return None
    if table.raw.get("mode") == "beside":
        table.fail("mode", BESIDE, "auto or spanning, in place of classes; or none")
        return None
    mode = table.choice("mode", "spanning" if "spanning" in table else "auto")
    for key in table.raw:
        if (mode == "none" and key != "mode") or (mode == "auto" and key == "spanning"):
            table.fail(key, f"does not apply to mode {mode}", PLAIN)
    if mode in (None, "none"):
        return None
    _check_policy(top, columns)
    return _Reader(table, columns).read(mode == "auto")


class _Reader:
    """The table and the columns that it names."""

    def __init__(self, table: TomlTable, columns: Sequence[ColumnPolicy]) -> None:
        self.table = table
        self.quasi = {column.name: column for column in columns if column.role in ("quasi-identifier", "public")}
        self.sensitive = {column.name: column for column in columns if column.role == "sensitive"}

    def read(self, by_schema: bool) -> ViewRules:
        prefer = self._prefer()
        frame = self._frame(dict(prefer))
        by_default = spanning_views(list(self.quasi.values()), frame[0][0] if frame else "")
        spanning = by_default if by_schema else self._spanning()
        extra = self._groups("extra", self.quasi, "lists of quasi-identifiers, views that are inserted in this order")
        if by_schema and "extra" not in self.table:
            extra = crossing_views(list(self.quasi.values()), by_default)
        if spanning is not None and extra is not None:
            self._check_all_told((*spanning, *extra))
        return ViewRules(
            spanning or (),
            frame,
            extra or (),
            prefer,
            self._linked(),
            int(self.table.number("values", Bound(least=2, whole=True)) or 2),
            int(self.table.number("sum_cell", Bound(least=1, whole=True)) or 3),
            self.table.word("on_uncertified", "coarsen"),
        )

    def _spanning(self) -> tuple[tuple[str, ...], ...] | None:
        accepted = "one or two lists of quasi-identifiers"
        views = self._groups("spanning", self.quasi, accepted)
        if views is not None and not 1 <= len(views) <= TOGETHER:
            what = f"has {len(views)} lists" if views else "is empty" if "spanning" in self.table else "is missing"
            self.table.fail("spanning", what, f"{accepted}; more of them go to extra" if views else accepted)
            return None
        return views

    def _check_all_told(self, views: Iterable[tuple[str, ...]]) -> None:
        left_out = set(self.quasi) - {name for view in views for name in view}
        if left_out:
            what = f"leaves out {listed(sorted(left_out))}"
            self.table.fail("spanning", what, "every quasi-identifier in some list of spanning or of extra")

    def _frame(self, prefer: dict[str, tuple[Number, ...]]) -> tuple[tuple[str, tuple[Number, ...]], ...]:
        if "frame" not in self.table:
            names = usual_frame(list(self.quasi.values()))
        else:
            names = self._names("frame", self.table.raw["frame"], self.quasi, "a list of quasi-identifiers") or ()
        for name in names:
            if self.quasi[name].hierarchy is not None:
                what = f"names {name}, whose hierarchy says which values stay together"
                self.table.fail("frame", what, "columns without a hierarchy")
        return tuple((name, frame_cuts(self.quasi[name], prefer.get(name, ()))) for name in names)

    def _prefer(self) -> tuple[tuple[str, tuple[Number, ...]], ...]:
        found = {column.name: _wanted_cuts(column) for column in self.quasi.values() if _wanted_cuts(column)}
        raw = self.table.raw.get("prefer", {})
        ordered = [column.name for column in self.quasi.values() if column.is_numeric]
        if not isinstance(raw, dict):
            self.table.fail("prefer", "must be a table", "cuts by quasi-identifier, such as { age = [40, 65] }")
            return ()
        for name, cuts in raw.items():
            if name not in ordered:
                accepted = listed(ordered) or "nothing (no quasi-identifier is a number)"
                self.table.fail("prefer", f"{name} is not a quasi-identifier that is a number", accepted)
            elif (good := _cuts(self.quasi[name], cuts)) is None:
                kind = VALUES[str(self.quasi[name].type)]
                self.table.fail(
                    "prefer", f"the cuts of {name} are not accepted", f"increasing {kind} inside the domain"
                )
            else:
                found[name] = good
        return tuple((name, found[name]) for name in self.quasi if found.get(name))

    def _linked(self) -> tuple[tuple[str, ...], ...]:
        accepted = "lists of two or more sensitive columns, each column in one of them at most"
        groups = self._groups("linked", self.sensitive, accepted, least=2) or ()
        twice = [name for name, times in Counter(name for group in groups for name in group).items() if times > 1]
        if twice:
            self.table.fail("linked", f"has {listed(twice)} in several groups, which would link all of these", accepted)
        return groups

    def _groups(
        self, key: str, known: dict[str, ColumnPolicy], accepted: str, *, least: int = 1
    ) -> tuple[tuple[str, ...], ...] | None:
        """Lists of columns; None if something is wrong, which is reported once."""
        raw = self.table.raw.get(key, [])
        if not isinstance(raw, list) or not all(isinstance(group, list) for group in raw):
            more = f", such as [{json.dumps(raw)}]" if _is_flat(raw, known) else ""
            self.table.fail(key, "is not a list of lists", accepted + more)
            return None
        found = [self._names(key, group, known, accepted, least) for group in raw]
        groups = tuple(group for group in found if group is not None)
        if len(groups) < len(found):
            return None
        if len(set(map(frozenset, groups))) < len(groups):
            self.table.fail(key, "names the same columns twice", accepted)
            return None
        return groups

    def _names(
        self, key: str, raw: Any, known: dict[str, ColumnPolicy], accepted: str, least: int = 0
    ) -> tuple[str, ...] | None:
        if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw) or len(raw) < least:
            self.table.fail(key, "is not a list of that form", accepted)
            return None
        strange = [name for name in raw if name not in known]
        if strange or len(set(raw)) < len(raw):
            kind = "quasi-identifier" if known is self.quasi else "sensitive column"
            what = f"names {listed(strange)}, but that is not a {kind}" if strange else "names a column twice"
            self.table.fail(key, what, f"distinct names from {listed(known)}")
            return None
        return tuple(raw)


def _is_flat(raw: object, known: Collection[str]) -> bool:
    """Is this a list of columns instead of a list of such lists?"""
    return isinstance(raw, list) and bool(raw) and all(isinstance(name, str) and name in known for name in raw)


def not_of_views(what: str, instead: str) -> ConfigError:
    """Refuse features that read classes over all quasi-identifiers, and would be wrong for views."""
    return ConfigError("QG804", f"{what} cannot be made of a dataset that is published as views yet.", instead)


# -- by the schema -------------------------------------------------------------------------------------------------


def usual_frame(quasi: Sequence[ColumnPolicy]) -> tuple[str, ...]:
    """The first ordered quasi-identifier with cuts, or with more than a few values; otherwise no frame."""
    ordered = [column for column in quasi if column.is_numeric and column.role == "quasi-identifier"]
    ordered.sort(key=lambda column: (not column.cuts, has_few_values(column)))
    found = ordered[0] if ordered else None
    return (found.name,) if found is not None else ()


def spanning_views(quasi: Sequence[ColumnPolicy], frame: str) -> tuple[tuple[str, ...], ...]:
    """Two views that share the frame column and the first category, and divide the rest; or one.

    >>> from querygate.custody.policy import ColumnPolicy
    >>> age = ColumnPolicy("age", "quasi-identifier", "integer")
    >>> others = [ColumnPolicy(name, "quasi-identifier", "category") for name in ("sex", "race", "education")]
    >>> spanning_views([age, *others], "age")
    (('age', 'sex', 'race'), ('age', 'sex', 'education'))
    """
    first = next((column.name for column in quasi if column.name != frame and has_few_values(column)), "")
    shared = [name for name in (frame, first) if name]
    rest = [column.name for column in quasi if column.name not in shared]
    if len(quasi) <= ONE_VIEW:
        return ((*shared, *rest),)
    half = (len(rest) + 1) // 2
    return (*shared, *rest[:half]), (*shared, *rest[half:])


def crossing_views(quasi: Sequence[ColumnPolicy], spanning: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Further views of two categories each that no spanning view has together; the first few pairs of the file.

    >>> from querygate.custody.policy import ColumnPolicy
    >>> columns = [ColumnPolicy(name, "quasi-identifier", "category") for name in ("sex", "race", "education")]
    >>> crossing_views(columns, [("age", "sex", "race"), ("age", "sex", "education")])
    (('race', 'education'),)
    """
    names = [column.name for column in quasi if has_few_values(column)]
    pairs = (pair for pair in combinations(names, 2) if not any(set(pair) <= set(view) for view in spanning))
    return tuple(islice(pairs, MOST_CROSSING))


def has_few_values(column: ColumnPolicy) -> bool:
    """Whether it is asked about value by value: a category, or a number with few public cells."""
    if not column.is_numeric:
        return True
    return (column.grid is not None or bool(column.edges)) and len(grid_edges(column)) <= FEW_VALUES + 1


def frame_cuts(column: ColumnPolicy, prefer: tuple[Number, ...]) -> tuple[Number, ...]:
    """The cuts of the column, or the preferred ones, or round numbers on its grid; about ten cells.

    >>> from querygate.custody.policy import ColumnPolicy
    >>> frame_cuts(ColumnPolicy("age", "quasi-identifier", "integer", low=0, high=90, grid=2), ())
    (10, 20, 30, 40, 50, 60, 70, 80)
    """
    if not column.is_numeric or column.low is None or column.high is None:
        return ()
    cuts = column.cuts or prefer
    if not cuts:
        step = round_step(column.low, column.high, whole=column.type in DISCRETE, parts=FRAME_CELLS)
        edges = grid_edges(column if column.grid or column.edges else replace(column, grid=step))[1:-1]
        cuts = tuple(edge for edge in edges if not exact(edge) % exact(step)) or tuple(edges)
    every = -(-len(cuts) // (FRAME_CELLS + 1)) or 1
    return tuple(cuts[every - 1 :: every])


def value_unit(column: ColumnPolicy) -> Number:
    """The unit in which values of a sensitive number are counted, so that sums are whole numbers: a power of two.

    It follows from domain and guard alone. Dividing by it is exact, and so is rounding down.

    >>> from querygate.custody.policy import ColumnPolicy
    >>> value_unit(ColumnPolicy("sbp", "sensitive", "integer", low=40, high=300, guard=10))
    1
    >>> value_unit(ColumnPolicy("bmi", "sensitive", "number", low=10.0, high=80.0, guard=2.0))
    0.0009765625
    """
    reach = max(abs(column.low or 0), abs(column.high or 0), 1)
    coarsest = math.frexp(reach)[1] - LARGEST
    if column.type in DISCRETE:
        return int(2 ** max(0, coarsest))
    return math.ldexp(1.0, max(math.frexp(column.guard or 1)[1] - FINEST, coarsest))


def _wanted_cuts(column: ColumnPolicy) -> tuple[Number, ...]:
    """The cuts of the column, or all edges of a number with few values."""
    if column.cuts or not column.is_numeric or not has_few_values(column):
        return column.cuts
    return tuple(grid_edges(column)[1:-1])


def _cuts(column: ColumnPolicy, raw: object) -> tuple[Number, ...] | None:
    """Increasing values inside the domain, or None."""
    if not isinstance(raw, list) or column.low is None or column.high is None:
        return None
    values = [read_value(str(column.type), item) for item in raw]
    good = [value for value in values if value is not None and column.low < value < column.high]
    rising = all(a < b for a, b in pairwise(good))
    return tuple(good) if len(good) == len(values) and rising else None


# -- what views cannot keep ----------------------------------------------------------------------------------------


def _check_policy(top: TomlTable, columns: Sequence[ColumnPolicy]) -> None:
    """Report every key of the file that requires something views cannot keep."""
    for path, what, accepted in _conflicts(top, columns):
        top.problems.add(path, f"{what}, and the dataset is published as views", accepted)


def _conflicts(top: TomlTable, columns: Sequence[ColumnPolicy]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    anonymise = top.raw.get("anonymise", {})
    usual = {"method": "auto", "edges": "grid", "class_moments": "none", "search": "guarded", "largest_k": False}
    for key, value in anonymise.items() if isinstance(anonymise, dict) else ():
        if value != usual.get(key, []) and value:
            more = "; sums are published in cells of views.sum_cell guards" if key == "class_moments" else ""
            yield ("anonymise", key), "is about classes over all quasi-identifiers", PLAIN + more
    if not any(column.role == "quasi-identifier" for column in columns):
        yield ("views",), "has no quasi-identifier, so views can publish nothing", "nothing: remove the table"
    if "k_map" in top:
        what = "counts people of a population in boxes of all quasi-identifiers, and views have boxes of a few"
        yield ("k_map",), what, "nothing: remove the table"
    republish = top.raw.get("republish", {})
    if isinstance(republish, dict) and republish.get("on_overlap") in ("sticky", "extend"):
        yield ("republish", "on_overlap"), "keeps classes of earlier versions together", "refuse or retire"
    if isinstance(republish, dict) and republish.get("few_changes") == "report":
        yield ("republish", "few_changes"), "lets differences about fewer than k people be seen", "refuse"
    grouped = {column.of_codes.column for column in columns if column.of_codes is not None}
    for column in columns:
        if column.role == "codes" and column.name not in grouped:
            what = "views publish groups of codes, and views.codes has none for this list"
            yield ("columns", column.name, "role"), what, "withheld, or a table of groups in views.codes"
        for key in ("protect", "method", "utility") if column.role == "codes" else ():
            if key in top.raw["columns"][column.name]:
                yield ("columns", column.name, key), "is about codes that are published as items", PLAIN
        for key, what, accepted in _column_conflicts(column):
            yield ("columns", column.name, key), what, accepted


def _column_conflicts(column: ColumnPolicy) -> Iterator[tuple[str, str, str]]:
    if column.role == "public" and column.is_numeric and (column.low is None or column.high is None):
        yield "domain", "is missing: views that do not have the column allow all of its domain", "[low, high]"
    if column.role == "sensitive" and column.is_numeric and column.carry not in (None, "bins"):
        yield "carry", f"{column.carry} gives all members of a class one interval of their own", "bins"
    if has_moments(column) and column.guard is not None and column.low is not None and column.high is not None:
        if column.type == "integer" and max(-column.low, column.high) > EXACT:
            yield "domain", "has values whose sums are not exact", "whole numbers of up to 53 bits, or a larger unit"
        elif column.guard == 0:
            yield "guard", "0 turns the guard off, and views round sums to steps of the guard", "a number above 0"
        elif value_unit(column) > column.guard:
            yield "guard", "is too narrow for sums over so wide a domain", f"at least {value_unit(column)}"
