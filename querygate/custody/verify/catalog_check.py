"""Compares what a version says about itself with its policy and the raw rows, and checks that its file has nothing
else."""

from __future__ import annotations

from dataclasses import fields
from typing import Literal

from querygate.core.publications.vault_ports import VerifierTables
from querygate.core.types import Catalog, Column
from querygate.custody.code_lists.public_codes import open_system
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.moment_rules import has_moments
from querygate.custody.verify.code_group_check import listed_columns
from querygate.custody.verify.verifier_types import Written, require


def check_catalog(written: Written, policy: Policy, staging: VerifierTables, rows: int) -> Catalog:
    """The catalog, if it agrees with the policy and the raw rows; ConfigError QG803 otherwise."""
    told = written.catalog()
    wanted = _wanted(told, policy, staging, rows)
    require(rows == told.rows, "every record is counted once")
    names = [column.name for column in told.columns]
    require(names == [column.name for column in wanted.columns], "the columns are those of the policy")
    for own, right in zip(told.columns, wanted.columns, strict=True):
        require(own.nullable == right.nullable, f"missing values of {own.name} are declared")
        _compare(own, right, f"of {right.name} the catalog has the right")
    _compare(told, wanted, "the catalog has the right")
    references = [(table.name, table.key, [name for name, _ in table.columns]) for table in told.references]
    public = [(table.name, table.key, [name for name, _ in table.columns]) for table in policy.references]
    require(references == public, "reference tables are those of the policy")
    require(bool(told.margins) == (policy.views is not None), "margins are those of views")
    return told


def check_strays(written: Written) -> None:
    """Check that the file has what its catalog calls for, and nothing else; ConfigError QG803 otherwise."""
    stray = next(written.strays(), None)
    require(stray is None, stray or "")


def _compare(told: Catalog | Column, wanted: Catalog | Column, promise: str) -> None:
    for field in fields(told):
        require(getattr(told, field.name) == getattr(wanted, field.name), f"{promise} {field.name}")


def _wanted(told: Catalog, policy: Policy, staging: VerifierTables, rows: int) -> Catalog:
    """The catalog by the policy. What is checked elsewhere, or is nobody's, is as it was stated."""
    persons = staging.count_values([policy.person])[policy.person].distinct if policy.person else rows
    is_repeated = persons < rows
    missing = staging.count_missing([column.name for column in policy.published])
    columns = []
    for index, column in enumerate(policy.published):
        moments = _moments(column, policy, is_repeated=is_repeated)
        columns.append(
            Column(
                name=column.name,
                index=index,
                role=column.role,
                type=column.type or "category",
                nullable=column.codes is None and (policy.answers.noisy_only or missing[column.name] > 0),
                low=column.low,
                high=column.high,
                values=_values(column, staging),
                title=column.title,
                parents=() if column.codes is None else open_system(column).parents,
                moments=moments,
                shared=moments == policy.anonymise.class_moments != "none" and column.carry in ("hull", "joint"),
                rare=column.rare,
                order=column.order,
                cuts=policy.cuts_of(column),
            )
        )
    return Catalog(
        dataset=policy.dataset,
        version=told.version,
        title=policy.title,
        k=policy.k,
        rows=rows,
        columns=(*columns, *listed_columns(policy, len(columns))),
        tight=policy.anonymise.edges == "tight",
        min_group=policy.answers.min_group,
        modes=policy.answers.modes,
        policy_hash=policy.hash,
        published=told.published,
        unit=policy.unit,
        references=told.references,
        noise=policy.noise,
        on_differencing=policy.audit.on_differencing,
        in_extracts=tuple(column.name for column in policy.columns if column.is_in_extracts),
        person="" if is_repeated else policy.person,
        persons=persons if is_repeated else 0,
        margins=told.margins,
    )


def _moments(column: ColumnPolicy, policy: Policy, *, is_repeated: bool) -> Literal["none", "rounded", "exact"]:
    """How sums are published. Views round them, and have none if a sum could be one person's."""
    if not has_moments(column):
        return "none"
    if policy.views is not None:
        return "none" if is_repeated else "rounded"
    return policy.anonymise.class_moments


def _values(column: ColumnPolicy, staging: VerifierTables) -> tuple[str, ...]:
    """The public values of a category: those in the policy, and those that occur."""
    if column.codes is not None:
        return open_system(column).codes
    if column.is_numeric:
        return ()
    texts = sorted({*column.values, *map(str, staging.profile(column.name).values)})
    if column.hierarchy is not None:
        return tuple(sorted(row[0] for row in rows_of(column, texts)))
    return tuple(sorted({*texts, column.rare} if column.rare else texts))
