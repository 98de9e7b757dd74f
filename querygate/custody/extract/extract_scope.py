"""Which records and columns an extract is of, and the policy it is made under: the dataset's own, narrowed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from querygate.core.errors import ExtractRefused, Refusal
from querygate.core.extract_spec import ExtractSpec, invalid
from querygate.core.ports import Native
from querygate.core.types import Catalog, Column, folded
from querygate.custody.policy import ColumnPolicy, Policy, StatisticPolicy
from querygate.methods.anonymise import RECODERS
from querygate.sql.noisy_plan import understand_noisy
from querygate.sql.row_condition import row_condition

SHARES = ("significance", "sign", "outside")
"""Tolerances that are about models; every other one is the width of a range."""

_STATISTIC = re.compile(r"(mean|var|sd|median|cov|corr)\(([^(),]+)(?:,([^(),]+))?\)")


def narrowed(policy: Policy, spec: ExtractSpec) -> Policy:
    """The policy with the wanted columns alone, and with a k that is no smaller than its own.

    A sensitive number is looked at by its hull: an extract has its values as they are, and no bins.
    """
    columns = _columns(policy, spec)
    k = max(policy.k, spec.k or 0)
    statistics, widths = _wanted(policy, spec)
    options = replace(
        policy.anonymise,
        method="auto",
        edges="grid",
        class_moments="none",
        statistics=statistics,
        max_width=widths,
        largest_k=bool(widths) and spec.k is None and spec.method not in RECODERS.names(),
    )
    return replace(policy, columns=columns, k=k, anonymise=options, references=(), joins=(), person="", noise=None)


def _columns(policy: Policy, spec: ExtractSpec) -> tuple[ColumnPolicy, ...]:
    out = {folded(column.name): column for column in policy.columns if column.is_published or column.is_transformed}
    for name in spec.columns:
        if folded(name) not in out:
            raise invalid("columns", f"{name} is not a column that may be released", *(c.name for c in out.values()))
    wanted = [out[folded(name)] for name in spec.columns] or [c for c in out.values() if c.is_published]
    _check_texts(wanted, spec)
    if spec.kind != "k-anonymous":
        lists = [column.name for column in wanted if column.codes is not None and spec.columns]
        if lists:
            why = (
                "has no mean to condense by"
                if spec.kind == "condensed"
                else ("can only be released in classes of k records")
            )
            raise invalid("columns", f"{lists[0]} is a code list, which {why}")
        wanted = [column for column in wanted if column.codes is None]
    if not any(column.role == "quasi-identifier" for column in wanted) and spec.kind != "condensed":
        names = ", ".join(column.name for column in policy.named("quasi-identifier"))
        raise invalid("columns", "none of them is a quasi-identifier, so records have nothing to look alike in", names)
    guarded = {d.by for column in wanted for d in column.diversity if d.by}
    guarded |= {column.codes.protect.column for column in wanted if column.codes}
    if any(column.role == "note" for column in wanted):
        guarded |= {column.name for column in policy.named("identifier")}  # notes are searched for them
    beside = [column for column in policy.columns if column.name in guarded and column not in wanted]
    return (*(_as_it_is(column) for column in wanted), *beside)


def _check_texts(wanted: Sequence[ColumnPolicy], spec: ExtractSpec) -> None:
    """Notes and sequences go with records that are somebody's and look like others'."""
    texts = [column for column in wanted if column.is_transformed]
    if texts and spec.kind != "k-anonymous":
        why = (
            "synthetic records have none"
            if spec.kind == "condensed"
            else ("it can only be released in classes of k records")
        )
        raise invalid("columns", f"{texts[0].name} is a {texts[0].role}, and {why}")


def _as_it_is(column: ColumnPolicy) -> ColumnPolicy:
    return replace(column, carry="hull") if column.role == "sensitive" and column.is_numeric else column


def _wanted(
    policy: Policy, spec: ExtractSpec
) -> tuple[tuple[StatisticPolicy, ...], tuple[tuple[StatisticPolicy, float], ...]]:
    """Statistics that are to stay sharp, and how wide their ranges may be."""
    found = []
    for name, width in spec.tolerances:
        if name in SHARES:
            if not spec.models:
                raise invalid("tolerances", f"{name} is about models, but the request names none")
            continue
        match = _STATISTIC.fullmatch(name.replace(" ", ""))
        if match is None or spec.kind != "k-anonymous":
            accepted = (*SHARES, "mean(column)", "var(column)", "corr(column,column)")
            raise invalid("tolerances", f"{name} is not a tolerance that can be kept", *accepted)
        names = tuple(filter(None, match.groups()[1:]))
        for column in names:
            if not policy.column(column).is_numeric:
                raise invalid("tolerances", f"{column} is not a number column of this dataset")
        found.append((StatisticPolicy(match[1], names), width))  # type: ignore[arg-type]
    return tuple(statistic for statistic, _ in found), tuple(found)


def read_filter(where: str, catalog: Catalog, native: Native) -> tuple[str, frozenset[str]]:
    """The condition in the gate's own words, and the columns it speaks of; a refusal where it is none of this dataset's
    columns alone.
    """
    if not where:
        return "", frozenset()
    statement = f"SELECT COUNT(*) FROM {catalog.dataset} WHERE {where}"  # noqa: S608 - it is read, and never run
    try:
        plan = understand_noisy(statement, catalog, native)
    except Refusal:
        lists = [column.name for column in catalog.columns if column.is_codes and folded(column.name) in folded(where)]
        if lists:
            raise invalid("where", f"extracts cannot be selected by code lists ({lists[0]})") from None
        raise
    asked = plan.plan
    if asked.keys or len(plan.releases) != 1 or asked.orders or asked.offset or asked.limit is not None:
        raise ExtractRefused("QG604", "where: must be a single condition.", "Correct where in the request.")
    return row_condition(statement, catalog), asked.columns


def make_catalog(policy: Policy) -> Catalog:
    """What a statement may know of the columns that may leave, of a dataset that was never published."""
    columns = tuple(
        Column(c.name, i, c.role, c.type or "category", True, c.low, c.high, c.values)
        for i, c in enumerate(column for column in policy.columns if column.is_published)
    )
    return Catalog(policy.dataset, 0, policy.title, policy.k, 0, columns, policy_hash=policy.hash)
