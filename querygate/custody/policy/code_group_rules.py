"""The table [views.codes]: groups of codes that views publish, each as a separate sensitive column.

    [views.codes.dx]
    diabetes = ["250"]
    hypertension = ["401", "402"]

A record has the value true in `diabetes` if its list `dx` has one of these codes. Which codes a name stands for, and
whether groups overlap, depends on the code system, which is read later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from querygate.core.types import folded
from querygate.custody.policy.column_policy import CodeGroup, ColumnPolicy
from querygate.custody.policy.toml_reader import TomlTable, listed

GROUPS = 'groups by name, such as { diabetes = ["250"] }'
CODES = "a list of strings: codes, or groups of the code system, which stand for all their codes"


def read_code_groups(top: TomlTable, columns: Sequence[ColumnPolicy]) -> tuple[ColumnPolicy, ...]:
    """A flag for each group; mistakes are added to the problems of the file."""
    views = top.raw.get("views")
    if not isinstance(views, dict) or views.get("mode") == "none":
        return ()
    return tuple(_flags(top, views.get("codes", {}), columns))


def _flags(top: TomlTable, raw: object, columns: Sequence[ColumnPolicy]) -> Iterator[ColumnPolicy]:
    lists = [column.name for column in columns if column.role == "codes"]
    if not isinstance(raw, dict):
        top.problems.add(("views", "codes"), "must be a table", f"of each list of codes its {GROUPS}")
        return
    taken = {"row_id", *(folded(column.name) for column in columns)}  # the vault's number of a row has this name
    for name, groups in raw.items():
        path = ("views", "codes", name)
        if name not in lists:
            top.problems.add(
                path, "is not a column with role codes", listed(lists) or "nothing (there is no such column)"
            )
        elif not isinstance(groups, dict) or not groups:
            top.problems.add(path, "is not a table of groups", GROUPS)
        else:
            for group, codes in groups.items():
                if not group.strip() or folded(group) in taken:
                    what = "is the name of another column already" if group.strip() else "is no name"
                    top.problems.add((*path, group), what, "a name of its own for each group, whatever its case")
                elif not _are_codes(codes):
                    top.problems.add((*path, group), "is not a list of codes", CODES)
                else:
                    taken.add(folded(group))
                    yield _flag(name, group, codes)


def _are_codes(raw: object) -> bool:
    return isinstance(raw, list) and bool(raw) and all(isinstance(code, str) and code.strip() for code in raw)


def _flag(column: str, name: str, codes: Sequence[str]) -> ColumnPolicy:
    held = CodeGroup(column, tuple(sorted({code.strip() for code in codes})))
    return ColumnPolicy(name, "sensitive", "boolean", values=("false", "true"), of_codes=held)
