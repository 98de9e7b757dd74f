"""No form of statement tells more of one person than its epsilon, measured; and with too little noise it would."""

from __future__ import annotations

import pytest

from tests.attack.noisy_forms import EPSILON, FORMS, LOUD, Pair, make_pair

RELEASES = 2_500


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("forms"))


@pytest.mark.parametrize("form", FORMS)
def test_no_form_tells_more_than_its_epsilon(form: str, pair: Pair) -> None:
    assert pair.epsilon(FORMS[form], RELEASES) <= EPSILON


@pytest.mark.parametrize("form", LOUD)
def test_with_noise_for_one_row_of_three_it_would(form: str, pair: Pair) -> None:
    assert pair.epsilon(FORMS[form], RELEASES, rows=1) > EPSILON
