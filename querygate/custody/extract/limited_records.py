"""Limited data sets (45 CFR 164.514(e)): unchanged records without the 16 direct identifiers.

Dates, ages, towns and ZIP codes are released unchanged, so somebody with a register can find most records; what
protects people is the data use agreement, without which no reviewer can approve one. The policy has to allow it with a
table [limited_data_set]. A column that looks like one of the sixteen is not released; if the custodian has checked that
it is not one, the policy lists it in `checked`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.custody.extract import reviewer_figures
from querygate.custody.extract.class_columns import columns_of
from querygate.custody.extract.k_anonymous import RecordReader
from querygate.custody.extract.limited_check import check_limited
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.policy import Policy
from querygate.custody.risk_report.code_table import text_codes
from querygate.custody.verify.diversity_check import GuaranteeCheck
from querygate.methods.anonymise import partition_check
from querygate.methods.policy_search import DIRECT, find_direct
from querygate.methods.risk import class_labels

WORDS = (
    "This is a limited data set: direct identifiers were left out, and everything else is as recorded. It is still "
    "protected health information, and may be used only as the data use agreement allows."
)


def check_allowed(policy: Policy) -> None:
    """ExtractRefused QG605 if the custodian has not allowed it, or a column is one of the sixteen."""
    if policy.limited is None:
        raise ExtractRefused(
            "QG605",
            "The policy has no table [limited_data_set], so it does not allow limited data sets.",
            "Request another kind of extract, or ask the custodian to publish with a policy that allows it.",
        )
    for column in out_of(policy):
        found = find_direct(column.name)
        if found is not None and column.name not in policy.limited.checked:
            raise ExtractRefused(
                "QG605",
                f"{column.name} looks like one of the 16 direct identifiers ({found.place}, {found.kind}), which no "
                "limited data set has.",
                "Leave out the column. If it is something else, the custodian lists it in limited_data_set.checked.",
            )


def make_limited(
    policy: Policy, rows: RecordReader, where: str, draw: Callable[[str], np.random.Generator]
) -> tuple[ProtectedRecords, dict[str, Any]]:
    """The selected records, in random order, and their risk without an agreement."""
    check_allowed(policy)
    out = list(out_of(policy))
    source = rows.selected(where)
    with source.reading():
        raw: pa.Table = source.batches([column.name for column in out]).read_all()
    if not raw.num_rows:
        raise ExtractRefused("QG605", "The request selects no records.", "Select more records.")
    raw = raw.take(pa.array(draw("order").permutation(raw.num_rows)))
    fields, arrays, usable = columns_of(out, {}, raw, np.zeros(0, dtype=np.int64))
    table = pa.table(dict(zip([field.name for field in fields], arrays, strict=True)))
    check_limited(table, policy.limited.checked if policy.limited else ())
    quasi = [column.name for column in policy.named("quasi-identifier")]
    classes = class_labels(np.stack([text_codes(raw[name])[1] for name in quasi], axis=1))
    protected = ProtectedRecords(
        kind="limited",
        method="as they are",
        k=partition_check.smallest_class(classes),
        table=table,
        raw=raw,
        usable=pa.table(usable),
        classes=classes,
        fields=tuple(fields),
        rows=raw.num_rows,
        kept=(GuaranteeCheck("none of the 16 direct identifiers", "columns that are one of them", 0.0, True),),
        parameters={"left_out_by_rule": [one.kind for one in DIRECT]},
    )
    told = reviewer_figures.risk_of_classes(protected, policy, None)
    return protected, {**told, "words": [WORDS, *told["words"]]}
