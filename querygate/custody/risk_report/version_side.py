"""A published version as a side: what its cells show of the class of each raw record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from querygate.core.types import Array, Arrays, Column, Ints
from querygate.custody.columns.population import Population
from querygate.custody.policy import Policy
from querygate.custody.risk_report.extract_side import ColumnAllowance, TextSide, box_counting
from querygate.custody.risk_report.known_texts import published_texts
from querygate.custody.risk_report.sides import DiseaseScope, Side, at_stake, linked_names, sensitive_of, stacked
from querygate.custody.verify.verify import Written
from querygate.methods.risk import class_labels


def published_side(
    policy: Policy,
    written: Written,
    raw: pa.Table,
    classes: Ints,
    population: Population | None,
    disease: DiseaseScope | None,
) -> Side:
    """The raw records as the store shows them; record i is in class `classes[i]`.

    The store shows sensitive columns more widely than the raw values used here: an attacker who knows a class is given
    the benefit of the doubt.
    """
    catalog = written.catalog()
    quasi = [column for column in catalog.columns if column.role == "quasi-identifier"]
    cells = written.cells([column.index for column in quasi])
    cell_of = np.zeros(int(np.max(cells["class"])) + 1, dtype=np.int64)
    cell_of[cells["class"]] = np.arange(len(cells["class"]))
    at = cell_of[classes]
    told = [_told(column, cells, written) for column in quasi]
    told = [ColumnAllowance(one.name, one.codes[at], one.sides) for one in told]
    codes = stacked([one.codes for one in told], classes.size)
    counting = None if population is None else box_counting(told, population)
    names = tuple(one.name for one in told)
    sensitive, stake = sensitive_of(policy, raw), at_stake(policy, raw, disease)
    texts = published_texts(policy, catalog, cells, classes)
    return Side(names, codes, sensitive, counting, linked_names(names, population), at_stake=stake, texts=texts)


def _told(column: Column, cells: Arrays, written: Written) -> ColumnAllowance:
    """What each cell shows of a column, counting everything the store has about it."""
    stem = f"c{column.index}_"
    found = {name: np.ma.asarray(values) for name, values in cells.items() if name.startswith(stem)}
    codes = class_labels(np.stack([_places(values) for values in found.values()], axis=1))
    first = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes] = np.arange(codes.size)
    sides: list[TextSide]
    if column.is_numeric:
        low, high = found[f"{stem}lo"][first], found[f"{stem}hi"][first]
        known = ~np.ma.getmaskarray(low)
        ends = zip(low.data.tolist(), high.data.tolist(), known.tolist(), strict=True)
        sides = [(float(one), float(other)) if is_known else None for one, other, is_known in ends]
    else:
        members: dict[int, set[str]] = {}
        set_ids, value_ids, texts = written.sets(column.index)
        for set_id, value_id in zip(set_ids.tolist(), value_ids.tolist(), strict=True):
            if value_id >= 0:
                members.setdefault(set_id, set()).add(texts[value_id])
        wanted = found[f"{stem}set"][first].tolist()
        sides = [frozenset(members[set_id]) if set_id in members else None for set_id in wanted]
    return ColumnAllowance(column.name, codes, sides)


def _places(values: Array) -> Ints:
    """A number for each value, a masked one among them."""
    places = np.unique(np.ma.getdata(values), return_inverse=True)[1].reshape(-1)
    return np.where(np.ma.getmaskarray(values), -1, places).astype(np.int64)
