"""What release extracts and same-disease files share: records at public cells of the policy, in random order.

Both look records up in the population that the policy names, and neither makes classes of k itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.extracts.extract_spec import A_KIND, Kind, invalid
from querygate.core.types import Ints
from querygate.custody.columns.population import Population
from querygate.custody.extract.class_columns import ClassColumn, classes_seen, columns_of, count_strays, sides_seen
from querygate.custody.extract.k_anonymous import RecordReader
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.policy import ColumnPolicy, Policy, ReleasePolicy
from querygate.custody.publish.coded_rows import code, load
from querygate.custody.publish.partition import quasi_identifiers, read_table, with_classes, with_loss
from querygate.custody.publish.step_state import PublicationState, Step
from querygate.methods.anonymise import loss_by_attribute, partition_check


def check_looked_up(policy: Policy, kind: Kind, named: frozenset[str]) -> None:
    """Refuse conditions on quasi-identifiers: they would reveal about all records what is hidden about each."""
    if policy.release is None:
        raise ExtractRefused(
            "QG605",
            f"The policy has no table [release], which sets the risk of {A_KIND[kind]}.",
            "Request a k-anonymous extract, or ask the custodian to publish the dataset with a policy that has "
            "[release].",
        )
    told = sorted(named & {column.name for column in policy.named("quasi-identifier")})
    if told:
        raise invalid(
            "where", f"{A_KIND[kind]} cannot have a condition on {told[0]}: it would reveal more than its cells"
        )


def looked_up(policy: Policy, register: Population | None) -> tuple[ReleasePolicy, Population, list[ColumnPolicy]]:
    """The policy's rules, the population, and the quasi-identifiers to be released that it has."""
    if policy.release is None or register is None:
        raise ExtractRefused("QG605", "The policy names no population to look up records in.", "Name one in [release].")
    linked = [column for column in policy.named("quasi-identifier") if column.name in register.values]
    if not linked:
        raise invalid("columns", "none of them is in the population", *register.values)
    return policy.release, register, linked


def lay_into_cells(state: PublicationState, rows: RecordReader, where: str) -> PublicationState:
    """Read and code the selected records. Every combination of cells is a class of its own."""
    try:
        state = load(state, rows.selected(where))
    except ConfigError as problem:
        if problem.code != "QG803":
            raise
        raise ExtractRefused("QG605", "The request selects no records.", "Select more records.") from None
    state = code(state)
    state.progress.begin(Step.DIVIDE, "assigning records to cells")
    state.staging.prepare([column.name for column in quasi_identifiers(state.policy)], [])
    state, table = read_table(state, by_record=False)
    state = with_classes(state, table, np.arange(table.counts.size, dtype=np.int64))
    return with_loss(state, loss_by_attribute(table, state.labels, state.boxes))


def drawn_members(state: PublicationState, draw: Callable[[str], np.random.Generator]) -> pa.Table:
    """The raw records with their classes, shuffled: the order of their values would distinguish them."""
    members = state.staging.members([column.name for column in out_of(state.policy)], [])
    return members.take(pa.array(draw("order").permutation(members.num_rows)))


def check_strays(published: Mapping[str, ClassColumn], members: pa.Table, classes: Ints) -> None:
    """Check that no record has a value outside its published one."""
    strays = count_strays(published, members, classes)
    if strays:
        raise ExtractRefused(
            "QG605",
            f"The extract does not keep its guarantee: {counted(strays, 'value is', 'values are')} wrong.",
            "Nothing was written. Report this fault to the makers of QueryGate.",
        )


def made_of(
    state: PublicationState,
    members: pa.Table,
    published: dict[str, ClassColumn],
    classes: Ints,
    *,
    kind: Kind,
    method: str,
    loss: Mapping[str, float],
) -> ProtectedRecords:
    """The released records: the published form of each one's class, checked against its values."""
    out = list(out_of(state.policy))
    fields, arrays, usable = columns_of(out, published, members, classes)
    table = pa.table(dict(zip([field.name for field in fields], arrays, strict=True)))
    check_strays(published, members, classes)
    seen = classes_seen(table, fields, published)
    return ProtectedRecords(
        kind=kind,
        method=method,
        k=partition_check.smallest_class(seen),
        table=table,
        raw=members.select([column.name for column in out]),
        usable=pa.table(usable),
        classes=seen,
        fields=tuple(fields),
        rows=state.rows,
        loss=loss,
        sides=sides_seen(published, classes, seen),
    )


def of_classes(classes: Ints, matches: Ints) -> Ints:
    """The people who match each class."""
    found = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    found[classes] = matches
    return found
