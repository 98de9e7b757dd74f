"""The accepted corpus, answered from every engine: what is rendered is the same, byte for byte."""

from __future__ import annotations

import pytest

from querygate.core import types
from querygate.core.answer_forms.arrow_table import to_arrow_stream
from querygate.core.errors import Refusal
from querygate.core.ports import Limits
from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.gate.passage import Gate
from querygate.gate.render import make_body, to_csv, to_json
from querygate.site.open_gate import OpenSite
from tests.adapters.engines import ENGINES, Engine
from tests.policies import Column, make_column, make_policy
from tests.sql.study import CATALOG, CITIES, ROWS, samples
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


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("study"))
    put(opened, POLICY, {column.name: [row[column.name] for row in ROWS] for column in CATALOG.columns})
    return opened


def rendered(gate: Gate, sql: str) -> list[bytes] | str:
    """The answer in the formats in which it leaves the gate, or the code of its refusal."""
    try:
        body = make_body(answer(Request(RESEARCHER, CATALOG.dataset, sql), gate))
    except Refusal as refusal:
        return refusal.code
    body |= {"query_id": "", "elapsed_ms": 0}
    return [to_json(body), to_csv(body), to_arrow_stream(body)]


@pytest.mark.parametrize("engine", ENGINES[1:], ids=lambda engine: engine.name)
def test_accepted_statements_are_answered_alike(study: OpenSite, engine: Engine) -> None:
    """Every ninth of them: what engines give to compute from is compared bit by bit in the conformance suite."""
    other = engine.gate(study)
    assert other.store.current(CATALOG.dataset).catalog == study.store.current(CATALOG.dataset).catalog
    first, second = (
        {sample.where: rendered(gate, sample.sql) for sample in SAMPLES[::9]} for gate in (study.gate, other)
    )

    assert [where for where in first if first[where] != second[where]] == []
    assert sum(isinstance(found, list) for found in first.values()) > 0.9 * len(first)


def test_the_study_has_what_engines_could_confuse(study: OpenSite) -> None:
    """Ends beyond 2**53, ends that are no round binary numbers, missing values, and texts a collation reorders."""
    block = study.store.current(CATALOG.dataset).project([c.name for c in CATALOG.columns], Limits())
    assert max(abs(block.number("pulse").low).max(), block.number("pulse").high.max()) > 2**53
    assert any(value != round(value, 0) for value in block.number("weight").low.tolist())
    assert {0, 2} <= set(block.number("sbp").null.tolist())
    assert list(CITIES) == sorted(CITIES) != sorted(CITIES, key=str.lower)
