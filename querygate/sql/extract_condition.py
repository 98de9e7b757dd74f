"""The condition that selects the records of an extract: read and worded by the gate, never run as it was written."""

from __future__ import annotations

from querygate.core.errors import ExtractRefused, Refusal
from querygate.core.extract_spec import invalid
from querygate.core.ports import Native
from querygate.core.types import Catalog, folded
from querygate.sql.noisy_plan import understand_noisy


def read_condition(where: str, catalog: Catalog, native: Native) -> tuple[str, frozenset[str]]:
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
    if plan.terms or len(plan.releases) != 1 or asked.orders or asked.offset or asked.limit is not None:
        raise ExtractRefused("QG604", "where: must be a single condition.", "Correct where in the request.")
    return plan.where, asked.columns
