"""An automated attacker on a survey: through the gate it proves nothing that the published classes do not tell.

The same attacker finds out everybody on a plain database that answers exactly about five records and more. This is the
short form; `make soak ONLY=pressure` asks 10,000 statements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.attack.pressed_survey import (
    Classes,
    Known,
    People,
    draw_targets,
    load_people,
    on_a_plain_database,
    publish_survey,
    through_the_gate,
)
from tests.attack.pressure_measures import (
    advantage_at_membership,
    advantage_at_values,
    figures,
    more_than_published,
    press,
)

TARGETS, BUDGET, SEED = 8, 36, 7


@dataclass(frozen=True)
class Pressed:
    people: People
    targets: list[int]
    from_classes: list[Known]
    from_answers: list[Known]
    without_a_gate: list[Known]

    def found(self, known: list[Known], target: int) -> Known:
        return known[self.targets.index(target)]


@pytest.fixture(scope="module")
def pressed(tmp_path_factory: pytest.TempPathFactory) -> Pressed:
    rng = np.random.default_rng(SEED)
    people = load_people(rng)
    targets = draw_targets(people, TARGETS, rng)
    opened = publish_survey(people, tmp_path_factory.mktemp("survey"))
    classes = Classes(opened, people)
    return Pressed(
        people,
        targets,
        [classes.about(target) for target in targets],
        press(people, targets, through_the_gate(opened), BUDGET, SEED),
        press(people, targets, on_a_plain_database(people), BUDGET, SEED),
    )


def test_answers_prove_nothing_that_the_classes_do_not(pressed: Pressed) -> None:
    assert more_than_published(pressed.people, pressed.targets, pressed.from_answers, pressed.from_classes) == []


def test_what_is_proved_is_true(pressed: Pressed) -> None:
    people = pressed.people
    for known in (pressed.from_classes, pressed.from_answers, pressed.without_a_gate):
        for target, one in zip(pressed.targets, known, strict=True):
            assert one.inside in (None, people.inside[target])
            if people.inside[target]:
                assert one.low <= people.sbp[target] <= one.high


def test_guesses_from_answers_are_no_better_than_from_classes(pressed: Pressed) -> None:
    asking, reading = (
        figures(pressed.people, pressed.targets, known) for known in (pressed.from_answers, pressed.from_classes)
    )
    gain, chance = advantage_at_values(asking, reading)
    assert gain <= chance
    gain, chance = advantage_at_membership(asking, reading, SEED)
    assert gain <= chance


def test_without_the_gate_the_same_attacker_finds_everybody(pressed: Pressed) -> None:
    """Which shows that the tests above can fail."""
    found = figures(pressed.people, pressed.targets, pressed.without_a_gate)
    assert found.near.all()
    assert (found.width < 1).all()
    assert found.proved == TARGETS
    assert more_than_published(pressed.people, pressed.targets, pressed.without_a_gate, pressed.from_classes)
