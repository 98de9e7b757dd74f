"""The automated attacker on a survey that is published as views: no value becomes certain, and no small group is seen.

And answers are functions of the store: two tables of which the same is published give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.gate.render import make_body, to_json
from querygate.site.open_gate import OpenSite
from tests.attack.pressed_survey import (
    BIN,
    POLICY,
    Ask,
    Known,
    People,
    Rows,
    draw_targets,
    load_people,
    on_a_plain_database,
    publish_survey,
    through_the_gate,
)
from tests.attack.pressure_measures import figures, press
from tests.policies import declaring
from tests.unit.custody.publish.publications import RESEARCHER, new_site, put
from tests.unit.custody.verify.view_stores import SURVEY, survey

TARGETS, BUDGET, SEED, K = 4, 30, 11, 5
VIEWS = {"mode": "spanning", "spanning": [["age", "gender", "race"], ["age", "gender", "education"]]}


@dataclass
class Watched:
    """Asks, and keeps what is told of counts where nothing but quasi-identifiers was asked for."""

    ask: Ask
    counts: list[tuple[str, float, float]]

    def __call__(self, sql: str) -> Rows | None:
        rows = self.ask(sql)
        if "sbp >" not in sql and "sbp //" not in sql:
            for row in rows or ():
                told = row.get("n")
                if isinstance(told, tuple):
                    self.counts.append((sql, told[0], told[1]))
        return rows


@dataclass(frozen=True)
class Pressed:
    people: People
    targets: list[int]
    from_answers: list[Known]
    counts: list[tuple[str, float, float]]


def young(people: People) -> People:
    """Those between 20 and 39, so that there is less to publish."""
    chosen = (people.age >= 20) & (people.age < 40)
    categories = {
        name: [value for value, is_chosen in zip(values, chosen, strict=True) if is_chosen]
        for name, values in people.categories.items()
    }
    return People(people.age[chosen], categories, people.sbp[chosen], people.inside[chosen])


@pytest.fixture(scope="module")
def pressed(tmp_path_factory: pytest.TempPathFactory) -> Pressed:
    rng = np.random.default_rng(SEED)
    people = young(load_people(rng))
    targets = draw_targets(people, TARGETS, rng)
    policy = declaring(POLICY.but(columns={"age": {"cuts": [25, 30, 35]}}, views=VIEWS), people.categories)
    opened = publish_survey(people, tmp_path_factory.mktemp("survey"), policy)
    watched = Watched(through_the_gate(opened), [])
    return Pressed(people, targets, press(people, targets, watched, BUDGET, SEED), watched.counts)


def test_what_is_proved_is_true_and_no_value_is_certain(pressed: Pressed) -> None:
    for target, one in zip(pressed.targets, pressed.from_answers, strict=True):
        assert one.inside in (None, pressed.people.inside[target])
        if pressed.people.inside[target]:
            assert one.low <= pressed.people.sbp[target] <= one.high
            assert one.high - one.low >= 2 * BIN - 1  # two bins at least are left


def test_no_count_tells_of_fewer_than_k_people(pressed: Pressed) -> None:
    assert len(pressed.counts) > BUDGET / 2
    assert [sql for sql, low, high in pressed.counts if low == high and 0 < low < K] == []


def test_the_same_attacker_finds_them_on_a_plain_database(pressed: Pressed) -> None:
    """Which shows that the tests above can fail."""
    found = press(pressed.people, pressed.targets, on_a_plain_database(pressed.people), BUDGET, SEED)
    assert figures(pressed.people, pressed.targets, found).width.min() < 1


# -- twins -------------------------------------------------------------------------------------------------------------

ASKED = (
    "SELECT COUNT(*) FROM t",
    "SELECT sex, COUNT(*), AVG(sbp), AVG(bmi), MEDIAN(sbp) FROM t GROUP BY sex",
    "SELECT race, AVG(bmi), STDDEV(sbp) FROM t WHERE age BETWEEN 23 AND 37 GROUP BY race",
    "SELECT COUNT(*) FROM t WHERE race = 'a' AND school = 'low'",
    "SELECT COUNT(*) FROM t WHERE ill = 'yes' AND age < 41",
    "SELECT MIN(sbp), MAX(sbp), SUM(sbp) FROM t WHERE sbp > 117",
    "SELECT school, ill, COUNT(*) FROM t GROUP BY school, ill",
)


def twin(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Another table: whoever is alike in all that is known exchange everything else, each column by itself."""
    known = list(zip(*(columns[name] for name in ("age", "sex", "race", "school")), strict=True))
    places: dict[Any, list[int]] = {}
    for place, own in enumerate(known):
        places.setdefault(own, []).append(place)
    made = {name: list(values) for name, values in columns.items()}
    for turn, name in enumerate(("sbp", "bmi", "ill")):
        for alike in places.values():
            for place, other in zip(alike, [*alike[turn + 1 :], *alike[: turn + 1]], strict=False):
                made[name][place] = columns[name][other]
    return made


def bodies(opened: OpenSite) -> list[bytes]:
    found = []
    for sql in ASKED:
        body = make_body(answer(Request(RESEARCHER, "t", sql), opened.gate))
        found.append(to_json(body | {"query_id": "", "elapsed_ms": 0}))
    return found


def test_two_tables_of_which_the_same_is_published_give_the_same_bytes(tmp_path: Path) -> None:
    columns = survey(300)
    other = twin(columns)
    assert sum(a != b for a, b in zip(columns["sbp"], other["sbp"], strict=True)) > 20
    answers = []
    for place, rows in enumerate((columns, other)):
        (tmp_path / str(place)).mkdir()
        opened = new_site(tmp_path / str(place))
        put(opened, SURVEY, rows)
        answers.append(bodies(opened))
    assert answers[0] == answers[1]
    changed = columns | {"sbp": [None if value is None else min(value + 30, 299) for value in columns["sbp"]]}
    (tmp_path / "changed").mkdir()
    opened = new_site(tmp_path / "changed")
    put(opened, SURVEY, changed)
    assert bodies(opened) != answers[0]  # they do depend on what is published
