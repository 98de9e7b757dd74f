"""The accepted corpus, answered from every engine: what is rendered is the same, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from querygate.core import types
from querygate.core.answer_forms.arrow_table import to_arrow_stream
from querygate.core.errors import Refusal
from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.gate.query_state import Gate
from querygate.gate.render import make_body, to_csv, to_json
from querygate.site.open_gate import OpenSite
from tests.adapters.engines import OTHERS, Engine
from tests.adapters.published import PATIENT
from tests.policies import Column, make_column, make_policy
from tests.sql.study import CATALOG, CITIES, ROWS, Sample, samples
from tests.unit.custody.publish.publications import RESEARCHER, new_site, put

GRIDS = {"age": 1, "sbp": 1, "weight": 0.1, "born": 365, "pulse": 2**53}
SAMPLES = samples("accepted")


def declared(told: types.Column) -> Column:
    """A column as the study declares it."""
    if not told.is_numeric:
        return make_column(told.role, told.type)
    domain = ("1860-06-27", "2024-10-04") if told.type == "date" else (told.low, told.high)
    return make_column(told.role, told.type, domain, grid=GRIDS[told.name])


POLICY = make_policy(CATALOG.dataset, {told.name: declared(told) for told in CATALOG.columns}, k=CATALOG.k)
PULSE = make_column("sensitive", "integer", (-(2**49), 2**49), grid=2**40)
"""Views need sums that doubles hold exactly."""

STORES = {
    "classes": POLICY,
    "views": POLICY.but(
        k=3,
        views={"linked": [["sbp", "smoker"]]},
        columns={told.name: declared(told) for told in CATALOG.columns} | {"pulse": PULSE},
    ),
}


def published_study(store: str, folder: Path) -> OpenSite:
    opened = new_site(folder)
    columns = {column.name: [row[column.name] for row in ROWS] for column in CATALOG.columns}
    if store == "views":
        columns["pulse"] = [value // 2**13 for value in columns["pulse"]]
    put(opened, STORES[store], columns)
    return opened


@pytest.fixture(params=STORES, scope="module")
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    return published_study(request.param, tmp_path_factory.mktemp(request.param))


def rendered(gate: Gate, sql: str) -> list[bytes] | str:
    """The answer in the formats in which it leaves the gate, or the code of its refusal."""
    try:
        body = make_body(answer(Request(RESEARCHER, CATALOG.dataset, sql), gate))
    except Refusal as refusal:
        return refusal.code
    body |= {"query_id": "", "elapsed_ms": 0}
    return [to_json(body), to_csv(body), to_arrow_stream(body)]


def answered_otherwise(study: OpenSite, engine: Engine, asked: Sequence[Sample]) -> tuple[list[str], int]:
    """Statements that this engine answers in other bytes than the first, and how many are answered at all."""
    other = engine.gate(study)
    first, second = (study.store.current(CATALOG.dataset), other.store.current(CATALOG.dataset))
    assert first.catalog == second.catalog
    wrong, answered = [], 0
    for sample in asked:
        mine = rendered(study.gate, sample.sql)
        answered += isinstance(mine, list)
        if rendered(other, sample.sql) != mine:
            wrong.append(sample.where)
    return wrong, answered


@pytest.mark.parametrize("engine", OTHERS)
def test_accepted_statements_are_answered_alike(study: OpenSite, engine: Engine) -> None:
    """A part of them; all of them in `make soak ONLY=conformance`."""
    asked = SAMPLES[:: 90 if engine.slow else 15]
    wrong, answered = answered_otherwise(study, engine, asked)
    assert wrong == []
    assert answered > 0.8 * len(asked)


@pytest.mark.parametrize("study", ["classes"], indirect=True)
def test_the_study_has_what_engines_could_confuse(study: OpenSite) -> None:
    """Ends beyond 2**53, ends that are no round binary numbers, missing values, and texts a collation reorders."""
    block = study.store.current(CATALOG.dataset).project([c.name for c in CATALOG.columns], PATIENT)
    assert max(abs(block.number("pulse").low).max(), block.number("pulse").high.max()) > 2**53
    assert any(value != round(value, 0) for value in block.number("weight").low.tolist())
    assert {0, 2} <= set(block.number("sbp").null.tolist())
    assert list(CITIES) == sorted(CITIES) != sorted(CITIES, key=str.lower)
