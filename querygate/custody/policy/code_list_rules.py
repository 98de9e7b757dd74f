"""A column of codes: which codes exist, how lists are written, what attackers may know, what may be merged.

The public codes come from the policy or a file beside it, never from the data. Codes are kept as written here; the code
system later says what each of them means.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

from querygate.core.count_text import counted
from querygate.custody.policy.column_policy import (
    CodesPolicy,
    ColumnPolicy,
    Protection,
    ProtectPolicy,
    UtilityKind,
    UtilityPolicy,
)
from querygate.custody.policy.hierarchy_rules import fault_of, read_rows
from querygate.custody.policy.toml_reader import Bound, TomlTable, listed

SYSTEMS = ("icd9cm", "icd10cm", "icd9cm+icd10cm", "icd10", "ccs", "flat")
_OF_SETS = ("cba", "ugaclip", "aclip", "least-frequent")
METHODS: dict[Protection, tuple[str, ...]] = {
    "k^m": (*_OF_SETS, "apriori", "vpa", "lra", "local-suppression"),
    "itemsets": _OF_SETS,
    "visits": _OF_SETS,
    "complete": ("partition",),
    "classes": ("classes",),
    "coherence": ("coherence",),
    "rules": ("rbat",),
    "uncertainty": ("rho", "tdcontrol"),
    "patterns": ("unknowns",),
}
"""The methods for each kind of protection; the first is the default."""

MOST_KNOWN = 4
"""The most codes that an attacker may know under k^m: the number of sets to examine grows with each."""

CATEGORY = {"icd9cm": 2, "icd10cm": 4, "icd9cm+icd10cm": 5}
"""The level of three-character categories, if it is not the nearest."""

_SYSTEM = f"{listed(SYSTEMS)}, or the name of a .csv file next to the policy"
_ROWS = "rows `code;ancestor;...;root`, one per code, all of the same length, with the same root"
_SETS = "a list of lists of strings, or the name of a .csv file next to the policy with one set of codes per row"
_SHARE = Bound(above=0, most=0.999)
_CODES = "a list of strings: codes, or groups of the system, which stand for all their codes"
_RULES = 'a list of tables such as { known = ["401.2"], secret = ["295.00"] }'
_PARAMETERS: dict[Protection, tuple[str, ...]] = {
    "k^m": ("m", "k"),
    "itemsets": ("itemsets", "k", "look_for"),
    "visits": ("column", "between", "k", "look_for"),
    "complete": ("k",),
    "classes": ("m", "k"),
    "coherence": ("sensitive", "m", "share", "k"),
    "rules": ("rules", "share", "k"),
    "uncertainty": ("sensitive", "m", "share"),
    "patterns": ("rules", "share", "support", "m", "k"),
}
_UTILITY = {
    "level": ("level",),
    "groups": ("groups", "level", "spare"),
    "diseases": ("level", "spare"),
    "none": (),
}
_WITH_DISEASES = ("icd9cm", "icd10cm", "icd9cm+icd10cm", "icd10", "ccs")
"""Systems used by the package's list of diseases."""


def read_codes(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The column with the rules for its codes; mistakes are added to the table's problems."""
    system, rows = _system(table)
    values = _values(table, system)
    separator = table.text("separator")
    protect = _protect(table)
    method = table.choice("method", METHODS[protect.kind][0])
    if method is not None and method not in METHODS[protect.kind]:
        table.fail("method", f"does not protect what kind {protect.kind} requires", listed(METHODS[protect.kind]))
    codes = CodesPolicy(
        system=system,
        rows=rows,
        separator=separator,
        unknown=table.word("unknown", "refuse"),
        method=str(method),
        protect=protect,
        utility=_utility(table),
    )
    return replace(column, values=values, codes=codes)


def check_visits(top: TomlTable, columns: tuple[ColumnPolicy, ...]) -> None:
    """Check that a column of visits is a source column that is not published itself."""
    known = {column.name: column for column in columns}
    for column in columns:
        visits = column.codes.protect.column if column.codes else ""
        if visits and (visits not in known or known[visits].role != "withheld"):
            path = ("columns", column.name, "protect", "column")
            top.problems.add(path, "does not name a withheld column", "a column of the policy with role withheld")


# -- which codes there are -----------------------------------------------------------------------------------------


def _system(table: TomlTable) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """The name of a system, or the rows of a file."""
    raw = table.raw.get("system")
    if isinstance(raw, str) and raw in SYSTEMS:
        return raw, ()
    if not isinstance(raw, str) or not raw.lower().endswith(".csv"):
        what = "is neither a code system nor a file" if "system" in table else "is missing"
        table.fail("system", what, _SYSTEM)
        return "", ()
    rows = _file(table, "system", raw, _ROWS)
    fault = fault_of(rows) if rows else ""
    if fault:
        table.fail("system", fault, _ROWS)
    return "", rows


def _values(table: TomlTable, system: str) -> tuple[str, ...]:
    """The codes of a flat system, which nothing else lists, and the data must not."""
    if system != "flat":
        if "values" in table:
            table.fail("values", "cannot be combined with a system that lists its codes", 'nothing, or system = "flat"')
        return ()
    raw = table.raw.get("values")
    if not isinstance(raw, list) or not raw or not all(isinstance(v, str) and v.strip() for v in raw):
        table.fail("values", "is missing or not a list of strings", "a list of distinct strings: the public code list")
        return ()
    if len({value.strip() for value in raw}) < len(raw):
        table.fail("values", "names a code twice", "a list of distinct strings: the public code list")
    return tuple(sorted(value.strip() for value in raw))


# -- what attackers may know, and what may be merged ---------------------------------------------------------


def _protect(table: TomlTable) -> ProtectPolicy:
    given = table.table("protect")
    kind = cast("Protection | None", given.choice("kind", "k^m"))
    if kind is None:
        return ProtectPolicy(m=2)
    wanted = _PARAMETERS[kind]
    _check_parameters(given, kind, wanted)
    visits = kind == "visits"
    return ProtectPolicy(
        kind=kind,
        m=int(given.number("m", Bound(least=1, most=MOST_KNOWN, whole=True)) or 2) if "m" in wanted else 0,
        itemsets=_sets(given, "itemsets") if "itemsets" in wanted else (),
        column=given.text("column", r".+") if visits else "",
        between=given.text("between") if visits else "",
        k=int(given.number("k", Bound(least=2, whole=True)) or 0) if "k" in wanted else 0,
        sensitive=_names(given, "sensitive", _CODES) if "sensitive" in wanted else (),
        share=float(given.required("share", _SHARE) or 0) if "share" in wanted else 0.0,
        support=int(given.number("support", Bound(least=1, whole=True)) or 0) if "support" in wanted else 0,
        rules=_rules(given, patterns=kind == "patterns") if "rules" in wanted else (),
        look_for=given.word("look_for", "rest"),
    )


def _names(given: TomlTable, key: str, accepted: str) -> tuple[str, ...]:
    raw = given.raw.get(key)
    if not isinstance(raw, list) or not raw or not all(isinstance(one, str) and one.strip() for one in raw):
        given.fail(key, "is missing" if raw is None else "is not a list of strings", accepted)
        return ()
    return tuple(sorted({one.strip() for one in raw}))


def _rules(given: TomlTable, *, patterns: bool) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Rules from known to secret codes. A code is either known or secret in all of them; in patterns, in each. What is
    frequent whatever else is known is a pattern too.
    """
    raw = given.raw.get("rules")
    if not isinstance(raw, list) or not raw or not all(_is_rule(one, needs_known=not patterns) for one in raw):
        given.fail("rules", "is missing" if raw is None else "is not a list of rules", _RULES)
        return ()
    sides = ("known", "secret")
    rules = [tuple(tuple(sorted({code.strip() for code in rule[side]})) for side in sides) for rule in raw]
    together = [[rule] for rule in rules] if patterns else [rules]
    both = [
        code for some in together for code in {c for known, _ in some for c in known} & {c for _, s in some for c in s}
    ]
    if both:
        where = "on both sides of a rule" if patterns else "known in one place and secret in another"
        given.fail("rules", f"{min(both)} is {where}", "each code either as known or as secret")
    return tuple(sorted({(known, secret) for known, secret in rules}))


def _is_rule(raw: object, *, needs_known: bool) -> bool:
    return (
        isinstance(raw, dict)
        and set(raw) == {"known", "secret"}
        and all(isinstance(one, list) for one in raw.values())
        and bool(raw["secret"])
        and (bool(raw["known"]) or not needs_known)
        and all(isinstance(code, str) and code.strip() for one in raw.values() for code in one)
    )


def _utility(table: TomlTable) -> UtilityPolicy:
    given = table.table("utility")
    kind = cast("UtilityKind | None", given.choice("kind", "level"))
    _check_parameters(given, kind, _UTILITY.get(str(kind), ()))
    if kind == "none":
        return UtilityPolicy(kind="none")
    system = str(table.raw.get("system"))
    if kind == "diseases" and system not in _WITH_DISEASES:
        given.fail(
            "kind", "diseases are listed as codes of ICD-9-CM and ICD-10", f"groups, or system {listed(_WITH_DISEASES)}"
        )
    usual = 0 if kind == "groups" else CATEGORY.get(system, 1)
    return UtilityPolicy(
        kind=kind or "level",
        level=int(given.number("level", Bound(least=1, whole=True)) or usual),
        groups=_groups(given) if kind == "groups" else (),
        spare=given.word("spare", "none"),
    )


def _groups(given: TomlTable) -> tuple[tuple[str, ...], ...]:
    groups = _sets(given, "groups")
    twice = [code for code, number in Counter(c for group in groups for c in group).items() if number > 1]
    if twice:
        what = f"puts {counted(len(twice), 'code')} into several groups, the first of them {twice[0]}"
        given.fail("groups", what, "groups without common codes")
    return groups


def _check_parameters(given: TomlTable, kind: str | None, accepted: tuple[str, ...]) -> None:
    for key in given.raw:
        if kind is not None and key != "kind" and key not in accepted:
            given.fail(key, f"does not apply to kind {kind}", listed(accepted) or "nothing besides kind")


def _sets(given: TomlTable, key: str) -> tuple[tuple[str, ...], ...]:
    """Sets of codes, written here or in the rows of a file; surrounding spaces and repeated codes do not matter."""
    raw = given.raw.get(key)
    found: list[list[object]]
    if isinstance(raw, str) and raw.lower().endswith(".csv"):
        found = [list(row) for row in _file(given, key, raw, _SETS)]
    elif isinstance(raw, list) and raw and all(isinstance(one, list) for one in raw):
        found = raw
    else:
        given.fail(key, "is missing" if raw is None else "is not a list of sets of codes", _SETS)
        return ()
    if not all(isinstance(code, str) for one in found for code in one):
        given.fail(key, "contains something other than strings", _SETS)
        return ()
    sets = [tuple(sorted({str(code).strip() for code in one} - {""})) for one in found]
    if not all(sets):
        given.fail(key, f"has {counted(sum(1 for one in sets if not one), 'set')} without any code", _SETS)
    return tuple(sorted(set(sets)))


def _file(table: TomlTable, key: str, name: str, accepted: str) -> tuple[tuple[str, ...], ...]:
    path: Path = table.problems.folder / name
    try:
        rows = read_rows(path, ragged=accepted == _SETS)
    except OSError as error:
        table.fail(key, f"cannot be read: {error.strerror or type(error).__name__}", accepted)
        return ()
    except (UnicodeDecodeError, csv.Error):
        table.fail(key, "is not a CSV file in UTF-8", accepted)
        return ()
    if not rows:
        table.fail(key, "is empty", accepted)
    return rows
