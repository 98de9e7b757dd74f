"""CBA: what sets it apart. It joins only what helps, and suppresses no more than needed."""

from __future__ import annotations

import numpy as np

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.cba import cba
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.supports import Supports
from querygate.methods.code_lists.ugaclip import ugaclip
from tests.bench.codes import Setting, anonymise, synpuf
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.case_counts import surviving
from tests.unit.methods.code_lists.violations import violations
from tests.unit.methods.code_lists.worlds import from_visits, world


def test_joining_without_gain_is_left_out():
    """Even as one item, codes 0 and 1 would leave {0, 2} with one record: code 1 is spared."""
    baskets = Baskets.of([[0, 2], [1], [1], [1], [2], [2], [2]], size=3)
    policy, groups = CodePrivacy(((0, 2),)), CodeUtility(((0, 1),))
    assert ugaclip(baskets, 2, policy, groups).groups() == [(2,)]
    assert cba(baskets, 2, policy, groups).groups() == [(1,), (2,)]


@each("residue", [True, False])
@each("seed", seeds(40))
def test_no_suppressed_code_could_be_published(seed, residue):
    made = world(seed)
    policy = from_visits(made.baskets.lists(), residue=residue)
    items = cba(made.baskets, made.k, policy, CodeUtility())
    assert violations(made.baskets, items, policy, made.k) == ()
    for code in np.flatnonzero(items.of == SUPPRESSED).tolist():
        more = items.of.copy()
        more[code] = items.number
        assert violations(made.baskets, Items(more), policy, made.k)


def test_a_needless_suppression_is_taken_back():
    """{0, 1} first loses code 1, the rarer; {0, 2} then loses code 0, and code 1 does no harm any more."""
    baskets = Baskets.of([[0, 1], [0, 2], *[[1]] * 2, *[[0]] * 3, *[[2]] * 6], size=3)
    policy = CodePrivacy(((0, 1), (0, 2))).literal()
    assert cba(baskets, 2, policy, CodeUtility()).groups() == [(1,), (2,)]
    assert ugaclip(baskets, 2, policy, CodeUtility()).groups() == [(2,)]


@each("seed", seeds(30))
def test_supports_kept_up_to_date_are_those_of_the_published_records(seed):
    made = world(seed)
    items = cba(made.baskets, made.k, made.privacy, made.utility)
    supports = Supports(made.baskets)
    for codes in items.groups():
        for code in codes[1:]:
            supports.merge(codes[0], code)
    expected = items.publish(made.baskets).supports()[: items.number]
    assert [supports.support(codes[0]) for codes in items.groups()] == expected.tolist()


def test_visits_of_a_hospital():
    """Real size: each of 5,755 different visits is safe by the brute-force checker, which `anonymise` asks."""
    study = synpuf()
    items, _ = anonymise(study, Setting("residue", 5, "diseases", "cba"))
    kept = [one.name for one in surviving(study.baskets, items, study.diseases)]
    assert kept == ["Coronary disease", "Diabetes mellitus type 2"]
    assert violations(study.baskets, items, from_visits(study.visits), 5) == ()
