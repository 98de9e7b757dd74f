"""Changes to a policy file whose effect a custodian may want to know: what each rule costs, and what would help.

A change consists of whole tables, which replace those with the same names in the file. So what is measured is what is
printed, and what is printed can be pasted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from querygate.core.types import DISCRETE
from querygate.custody.policy import ColumnPolicy, Number, Policy, ViewRules
from querygate.custody.policy.interval_edges import exact
from querygate.custody.policy.moment_rules import has_moments
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.policy.toml_reader import RawTable, show_value
from querygate.custody.policy.view_rules import FEW_VALUES
from querygate.custody.workload.standing_workload import public_cuts
from querygate.custody.workload.view_candidates import other_views

Kind = Literal["k", "quasi-identifier", "guard", "rule", "detail", "views"]

KS = (5, 10, 20)
FINER = 5
"""A grid is tried with a fifth of its step."""

BINS = 4
"""In views, this many bins are tried within the width of a guard."""

EACH = 6
"""Guards and rules of up to this many columns are changed one by one; of more, all at once."""

PAIRS = "statistics about two sensitive columns at once, unless `linked` in [views] names them"


@dataclass(frozen=True, slots=True)
class Edit:
    """`tables` take the place of those with their names, `removes` is a table that goes. `gives_up` is what people or
    researchers lose; `drops` is the column that nobody can ask about any more.
    """

    name: str
    kind: Kind
    tables: RawTable
    gives_up: str = ""
    drops: str = ""
    removes: str = ""

    @property
    def text(self) -> str:
        """The lines of the file."""
        return write_toml(self.tables).strip()

    def applied(self, raw: RawTable) -> RawTable:
        """The tables of the file with the change."""
        before = raw.get("columns", {})
        columns = before | self.tables.get("columns", {})
        if "from" in before.get(self.drops, {}):  # a derived age: the source has no column to withhold
            del columns[self.drops]
        changed = raw | self.tables | {"columns": columns}
        return {key: value for key, value in changed.items() if key != self.removes}


def k_edits(policy: Policy) -> Iterator[Edit]:
    for k in KS:
        if k != policy.k:
            yield Edit(f"k = {k}", "k", {"k": k})


def cost_edits(policy: Policy, raw: RawTable) -> Iterator[Edit]:
    """Without each quasi-identifier, with half of each guard, without each other rule."""
    quasi = policy.named("quasi-identifier")
    if len(quasi) > 1:
        for column in quasi:
            yield _withheld(column.name, raw)
    yield from _guards(policy, raw)
    yield from _rules(policy, raw)


def helpful_edits(policy: Policy, raw: RawTable, records: int) -> Iterator[Edit]:
    """What may make answers narrower at the same k and with the same guards; `records` are all that there are."""
    for column in policy.named("quasi-identifier"):
        yield from _more_detail(policy, column, raw)
    yield from _class_means(policy, raw)
    yield from _finer_bins(policy, raw)
    if policy.views is None:
        yield _as_views(raw)
        return
    yield _as_classes(policy, raw)
    for rules in other_views(policy, records):
        yield _other_views(rules, policy.views, raw["views"])


# -- what is kept --------------------------------------------------------------------------------------------------


def _withheld(name: str, raw: RawTable) -> Edit:
    tables: RawTable = {"columns": {name: {"role": "withheld"}}}
    views = raw.get("views", {})
    without = {key: _without(value, name) for key, value in views.items()}
    if without != views:
        tables["views"] = {key: value for key, value in without.items() if value not in ([], {}) or not views[key]}
    return Edit(f"without {name}", "quasi-identifier", tables, f"nobody can ask about {name}", drops=name)


def _without(value: object, name: str) -> object:
    """A value of the table [views] with the column removed from all its lists."""
    if isinstance(value, dict):
        return {key: part for key, part in value.items() if key != name}
    if not isinstance(value, list):
        return value
    parts = [_without(part, name) for part in value if part != name]
    return [part for at, part in enumerate(parts) if part != [] and part not in parts[:at]]


def _guards(policy: Policy, raw: RawTable) -> Iterator[Edit]:
    guarded = {column.name: halved for column in policy.named("sensitive") if (halved := _half_guard(column, raw))}
    if len(guarded) > EACH:
        yield Edit(
            f"half the guards of all {len(guarded)} numbers",
            "guard",
            {"columns": guarded},
            "values within a class may lie half as far apart",
        )
        return
    for name, table in guarded.items():
        before, after = _shown(policy.column(name).guard), _shown(table["guard"])
        yield Edit(
            f"guard of {name} {before} -> {after}",
            "guard",
            {"columns": {name: table}},
            f"values of {name} in a class may lie within {after} of each other, instead of {before}",
        )


def _half_guard(column: ColumnPolicy, raw: RawTable) -> RawTable | None:
    """The table of a number with half its guard; bins as wide as the guard are halved too."""
    if not column.guard or column.grid is None or column.type == "timestamp":
        return None
    half = _part(column, column.guard, 2)
    if not half or half == column.guard:
        return None
    table: RawTable = raw["columns"][column.name]
    bins = {"bins": half} if "bins" in table and column.bins == column.guard else {}
    return table | {"guard": half} | bins


def _rules(policy: Policy, raw: RawTable) -> Iterator[Edit]:
    ruled = [column.name for column in policy.named("sensitive") if column.diversity]
    for names in [ruled] if len(ruled) > EACH else [[name] for name in ruled]:
        tables = {name: {key: v for key, v in raw["columns"][name].items() if key != "diversity"} for name in names}
        about = names[0] if len(names) == 1 else f"all {len(names)} columns"
        yield Edit(f"without diversity of {about}", "rule", {"columns": tables})
    if policy.k_map is not None:
        yield Edit("without k_map", "rule", {}, removes="k_map")
    if policy.views is not None and policy.views.values > 2:
        yield Edit("views.values = 2", "rule", {"views": raw["views"] | {"values": 2}})


# -- what would help -----------------------------------------------------------------------------------------------


def _more_detail(policy: Policy, column: ColumnPolicy, raw: RawTable) -> Iterator[Edit]:
    """Cuts where questions are likely to end, and a finer grid; rare values of a category in one group."""
    name, table = column.name, raw["columns"][column.name]
    if not column.is_numeric:
        many = not column.values or len(column.values) > FEW_VALUES
        if many and column.type == "category" and not (column.rare or column.hierarchy or column.groups):
            other = "other" if "other" not in column.values else "all others"
            gives_up = f"values of {name} that fewer than k people have are grouped"
            yield Edit(f"rare values of {name} grouped", "detail", _of(name, table | {"rare": other}), gives_up)
        return
    if column.edges:
        return
    cuts = public_cuts(policy).get(name, ())
    if cuts and not column.cuts:
        shown = [_raw_value(column, cut) for cut in cuts]
        yield Edit(f"cuts of {name}", "detail", _of(name, table | {"cuts": shown}))
    if column.grid is not None and column.type != "timestamp":
        finer = _part(column, column.grid, FINER)
        if finer and finer < column.grid:
            yield Edit(f"a finer grid of {name}", "detail", _of(name, table | {"grid": finer}))


def _class_means(policy: Policy, raw: RawTable) -> Iterator[Edit]:
    if policy.views is None and policy.anonymise.class_moments == "none" and any(map(has_moments, policy.columns)):
        tables = {"anonymise": raw.get("anonymise", {}) | {"class_moments": "rounded"}}
        yield Edit("class means", "detail", tables, "the mean of each class is published, rounded outward")


def _finer_bins(policy: Policy, raw: RawTable) -> Iterator[Edit]:
    """Bins as narrow as the guard allows: in classes its width, in views a part of it."""
    parts = BINS if policy.views is not None else 1
    finer = {}
    for column in policy.named("sensitive"):
        if not column.guard or column.bins is None or isinstance(column.bins, tuple) or column.type == "timestamp":
            continue
        width = _part(column, column.guard, parts)
        if width and width < column.bins:
            finer[column.name] = raw["columns"][column.name] | {"bins": width}
    if finer:
        about = next(iter(finer)) if len(finer) == 1 else f"{len(finer)} numbers"
        yield Edit(f"narrower bins of {about}", "detail", {"columns": finer})


def _as_views(raw: RawTable) -> Edit:
    """Views, without what is about classes alone; rules that views do not have stay, and then nothing loads."""
    tables: RawTable = {"views": {"mode": "auto"}}
    if raw.get("anonymise"):
        tables["anonymise"] = {}
    return Edit("views instead of classes", "views", tables, PAIRS)


def _as_classes(policy: Policy, raw: RawTable) -> Edit:
    """Classes, whose bins are no narrower than a guard."""
    wider = {
        column.name: raw["columns"][column.name] | {"bins": column.guard}
        for column in policy.named("sensitive")
        if column.guard and isinstance(column.bins, (int, float)) and column.bins < column.guard
    }
    tables: RawTable = {"views": {"mode": "none"}} | ({"columns": wider} if wider else {})
    return Edit("classes instead of views", "views", tables)


def _other_views(rules: ViewRules, own: ViewRules, table: RawTable) -> Edit:
    """Other views, as written in the table; its other keys stay."""
    frame = [name for name, _ in rules.frame]
    views = {"spanning": [list(view) for view in rules.spanning], "extra": [list(view) for view in rules.extra]}
    kept = {key: value for key, value in table.items() if key not in ("mode", "frame", *views)}
    about = ""
    if rules.frame != own.frame:
        about = f" in the frame of {', '.join(frame)}" if frame else " without a frame"
    spanned = " | ".join(", ".join(view) for view in rules.spanning)
    crossed = [name for name, cuts in own.frame if cuts and name not in frame]
    gives_up = f"classes may cross the cuts of {', '.join(crossed)}: counts by them may be ranges" if crossed else ""
    tables: RawTable = {"views": {"mode": "spanning", "frame": frame} | views | kept}
    return Edit(f"views{about}: {spanned}", "views", tables, gives_up)


def _of(name: str, table: RawTable) -> RawTable:
    return {"columns": {name: table}}


def _part(column: ColumnPolicy, width: Number, parts: int) -> Number:
    """A part of a width; a whole number if the column has whole numbers."""
    return max(1, int(width) // parts) if column.type in DISCRETE else float(exact(width) / parts)


def _raw_value(column: ColumnPolicy, value: Number) -> Number | str:
    """The value as written in the file."""
    return show_value(str(column.type), value) if column.type in ("date", "timestamp") else value


def _shown(value: Number | None) -> str:
    return f"{value:g}"
