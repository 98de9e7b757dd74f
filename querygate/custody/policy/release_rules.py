"""Public cells, below which nothing finer is ever published, and the table [release] for records released at these
cells.

A number with `edges` has the cells between them instead of a grid; a category with `groups` is only published as whole
groups of values. Both are fixed before any class is made, and neither depends on the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from querygate.core.count_text import counted
from querygate.core.extracts.extract_spec import METHODS
from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.interval_edges import MAX_EDGES
from querygate.custody.policy.joined_tables import read_count, read_file, read_linked, read_names
from querygate.custody.policy.policy_types import SAFE_HARBOR, LimitedPolicy, RandomisedPolicy, ReleasePolicy
from querygate.custody.policy.release_requirements import FORM, read_requirement
from querygate.custody.policy.toml_reader import VALUES, Bound, TomlTable, listed, show_value

_GROUPS = "a list of lists of strings, each value in exactly one of them"
_RISK = Bound(above=0, most=1)
_BELIEF = Bound(above=0, most=0.999)


def read_edges(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The column with the edges of its cells, including the domain's ends; an empty list means one cell."""
    kind = str(column.type)
    accepted = f"increasing {VALUES[kind]} within the domain; a cell begins at each"
    for key in ("grid", "cuts"):
        if key in table:
            table.fail(key, "cannot be combined with edges, which define the cells", "nothing: remove the line")
    edges = table.increasing("edges", kind)
    if edges is None:
        table.fail("edges", "is not an increasing list", accepted)
        return column
    if column.low is None or column.high is None:
        return column
    if edges and not column.low <= edges[0] <= edges[-1] <= column.high:
        shown = listed(show_value(kind, end) for end in (column.low, column.high))
        table.fail("edges", f"is outside the domain [{shown}]", accepted)
        return column
    if len(edges) > MAX_EDGES - 2:
        table.fail("edges", f"makes more than {MAX_EDGES:,} edges", "fewer edges")
    return replace(column, edges=tuple(sorted({column.low, *edges, column.high})))


def read_groups(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The column with its groups. They also define its public values, if `values` does not."""
    if "hierarchy" in table:
        table.fail("hierarchy", "cannot be combined with groups, which define what is published", "one of the two")
    raw = table.raw["groups"]
    is_list = isinstance(raw, list) and raw and all(isinstance(group, list) and group for group in raw)
    if not is_list or not all(isinstance(value, str) for group in raw for value in group):
        table.fail("groups", "is not a list of non-empty lists of strings", _GROUPS)
        return column
    counts = Counter(value for group in raw for value in group)
    if twice := sum(1 for count in counts.values() if count > 1):
        table.fail("groups", f"has {counted(twice, 'value')} more than once", _GROUPS)
    known = set(column.values)
    if known and (absent := known - set(counts)):
        table.fail("groups", f"leaves out {len(absent):,} of its values, such as {min(absent)}", _GROUPS)
    if known and (strange := set(counts) - known):
        what = counted(len(strange), "value that is not public", "values that are not public")
        table.fail("groups", f"has {what}, such as {min(strange)}", _GROUPS)
    groups = tuple(sorted(tuple(sorted(set(group))) for group in raw))
    return replace(column, values=tuple(sorted(counts)), groups=groups)


def check_tight(anonymise: TomlTable, columns: Iterable[ColumnPolicy]) -> None:
    """Refuse tight class edges: they are people's values, and so finer than any cell."""
    celled = [column.name for column in columns if column.edges]
    if celled and anonymise.raw.get("edges") == "tight":
        anonymise.fail(
            "edges", f"cannot be combined with the public cells of {celled[0]}", "grid, or columns without edges"
        )


def read_release(top: TomlTable, columns: Iterable[ColumnPolicy]) -> ReleasePolicy | None:
    """The table [release]: the permitted risk of records released without classes of k, and the population for it."""
    if "release" not in top:
        return None
    table = top.table("release")
    if not table.is_table:
        return None
    threshold = table.raw.get("threshold", SAFE_HARBOR)
    number = None if threshold == SAFE_HARBOR else _RISK.read(threshold)
    if threshold != SAFE_HARBOR and number is None:
        table.fail("threshold", "is not an accepted threshold", f'"{SAFE_HARBOR}", or {_RISK.phrase}')
    instance = table.number("instance", _RISK)
    return ReleasePolicy(
        read_file(table, "population"),
        SAFE_HARBOR if number is None else float(number),
        read_linked(table, columns),
        read_count(table),
        None if instance is None else float(instance),
        _requirements(table, columns),
    )


def _requirements(table: TomlTable, columns: Iterable[ColumnPolicy]) -> tuple[str, ...]:
    """Requirements in one spelling, sorted as texts."""
    raw = table.raw.get("require", [])
    if not isinstance(raw, list) or not all(isinstance(one, str) for one in raw):
        table.fail("require", "is not a list of strings", FORM)
        return ()
    read = [read_requirement(one, columns) for one in raw]
    if None in read:
        table.fail("require", f"does not understand {raw[read.index(None)]!r}", FORM)
    return tuple(sorted({str(one) for one in read if one is not None}))


def read_limited(top: TomlTable, columns: Iterable[ColumnPolicy]) -> LimitedPolicy | None:
    """The table [limited_data_set]: permits the release of records without direct identifiers, but otherwise
    unchanged."""
    if "limited_data_set" not in top:
        return None
    table = top.table("limited_data_set")
    if not table.is_table:
        return None
    checked = read_names(table, "checked") if "checked" in table else ()
    known = [column.name for column in columns if column.is_published]
    for name in checked:
        if name not in known:
            table.fail("checked", f"{name} is not a published column", listed(known))
    return LimitedPolicy(tuple(sorted(checked)))


def read_randomised(top: TomlTable) -> RandomisedPolicy | None:
    """The table [randomised]: permits the release of records with randomised values."""
    if "randomised" not in top:
        return None
    table = top.table("randomised")
    if not table.is_table:
        return None
    rho1, rho2 = (table.required(key, _BELIEF) for key in ("rho1", "rho2"))
    if rho1 is not None and rho2 is not None and not rho1 < rho2:
        table.fail("rho2", "is not above rho1", "a number above rho1 and below 1")
    accepted = METHODS["randomised"]
    methods = read_names(table, "methods") if "methods" in table else accepted[:1]
    for name in methods:
        if name not in accepted:
            table.fail("methods", f"{name} is not a method", listed(accepted))
    usual = RandomisedPolicy(0.1, 0.5)
    return RandomisedPolicy(
        float(rho1 or usual.rho1),
        float(rho2 or usual.rho2),
        tuple(sorted(methods)),
        float(table.number("kept", _BELIEF) or usual.kept),
        float(table.number("window", _RISK) or usual.window),
        _noise(table),
        float(table.number("spread", _RISK) or 0.0),
    )


def _noise(table: TomlTable) -> Literal["laplace", "normal"]:
    if table.raw.get("noise") == "uniform":
        table.fail("noise", "rules values out, so no belief is bounded", "laplace, normal")
        return "laplace"
    return "normal" if table.word("noise", "laplace") == "normal" else "laplace"
