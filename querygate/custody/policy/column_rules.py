"""The rules of one column: which keys its role and type accept, their values, and their defaults."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import cast

from querygate.core.types import DISCRETE, Role, Type
from querygate.custody.policy.calendar_grid import is_calendar_grid, read_calendar_grid
from querygate.custody.policy.code_list_rules import check_visits, read_codes
from querygate.custody.policy.column_policy import IN_EXTRACTS, PUBLISHED, Carry, ColumnPolicy, Number
from querygate.custody.policy.derived_ages import check_ages, read_age
from querygate.custody.policy.diversity_rules import check_wishes, read_diversity, read_missing
from querygate.custody.policy.durations import Duration, round_duration, show_duration
from querygate.custody.policy.hierarchy_rules import read_hierarchy
from querygate.custody.policy.interval_edges import bin_edges, exact, grid_edges, round_step
from querygate.custody.policy.moment_rules import check_carry
from querygate.custody.policy.release_rules import read_edges, read_groups
from querygate.custody.policy.source_rules import read_absent, read_censored, read_spelled, read_written
from querygate.custody.policy.text_columns import KEYS as TEXT_KEYS
from querygate.custody.policy.text_columns import read_identifier, read_texts
from querygate.custody.policy.toml_reader import SOME_TEXT, VALUES, Bound, TomlTable, listed, show_value

NUMBERS = ("integer", "number", "date", "timestamp")
TEXT_INSTEAD = "role withheld; or map it to a few categories, or give it a hierarchy, with type category"
DEFAULT_WEIGHT = {True: 2.0, False: 1.0}
"""The default weight of a quasi-identifier, by whether it is a number: most conditions in statements are about
numbers."""

PROTECTED: tuple[Role, ...] = ("quasi-identifier", "codes", "sequence")
"""Roles of columns by which nobody must be found; a policy needs at least one."""

SHOWN = ("quasi-identifier", "sensitive", "public")

APPLIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "domain": (SHOWN, NUMBERS),
    **dict.fromkeys(("from", "at"), (SHOWN, ("integer",))),
    "grid": (("quasi-identifier", "sensitive"), NUMBERS),
    "cuts": (("quasi-identifier",), NUMBERS),
    "edges": (("quasi-identifier",), NUMBERS),
    "groups": (("quasi-identifier",), ("category", "boolean")),
    "weight": (("quasi-identifier",), (*NUMBERS, "category", "boolean")),
    "carry": (("sensitive",), NUMBERS),
    "bins": (("sensitive", "sequence"), (*NUMBERS, "text")),
    "guard": (("sensitive",), NUMBERS),
    "values": ((*SHOWN, "codes"), ("category", "codes")),
    "ordered": (SHOWN, ("category",)),
    "rare": (SHOWN, ("category",)),
    "hierarchy": (("quasi-identifier", "sensitive"), ("category",)),
    **dict.fromkeys(("diversity", "missing"), (("sensitive",), ("category", "boolean", *NUMBERS))),
    **dict.fromkeys(("system", "separator", "unknown", "protect", "utility"), (("codes",), ("codes",))),
    **{key: ((role,), ("text",)) for role, keys in TEXT_KEYS.items() for key in keys if key not in ("method", "bins")},
    "method": (("codes", "sequence"), ("codes", "text")),
}
"""Roles and types that a key is for. Role, type, title and absent are for every column; spelled for
categories, censored for numbers and written for dates, of whatever role."""

POSITIVE = Bound(above=0)
WHOLE_STEP = Bound(least=1, whole=True)

FINER = 4
"""In views this many bins together are as wide as a guard, by default."""


def read_columns(top: TomlTable) -> tuple[ColumnPolicy, ...]:
    """Every column of the file, in order."""
    raw = top.raw.get("columns", {})
    if not isinstance(raw, dict):
        top.fail("columns", "must be a table", "one table [columns.NAME] per column")
        return ()
    read = [_with_reading(TomlTable(raw[name], ("columns", name), "columns.*", top.problems)) for name in raw]
    columns = tuple(_with_bins(top, column) for column in read if column is not None)
    if len(columns) == len(read) and not any(column.role in PROTECTED for column in columns):
        accepted = f"at least one column with role {', '.join(PROTECTED)} (otherwise nothing would be protected)"
        top.fail("columns", "has no quasi-identifier, codes or sequence", accepted)
    check_wishes(top, columns)
    check_visits(top, columns)
    check_ages(top, columns)
    _check_names(top, [column.name for column in columns if column.is_published or column.is_in_extracts])
    return columns


def _check_names(top: TomlTable, names: list[str]) -> None:
    counts = Counter(name.lower() for name in names)
    for name in names:
        if counts[name.lower()] > 1:
            accepted = "published names that differ by more than upper and lower case, because SQL ignores case"
            top.problems.add(("columns", name), "is published twice", accepted)


def _with_reading(table: TomlTable) -> ColumnPolicy | None:
    column = _column(table)
    if column is None:
        return None
    return replace(
        column,
        absent=read_absent(table),
        spelled=read_spelled(table, column.type),
        censored=read_censored(table, column.type),
        written=read_written(table, column.type),
    )


def _column(table: TomlTable) -> ColumnPolicy | None:
    """One column; None if its role cannot be read."""
    role = table.choice("role") if table.is_table else None
    if role is None:
        return None
    if role in IN_EXTRACTS:
        return _texts(table, ColumnPolicy(table.path[-1], cast(Role, role), cast(Type, "text"), table.text("title")))
    needs_type = role in PUBLISHED
    is_codes = role == "codes"
    kind = table.choice("type", "codes" if is_codes else None) if needs_type or "type" in table else None
    if kind is not None and (kind == "codes") != is_codes:
        what = f"cannot be combined with role {role}: code lists have both role and type codes"
        table.fail("type", what, "codes" if is_codes else "another type, or role codes")
        kind = None
    if needs_type and kind == "text":
        table.fail("type", "free text can contain anything about anybody and is never published", TEXT_INSTEAD)
        kind = None
    column = ColumnPolicy(table.path[-1], cast(Role, role), cast("Type | None", kind), table.text("title"))
    if needs_type and kind is None:
        return column  # the other keys depend on the type
    _check_applies(table, column)
    column = read_identifier(table, column)
    if not needs_type:
        return column
    if is_codes:
        return read_codes(table, column)
    column = read_age(table, _number(table, column)) if column.is_numeric else _category(table, column)
    if "diversity" in table and role == "sensitive":
        column = replace(column, diversity=read_diversity(table, column))
    if "missing" in table and role == "sensitive":
        column = read_missing(table, column)
    if role == "quasi-identifier":
        column = replace(column, weight=table.number("weight", POSITIVE) or DEFAULT_WEIGHT[column.is_numeric])
    return column


def _texts(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """A column of texts for extracts."""
    if table.raw.get("type", "text") != "text":
        table.fail("type", f"cannot be combined with role {column.role}", "text, or nothing")
    _check_applies(table, column)
    return read_identifier(table, read_texts(table, column))


def _check_applies(table: TomlTable, column: ColumnPolicy) -> None:
    for key, (roles, types) in APPLIES.items():
        if key in table and not (column.role in roles and column.type in types):
            what = f"does not apply to role {column.role}" + (f", type {column.type}" if column.type else "")
            if key == "k":
                what += " (the k of the file: write k above the first [table])"
            table.fail(key, what, f"for role {' or '.join(roles)} with type {' or '.join(types)}")


# -- categories ------------------------------------------------------------------------------------------


def _category(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    if column.type == "boolean":
        column = replace(column, values=("false", "true"))
    elif "values" in table:
        raw = table.raw["values"]
        is_list = isinstance(raw, list) and raw and all(isinstance(value, str) for value in raw)
        if not is_list or len(set(raw)) < len(raw):
            table.fail("values", "is not a list of distinct strings", "a list of at least one distinct string")
        else:
            column = replace(column, values=tuple(sorted(raw)))
    if "ordered" in table and column.type == "category":
        column = _ordered(table, column)
    if "rare" in table and column.type == "category":
        column = _rare(table, column)
    if "hierarchy" in table and column.role in ("quasi-identifier", "sensitive"):
        column = replace(column, hierarchy=read_hierarchy(table, table.problems.folder))
    return read_groups(table, column) if "groups" in table and column.role == "quasi-identifier" else column


def _ordered(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """Values in ascending order as listed. All must be listed, so there is no name for others."""
    wanted = table.raw["ordered"]
    if not isinstance(wanted, bool):
        table.fail("ordered", "is neither true nor false", "true or false")
    if wanted is not True:
        return column
    for key in ("hierarchy", "rare"):
        if key in table:
            table.fail("ordered", f"cannot be combined with {key}: all values have to be listed", "one of the two")
    if "values" not in table:
        table.fail("ordered", "needs values, which say the order", "values = [...], the least first")
    listed = table.raw.get("values")
    return replace(column, order=tuple(map(str, listed)) if isinstance(listed, list) else ())


def _rare(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The common name of rare values, which is a public value itself."""
    for key in ("hierarchy", "groups"):
        if key in table:
            table.fail(
                "rare", f"cannot be combined with {key}, which says how values are generalised", "one of the two"
            )
    name = table.text("rare", SOME_TEXT)
    return replace(column, rare=name, values=tuple(sorted({*column.values, name})) if column.values else ())


# -- numbers: each step keeps what it could read, so that one mistake does not hide the next ---------------


def _number(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    column = _domain(table, column)
    if column.role == "public":
        return column
    if "edges" in table and column.role == "quasi-identifier":
        return read_edges(table, column)
    column = read_calendar_grid(table, column) if is_calendar_grid(table, column) else _grid(table, column)
    return _cuts(table, column) if column.role == "quasi-identifier" else _sensitive(table, column)


def _domain(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    accepted = f"[low, high], two {_values(column)} with low below high"
    if "domain" not in table:
        if column.role != "public":
            table.fail("domain", "is missing", accepted)
        return column
    ends = table.increasing("domain", str(column.type))
    if ends is None or len(ends) != 2:
        table.fail("domain", "is not a domain", accepted)
        return column
    return replace(column, low=ends[0], high=ends[1])


def _grid(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    grid = _step(table, column, "grid", _step_bound(column))
    if column.low is None or column.high is None:
        return column
    if grid is None:
        step = round_step(column.low, column.high, whole=column.type in DISCRETE)
        grid = round_duration(column.low, column.high) if column.type == "timestamp" else step
    column = replace(column, grid=grid)
    _check_edges(table, column, "grid")
    return column


def _cuts(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    if "cuts" not in table:
        return column
    cuts = table.increasing("cuts", str(column.type))
    accepted = f"strictly increasing {_values(column)} inside the domain, without its ends"
    if cuts is None:
        table.fail("cuts", "is not an increasing list", accepted)
    elif column.low is None or column.high is None:
        return column
    elif not all(column.low < cut < column.high for cut in cuts):
        table.fail("cuts", f"is outside the domain {_shown_domain(column)}", accepted)
    else:
        edges = tuple(sorted({*column.edges, *cuts})) if column.edges else ()
        column = replace(column, cuts=cuts, edges=edges)
        _check_edges(table, column, "cuts")
    return column


def _sensitive(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    carry = table.choice("carry", "bins")
    any_width = Bound(least=0, whole=column.type in DISCRETE)
    guard = _step(table, column, "guard", Duration(least=0) if column.type == "timestamp" else any_width)
    written = None
    if carry == "bins":
        written = _read_bins(table, column)
    elif carry is not None and "bins" in table:
        table.fail("bins", f"does not apply to carry {carry}", 'for carry = "bins"')
    column = replace(column, carry=cast("Carry | None", carry))
    if column.grid is None:
        return column
    two_steps = min(2 * column.grid, _width(column))
    guard = two_steps if guard is None else guard
    column = replace(column, guard=guard)
    check_carry(table, column)
    if written is not None:
        return _fit_bins(table, column, written)
    return replace(column, bins=max(two_steps, guard)) if carry == "bins" else column


def _read_bins(table: TomlTable, column: ColumnPolicy) -> Number | tuple[Number, ...] | None:
    """A width or a list of edges; None if missing or wrong."""
    if "bins" not in table:
        return None
    bins: Number | tuple[Number, ...] | None
    if isinstance(table.raw["bins"], list):
        bins = table.increasing("bins", str(column.type)) or None
    else:
        bins = _step_bound(column).read(table.raw["bins"])
    if bins is None:
        width = _step_bound(column).phrase
        accepted = f"a width, {width}, or a list of edges, strictly increasing {_values(column)}"
        table.fail("bins", "is neither a width nor a list of edges", accepted)
    return bins


def _fit_bins(table: TomlTable, column: ColumnPolicy, bins: Number | tuple[Number, ...]) -> ColumnPolicy:
    """Checks that bins are within the domain."""
    low, high = column.low or 0, column.high or 0
    fits = low <= bins[0] and bins[-1] <= high if isinstance(bins, tuple) else bins <= _width(column)
    if not fits:
        accepted = f"edges within it, or a width of at most {_shown_width(column)}"
        table.fail("bins", f"is outside the domain {_shown_domain(column)}", accepted)
        return column
    column = replace(column, bins=tuple(sorted({low, *bins, high})) if isinstance(bins, tuple) else bins)
    _check_edges(table, column, "bins")
    return column


def _with_bins(top: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """In classes no bin is narrower than the guard e, so that a class cannot reveal more. In views certificates prove
    that each person could have other values, over several bins, so bins may be narrower; medians need that.
    """
    if column.bins is None or column.guard is None or column.grid is None or column.role != "sensitive":
        return column
    views = top.raw.get("views")
    has_views = isinstance(views, dict) and views.get("mode") != "none"
    if "bins" in top.raw["columns"][column.name]:
        if not has_views and _narrowest(column.bins) < exact(column.guard):
            accepted = (
                f"bins at least {column.guard} wide, as wide as the guard (two steps of the grid unless you set it), "
                "also at the ends of the domain; or a smaller guard"
            )
            top.problems.add(("columns", column.name, "bins"), "has a bin narrower than the guard", accepted)
        return column
    if not has_views or not column.guard:
        return column
    grid = exact(column.grid)
    width = grid * max(1, math.ceil(exact(column.guard) / FINER / grid))
    return replace(column, bins=int(width) if column.type in DISCRETE else float(width))


def _narrowest(bins: Number | tuple[Number, ...]) -> Fraction:
    return min(exact(b) - exact(a) for a, b in pairwise(bins)) if isinstance(bins, tuple) else exact(bins)


def _step(table: TomlTable, column: ColumnPolicy, key: str, bound: Bound) -> Number | None:
    """A step along the column, not wider than its domain; None if missing or wrong."""
    step = table.number(key, bound)
    if step is not None and column.low is not None and step > _width(column):
        table.fail(key, "is wider than the domain", f"{bound.phrase} and at most {_shown_width(column)}")
        return None
    return step


def _check_edges(table: TomlTable, column: ColumnPolicy, key: str) -> None:
    try:
        _ = bin_edges(column) if key == "bins" else grid_edges(column)
    except ValueError as error:
        table.fail(key, str(error), "a wider step or fewer edges")


def _step_bound(column: ColumnPolicy) -> Bound:
    if column.type == "timestamp":
        return Duration(above=0)
    return WHOLE_STEP if column.type in DISCRETE else POSITIVE


def _width(column: ColumnPolicy) -> Number:
    width = exact(column.high or 0) - exact(column.low or 0)
    return int(width) if column.type in DISCRETE else float(width)


def _shown_width(column: ColumnPolicy) -> Number | str:
    return show_duration(_width(column)) if column.type == "timestamp" else _width(column)


def _values(column: ColumnPolicy) -> str:
    return VALUES[str(column.type)]


def _shown_domain(column: ColumnPolicy) -> str:
    return f"[{listed(show_value(str(column.type), end) for end in (column.low or 0, column.high or 0))}]"
