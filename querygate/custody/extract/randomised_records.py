"""Randomised records: every record stays, and each of its values may be replaced at random.

*randomised-response* prevents a belief of at most rho1 from becoming one above rho2, whatever somebody knows about the
other columns: the allowed amplification is divided among the released columns. *pram* and *rank-swap* have no such
guarantee, so the policy has to name them. Values are public cells, as in noisy synthetic tables: a declared value, an
equal part of the domain, or missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.custody.extract import reviewer_figures
from querygate.custody.extract.k_anonymous import RecordReader
from querygate.custody.extract.protected_records import Field, ProtectedRecords
from querygate.custody.extract.randomised_check import check_randomised
from querygate.custody.extract.randomised_columns import RandomisedColumn, randomised_column
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.noisy_models.public_design import PublicColumn
from querygate.custody.policy import Policy, RandomisedPolicy
from querygate.custody.risk_report.code_table import text_codes
from querygate.custody.verify.diversity_check import GuaranteeCheck
from querygate.methods.anonymise import partition_check
from querygate.methods.randomise import allowed_amplification, reconstructed
from querygate.methods.risk import class_labels

PROMISING = ("randomised-response", "distortion", "small-domain")
"""Methods that promise something of beliefs."""

Draw = Callable[[str], np.random.Generator]


def make_randomised(
    policy: Policy, rows: RecordReader, where: str, method: str, draw: Draw
) -> tuple[ProtectedRecords, dict[str, Any]]:
    """The selected records, randomised by the method (by default the policy's first), and their risk."""
    wanted, method = _allowed(policy, method)
    if where and method in PROMISING:
        raise ExtractRefused(
            "QG605",
            f"Records by {method} promise the same to everybody, and a condition on true values would break that: how "
            "many records it selects would be exact.",
            "Request all records without a condition, and select among the randomised ones.",
        )
    out = list(out_of(policy))
    public = [PublicColumn.of(column) for column in out]
    source = rows.selected(where)
    with source.reading():
        raw: pa.Table = source.batches([column.name for column in out]).read_all()
    if raw.num_rows < policy.k:
        raise ExtractRefused(
            "QG605", f"The request selects fewer than k = {policy.k} records.", "Select more records, or lower k."
        )
    raw = raw.take(pa.array(draw("order").permutation(raw.num_rows)))
    gamma = allowed_amplification(wanted.rho1, wanted.rho2) ** (1 / len(public))
    columns = [randomised_column(raw, one, method, wanted, gamma, draw(f"values {one.name}")) for one in public]
    table = pa.table({one.public.name: one.values for one in columns})
    kept = check_randomised(
        [(one.public, one.before, one.after, one.matrix) for one in columns], raw, table, method, wanted
    )
    quasi = [column.name for column in policy.named("quasi-identifier")]
    classes = class_labels(np.stack([text_codes(table[name])[1] for name in quasi or table.column_names], axis=1))
    protected = ProtectedRecords(
        kind="randomised",
        method=method,
        k=partition_check.smallest_class(classes),
        table=table,
        raw=raw,
        usable=table,
        classes=classes,
        fields=tuple(_field(one.public, policy) for one in columns),
        rows=raw.num_rows,
        kept=kept,
        parameters=_parameters(columns, method, wanted, gamma),
    )
    return protected, _risk(protected, policy, columns, kept)


def _allowed(policy: Policy, method: str) -> tuple[RandomisedPolicy, str]:
    wanted = policy.randomised
    if wanted is None:
        raise ExtractRefused(
            "QG605",
            "The policy has no table [randomised], so it does not allow randomised records.",
            "Request another kind of extract, or ask the custodian to publish with a policy that allows it.",
        )
    if method and method not in wanted.methods:
        raise ExtractRefused(
            "QG605", f"The policy does not allow {method}.", f"Request one of {', '.join(wanted.methods)}."
        )
    usual = "randomised-response" if "randomised-response" in wanted.methods else wanted.methods[0]
    return wanted, method or usual


def _field(column: PublicColumn, policy: Policy) -> Field:
    return Field(
        column.name, column.name, f"{column.name}, randomised", policy.column(column.name).title, column.values
    )


def _parameters(columns: list[RandomisedColumn], method: str, wanted: RandomisedPolicy, gamma: float) -> dict[str, Any]:
    """What recipients need to correct their counts. PRAM's shares are of raw records, so they are not published."""
    if method == "rank-swap":
        return {"window": wanted.window}
    told = {one.public.name: {"cells": 0 if one.matrix is None else len(one.matrix), **one.told} for one in columns}
    if method == "pram":
        return {"kept": wanted.kept, "columns": told}
    bound = {} if method == "small-domain" else {"amplification": float(f"{gamma:.9g}")}
    return {"rho1": wanted.rho1, "rho2": wanted.rho2, **bound, "columns": told}


def _risk(
    protected: ProtectedRecords, policy: Policy, columns: list[RandomisedColumn], kept: tuple[GuaranteeCheck, ...]
) -> dict[str, Any]:
    """For reviewers: how often the nearest record is the right one, how many values are unchanged, and how well counts
    are reconstructed."""
    links = reviewer_figures.linkage_by_rows(protected, policy)
    same = np.logical_and.reduce([one.before == one.after for one in columns])
    apart = {}
    for one in columns:
        size = int(max(one.before.max(), one.after.max())) + 1 if one.matrix is None else len(one.matrix)
        truth, seen = (np.bincount(codes, minlength=size) for codes in (one.before, one.after))
        shares = (
            seen / seen.sum() if one.matrix is None else reconstructed(seen, one.matrix, smooth="ratio" in one.told)
        )
        apart[one.public.name] = {
            "released": round(float(np.abs(seen / seen.sum() - truth / truth.sum()).sum() / 2), 4),
            "reconstructed": round(float(np.abs(shares - truth / truth.sum()).sum() / 2), 4),
        }
    promise = "; ".join(one.promise for one in kept)
    return {
        "randomised": {
            "linkage": links.to_dict(),
            "unchanged_records": float(same.mean()),
            "unchanged_values": {one.public.name: float((one.before == one.after).mean()) for one in columns},
            "shares": apart,
        },
        "words": [
            f"Values were randomised record by record. {promise[:1].upper()}{promise[1:]}.",
            f"Somebody who knows all values of a person and takes the nearest record finds the right one for "
            f"{100 * float(links.row or 0):.1f} % of people.",
        ],
    }
