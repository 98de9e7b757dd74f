"""The guarantees that every class must keep for a sensitive column: one, or a list of them.

diversity = { kind = "distinct", l = 3 }
diversity = [{ kind = "entropy", l = 2 }, { kind = "t-closeness", t = 0.3 }]
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from querygate.core.json_body import from_json
from querygate.core.types import DISCRETE
from querygate.custody.policy.column_policy import ColumnPolicy, DiversityPolicy
from querygate.custody.policy.durations import Duration
from querygate.custody.policy.toml_reader import SOME_TEXT, Bound, TomlTable, listed

POSITIVE = Bound(above=0)
FROM_TWO = Bound(least=2, whole=True)
SHARE = Bound(above=0, most=1)
MOST_PIECES = 4
"""The most pieces of knowledge: beyond that hardly any class is safe, and the number of combinations grows fast."""

PARAMETERS: dict[str, dict[str, Bound]] = {
    "distinct": {"l": FROM_TWO},
    "entropy": {"l": Bound(above=1)},
    "recursive": {"c": POSITIVE, "l": FROM_TWO},
    "t-closeness": {"t": SHARE},
    "alpha": {"alpha": SHARE},
    "p-sensitive": {"p": FROM_TWO},
    "ke": {"e": POSITIVE},
    "em": {"epsilon": Bound(least=0), "m": Bound(above=1)},
    "personalised": {"share": SHARE},
    "ck": {"share": Bound(above=0, most=0.999), "pieces": Bound(least=1, most=MOST_PIECES, whole=True)},
    "growth": {"share": Bound(above=0, most=0.999)},
    "mined": {"l": FROM_TWO},
    "range": {"share": SHARE},
}
"""The numbers that each kind needs ..."""

OPTIONAL = {
    "t-closeness": ("distance",),
    "ke": ("distinct",),
    "personalised": ("groups",),
    "mined": ("expected",),
    "alpha": ("alphas",),
}
"""... its other parameters ..."""

NAMED = {"personalised": ("by",)}
"""... and the names it needs."""

OF_NUMBERS = ("ke", "em")
OF_CATEGORIES = ("personalised", "mined")

USUAL_EXPECTED = 10.0
"""Records in which a rule must have been possible, by default (Li & Li use 9 to 50)."""

NO_WISH = "none"
"""The wish of a person with nothing to guard."""


def read_diversity(table: TomlTable, column: ColumnPolicy) -> tuple[DiversityPolicy, ...]:
    """Every guarantee of the column's key `diversity`, in the order of the file."""
    raw = table.raw["diversity"]
    if not isinstance(raw, list):
        found = [_read(table.table("diversity"), column)]
    elif not raw:
        table.fail("diversity", "is an empty list", "a table with kind and its parameters, or a list of such tables")
        found = []
    else:
        path, pattern = (*table.path, "diversity"), "columns.*.diversity"
        parts = [TomlTable(part, (*path, str(i)), pattern, table.problems) for i, part in enumerate(raw, start=1)]
        found = [_read(part, column) for part in parts]
    read = tuple(diversity for diversity in found if diversity is not None)
    if len(set(read)) < len(read):
        table.fail("diversity", "names one guarantee twice", "a list of distinct guarantees")
    return read


def read_missing(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """Whether guarantees treat missing values as values, or ignore them as not applicable."""
    if table.choice("missing") != "not applicable":
        return column
    if any(diversity.kind == "personalised" for diversity in column.diversity):
        table.fail("missing", "not applicable cannot be combined with kind personalised", "value")
    return replace(column, missing="not applicable")


def _read(table: TomlTable, column: ColumnPolicy) -> DiversityPolicy | None:
    kind = table.choice("kind") if table.is_table else None
    if kind is None:
        return None
    wanted = (OF_NUMBERS, "integer, number or date") if kind in OF_NUMBERS else (OF_CATEGORIES, "category or boolean")
    if kind in wanted[0] and column.is_numeric != (kind in OF_NUMBERS):
        table.fail("kind", f"{kind} does not apply to type {column.type}", f"for type {wanted[1]}")
        return None
    if kind == "range" and not (column.is_numeric or column.values or column.hierarchy):
        table.fail("kind", "range needs all values there can be", "this kind where the column has values or hierarchy")
    numbers = {key: table.required(key, _bound(kind, key, bound, column)) for key, bound in PARAMETERS[kind].items()}
    taken = (*numbers, *OPTIONAL.get(kind, ()), *NAMED.get(kind, ()))
    for key in table.raw:
        if key != "kind" and key not in taken and key in table.problems.vocabulary.accepted(table.pattern):
            table.fail(key, f"is not a parameter of kind {kind}", listed(taken))
    if column.values and (numbers.get("l") or numbers.get("p") or 0) > len(column.values):
        table.fail(
            "l" if "l" in numbers else "p",
            "is more than the number of values of the column",
            f"at most {len(column.values)}",
        )
    return from_json(DiversityPolicy, {"kind": kind, **numbers, **_further(table, kind, column)})


def _bound(kind: str, key: str, bound: Bound, column: ColumnPolicy) -> Bound:
    """Distances are whole for whole numbers and days, and durations for moments."""
    if (kind, key) not in {("ke", "e"), ("em", "epsilon")} or column.type not in DISCRETE:
        return bound
    if column.type == "timestamp":
        return Duration(above=0) if key == "e" else Duration(least=0)
    return Bound(least=1 if key == "e" else 0, whole=True)


def _further(table: TomlTable, kind: str, column: ColumnPolicy) -> dict[str, object]:
    match kind:
        case "t-closeness":
            return {"distance": _distance(table, column)}
        case "ke" if "distinct" in table:
            return {"distinct": table.number("distinct", FROM_TWO)}
        case "mined":
            return {"expected": table.number("expected", Bound(least=1)) or USUAL_EXPECTED}
        case "alpha":
            return {"alphas": _alphas(table, column)}
        case "personalised":
            return {"by": table.text("by", SOME_TEXT), "groups": _groups(table, column)}
    return {}


def _distance(table: TomlTable, column: ColumnPolicy) -> str | None:
    """The distance between values. Categories have no order; their default is not part of the hash."""
    distance = table.choice("distance", "ordered" if column.is_numeric else "equal")
    accepted = ("equal", "ordered") if column.is_numeric else ("equal", *(["hierarchy"] if column.hierarchy else []))
    if distance is not None and distance not in accepted:
        table.fail("distance", f"{distance} does not apply to this column", listed(accepted))
    return distance if column.is_numeric or distance == "hierarchy" else None


def _groups(table: TomlTable, column: ColumnPolicy) -> tuple[tuple[str, tuple[str, ...]], ...]:
    raw = table.raw.get("groups", {})
    accepted = "a table of lists of values of the column, such as { heart = [...] }"
    if not isinstance(raw, dict) or not all(isinstance(values, list) and values for values in raw.values()):
        table.fail("groups", "is not a table of lists", accepted)
        return ()
    for name, values in raw.items():
        if not all(isinstance(value, str) for value in values) or len(set(values)) < len(values):
            table.fail("groups", f"{name} is not a list of distinct strings", accepted)
            return ()
        if column.values and not set(values) <= set(column.values):
            table.fail("groups", f"{name} has a value that the column does not have", listed(column.values))
        if name == NO_WISH or name in column.values or "|" in name:
            table.fail(
                "groups", f"{name} is not a name for a group", "a name that is not a value and contains no bar |"
            )
    return tuple(sorted((name, tuple(sorted(values))) for name, values in raw.items()))


def _alphas(table: TomlTable, column: ColumnPolicy) -> tuple[tuple[str, float], ...]:
    """Values that may hold a share of their own, in order."""
    raw = table.raw.get("alphas", {})
    if column.is_numeric and "alphas" in table:
        table.fail("alphas", "does not apply to numbers", "alpha alone, which is for every bin")
        return ()
    if not isinstance(raw, dict):
        table.fail("alphas", "is not a table of shares", "a table of values and shares, such as { HIV = 0.2 }")
        return ()
    shares = {value: SHARE.read(share) for value, share in raw.items()}
    if None in shares.values() or "" in shares:
        table.fail("alphas", "has a share that is not accepted", SHARE.phrase)
        return ()
    known = column.values or (("false", "true") if column.type == "boolean" else ())
    if known and not set(shares) <= set(known):
        table.fail("alphas", "has a value that the column does not have", listed(known))
    return tuple(sorted((value, float(share)) for value, share in shares.items() if share is not None))


def check_wishes(top: TomlTable, columns: Iterable[ColumnPolicy]) -> None:
    """Check that the column of people's wishes has rules, and is not published: a wish reveals a lot."""
    known = {column.name: column for column in columns}
    for column in known.values():
        for diversity in column.diversity:
            if diversity.by and (diversity.by not in known or known[diversity.by].is_published):
                top.problems.add(
                    ("columns", column.name, "diversity", "by"),
                    f"{diversity.by} is not a column that stays in the vault",
                    "a column with a table [columns.NAME] and role withheld or identifier",
                )


def domain_width(column: ColumnPolicy) -> float:
    """The width of the public domain of a number."""
    return float(column.high or 0) - float(column.low or 0)


def least_values(guarantees: Iterable[DiversityPolicy]) -> int:
    """The fewest distinct values in a class that keeps all of them."""
    return max(map(_implied, guarantees), default=1)


def _implied(diversity: DiversityPolicy) -> int:
    """The fewest distinct values in a class that keeps the guarantee."""
    match diversity.kind:
        case "ck":
            return int(diversity.pieces or 0) + 2
        case "distinct" | "entropy" | "recursive" | "mined":
            return math.ceil(diversity.l or 1)
        case "p-sensitive":
            return int(diversity.p or 1)
        case "alpha":
            return math.ceil(1 / max(diversity.alpha or 1, *(share for _, share in diversity.alphas), 0))
        case "ke":
            return int(diversity.distinct or 2)
        case "em" | "t-closeness" | "range":
            return 2
        case _:
            return 1
