"""What somebody asks for in a request, read and checked against the dataset."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from querygate.core.extracts.approval_states import is_text
from querygate.core.extracts.extract_checks import check_wish
from querygate.core.extracts.extract_spec import ExtractSpec, invalid
from querygate.core.ports import Native
from querygate.core.rights import GrantBook
from querygate.core.types import Catalog, Principal, folded
from querygate.gate.grant_check import EXTRACT, check_granted
from querygate.sql.extract_condition import read_condition


def read_wish(
    by: Principal, body: Mapping[str, Any], catalog_of: Callable[[str], Catalog], grants: GrantBook, native: Native
) -> ExtractSpec:
    """Of a dataset that they may ask for, columns that it has, and a condition that can be read."""
    spec = ExtractSpec.of(body)
    check_granted(by, spec.dataset, EXTRACT, grants)
    if not is_text(json.dumps(spec.to_dict(), ensure_ascii=False)):
        raise invalid("purpose", "must be valid Unicode, like all other keys")
    catalog = catalog_of(spec.dataset)
    apart, made = ({folded(name) for name in names} for names in (catalog.in_extracts, catalog.flags))
    for name in spec.columns:
        if (catalog.column(name) is None and folded(name) not in apart) or folded(name) in made:
            own = (column.name for column in catalog.columns if folded(column.name) not in made)
            raise invalid("columns", f"{name[:63]} is not a column", *own, *catalog.in_extracts)
    wanted = {folded(name) for name in spec.columns} or {folded(column.name) for column in catalog.columns}
    check_wish(spec, {column.name: column.type for column in catalog.columns if folded(column.name) in wanted})
    read_condition(spec.where, catalog, native)
    return spec
