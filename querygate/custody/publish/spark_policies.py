"""Which policies can be published inside Spark: those whose classes and guarantees need no record by itself."""

from __future__ import annotations

from collections.abc import Iterator

from querygate.core.errors import ConfigError
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.method_choice import is_measured
from querygate.custody.publish.partition import may_be_parted, parted_method, quasi_identifiers
from querygate.custody.publish.sensitive_numbers import PER_CLASS

ON_RAW_VALUES = frozenset({"ke", "em", "personalised", "mined"})
"""Guarantees that are measured on raw values of records."""


def check_spark_policy(policy: Policy) -> None:
    """ConfigError QG803 with everything that a publication inside Spark does not offer."""
    found = [*_of_whole(policy), *(f"{column.name}: {why}" for column in policy.columns for why in _of(column))]
    if found:
        raise ConfigError(
            "QG803",
            f"A publication inside Spark does not offer: {'; '.join(found)}.",
            "Leave out --vault: the same source is then published in the site's own vault.",
        )


def _of_whole(policy: Policy) -> Iterator[str]:
    if policy.views is not None:
        yield "views"
    elif not quasi_identifiers(policy):
        yield "a policy without quasi-identifiers"
    elif policy.k_map or is_measured(policy):
        yield "classes that are compared with a population, or whose ranges are measured (k_map, statistics, max_width)"
    elif not may_be_parted(policy):
        yield "classes that are made of all records at once (largest_k, codes within classes)"
    elif parted_method(policy).by_record:
        yield f'anonymise.method = "{policy.anonymise.method}", which separates equal records'
    if policy.anonymise.largest_k:
        yield "anonymise.largest_k"
    if policy.anonymise.target:
        yield "anonymise.target"
    if policy.anonymise.class_moments != "none":
        yield "anonymise.class_moments"
    if policy.joins or policy.events:
        yield "other tables, which Spark can join in a view of its own"
    if policy.noise is not None or policy.answers.noisy_only:
        yield "noisy answers"
    if policy.audit.on_differencing != "alert":
        yield f'audit.on_differencing = "{policy.audit.on_differencing}", which looks up records for each question'


def _of(column: ColumnPolicy) -> Iterator[str]:
    if column.codes is not None or column.of_codes is not None:
        yield "codes"
    if column.rare:
        yield "rare values that become a group"
    if column.is_in_extracts:
        yield "a column for extracts"
    for wanted in column.diversity:
        if wanted.kind in ON_RAW_VALUES or (wanted.kind == "range" and column.is_numeric):
            yield f"diversity {wanted.kind}, which is measured on raw values"
        elif column.carry in PER_CLASS:
            yield f"diversity of a number that is carried as a {column.carry}"
