"""Which records and columns an extract has, and its policy: the dataset's own, narrowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from querygate.core.extracts.extract_checks import widths_of
from querygate.core.extracts.extract_spec import ExtractSpec, invalid
from querygate.core.types import Catalog, Column, folded
from querygate.custody.policy import ColumnPolicy, Policy, StatisticPolicy
from querygate.custody.policy.column_rules import DEFAULT_WEIGHT, PROTECTED
from querygate.methods.anonymise import RECODERS


def narrowed(policy: Policy, spec: ExtractSpec) -> Policy:
    """The policy with only the wanted columns, and a k that is at least its own.

    A sensitive number is examined by its hull: an extract has its values unchanged, not in bins.
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
    policy = replace(policy.of_one_table(), person="", noise=None, views=None)
    return replace(policy, columns=columns, k=k, anonymise=options)


def _columns(policy: Policy, spec: ExtractSpec) -> tuple[ColumnPolicy, ...]:
    own = [column for column in policy.columns if column.of_codes is None]  # flags of codes are not columns of records
    out = {folded(column.name): column for column in own if column.is_published or column.is_in_extracts}
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
    _check_protected(policy, wanted, spec)
    guarded = {d.by for column in wanted for d in column.diversity if d.by}
    guarded |= {column.codes.protect.column for column in wanted if column.codes}
    if any(column.role in ("note", "payload") for column in wanted):
        guarded |= {column.name for column in policy.named("identifier")}  # these are needed to search the notes
    beside = [column for column in policy.columns if column.name in guarded and column not in wanted]
    return (*(_as_it_is(column) for column in wanted), *beside)


def _check_protected(policy: Policy, wanted: Sequence[ColumnPolicy], spec: ExtractSpec) -> None:
    """Check that there is something people are known by, and a way to protect it."""
    if spec.kind == "condensed" or any(column.role == "quasi-identifier" for column in wanted):
        return
    if spec.kind != "k-anonymous" or not any(column.role in PROTECTED for column in wanted):
        names = ", ".join(column.name for column in policy.named(*PROTECTED))
        raise invalid(
            "columns",
            "none of them is a quasi-identifier, so there is nothing in which records could look alike",
            names,
        )
    for key in ("method", "suppress", "suppress_cells"):
        if getattr(spec, key) not in ("", "auto", 0.0):
            raise invalid(key, "needs a quasi-identifier among the columns: without one, all records are one class")


def _check_texts(wanted: Sequence[ColumnPolicy], spec: ExtractSpec) -> None:
    """Notes, sequences and payloads are only possible for real records in classes."""
    texts = [column for column in wanted if column.is_in_extracts]
    if texts and spec.kind != "k-anonymous":
        why = (
            "synthetic records have none"
            if spec.kind == "condensed"
            else ("it can only be released in classes of k records")
        )
        raise invalid("columns", f"{texts[0].name} is a {texts[0].role}, and {why}")


def _as_it_is(column: ColumnPolicy) -> ColumnPolicy:
    """The column without bins, and without the extra weight of numbers for conditions in statements."""
    if column.weight == DEFAULT_WEIGHT[column.is_numeric]:
        column = replace(column, weight=1.0)
    return replace(column, carry="hull") if column.role == "sensitive" and column.is_numeric else column


def _wanted(
    policy: Policy, spec: ExtractSpec
) -> tuple[tuple[StatisticPolicy, ...], tuple[tuple[StatisticPolicy, float], ...]]:
    """Statistics that should stay sharp, and how wide their ranges may be."""
    types = {column.name: column.type or "category" for column in policy.columns if column.is_published}
    found = tuple((StatisticPolicy(w.statistic, w.columns), w.limit) for w in widths_of(spec, types))
    return tuple(statistic for statistic, _ in found), found


def make_catalog(policy: Policy) -> Catalog:
    """The catalog of the columns that may be released, for a dataset that was never published."""
    columns = tuple(
        Column(c.name, i, c.role, c.type or "category", True, c.low, c.high, c.values)
        for i, c in enumerate(column for column in policy.columns if column.is_published)
    )
    return Catalog(policy.dataset, 0, policy.title, policy.k, 0, columns, policy_hash=policy.hash)
