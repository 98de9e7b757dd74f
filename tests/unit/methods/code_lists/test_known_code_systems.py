"""Code systems: trees by hand, the shipped tables, and what normalising makes of codes as people write them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.core.types import Column
from querygate.methods.code_lists.code_spelling import normalise
from querygate.methods.code_lists.code_tree import CodeTree
from querygate.methods.code_lists.known_code_systems import LEVELS, code_tree, headings_of, lines_of, tree_of
from querygate.methods.code_lists.subtrees import Subtrees
from querygate.sql.code_tests import codes_under
from tests.work import count_calls

ROWS = [
    ("295.00", "295", "mental", "*"),
    ("296.00", "296", "mental", "*"),
    ("296.01", "296", "mental", "*"),
    ("401", "heart", "*"),
    ("V10", "*"),
]
TREE = CodeTree.of(ROWS)


def test_a_tree_by_hand() -> None:
    assert TREE.codes == ("295.00", "296.00", "296.01", "401", "V10")
    assert sorted(TREE.groups_at(0)) == [(0,), (1,), (2,), (3,), (4,)]
    assert sorted(TREE.groups_at(1)) == [(0,), (1, 2), (3,), (4,)]
    assert sorted(TREE.groups_at(2)) == [(0, 1, 2), (3,), (4,)]
    assert TREE.groups_at(3) == [(0, 1, 2, 3, 4)]
    assert TREE.ancestors("296.01") == ("296", "mental", "*")
    assert TREE.ancestors("V10") == ("*",)
    assert TREE.height == 3


@pytest.mark.parametrize(
    ("a", "b", "edges"),
    [
        ("296.00", "296.00", 0),
        ("296.00", "296.01", 2),
        ("296.00", "295.00", 4),
        ("296.00", "401", 3 + 2),
        ("401", "V10", 2 + 1),
    ],
)
def test_distance_is_edges_to_the_common_group_over_twice_the_height(a: str, b: str, edges: int) -> None:
    assert TREE.distance(a, b) == TREE.distance(b, a) == edges / 6


def test_a_code_that_is_a_group_is_one_more_code_of_it() -> None:
    tree = tree_of("icd9cm", ["250", "250.01", "250.02", "401.9"])
    assert tree.headings == {"250"}
    assert sorted(tree.groups_at(2)) == [(0, 1, 2), (3,)]
    assert tree.distance("250", "250.01") == 2 / 8  # from the category itself down two edges
    assert tree.distance("250.01", "250.02") == 2 / 8
    column = Column("dx", 0, "codes", "codes", False, values=tree.codes, parents=tree.parents)
    assert codes_under(column, "250") == {"250", "250.01", "250.02"}
    assert codes_under(column, "250.0") == {"250.01", "250.02"}
    assert codes_under(column, "390-459") == {"401.9"}


def test_groups_of_one_name_in_different_groups_are_two() -> None:
    tree = CodeTree.of([("a", "rest", "x", "*"), ("b", "rest", "y", "*")])
    assert sorted(tree.groups_at(1)) == [(0,), (1,)]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "a code and a root"),
        ([("a",)], "a code and a root"),
        ([("a", "*"), ("b", "all")], "one root"),
        ([("a", "x", "*"), ("a", "y", "*")], "one row for each code"),
    ],
)
def test_what_is_no_tree_is_refused(rows: list[tuple[str, ...]], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        CodeTree.of(rows)


def test_a_part_of_a_tree_keeps_distances_and_takes_in_strangers() -> None:
    part = TREE.restricted(["401", "296.00", "zzz"])
    assert part.codes == ("296.00", "401", "zzz")
    assert part.distance("296.00", "401") == TREE.distance("296.00", "401")
    assert part.ancestors("zzz") == ("other", "*")
    assert ("zzz", "other") in part.parents


letters = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)


@given(letters, st.data())
def test_spread_is_the_mean_distance_of_pairs(codes: list[str], data: st.DataObject) -> None:
    rows = [
        (code, *data.draw(st.sampled_from([("p", "x"), ("q", "x"), ("r", "y"), ("y",), ()])), "*") for code in codes
    ]
    tree = CodeTree.of(rows)
    pairs = [tree.distance(a, b) for a, b in combinations(tree.codes, 2)]
    assert tree.spread(range(tree.size)) == pytest.approx(sum(pairs) / len(pairs) if pairs else 0.0)
    assert all(0 <= distance <= 1 for distance in pairs)


# -- the shipped systems -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "size", "code", "ancestors"),
    [
        ("icd9cm", 17_583, "296.01", ("296.0", "296", "290-319", "*")),
        ("icd9cm", 17_583, "E849.0", ("E849", "E000-E999", "*")),
        ("icd9cm", 17_583, "599.7", ("599", "580-629", "*")),  # valid until 2008, then divided
        ("icd10cm", 98_186, "E11.65", ("E11.6", "E11", "E08-E13", "E00-E89", "*")),
        ("icd10cm", 98_186, "S52.501A", ("S52.501", "S52.50", "S52.5", "S52", "S50-S59", "S00-T88", "*")),
        ("icd10cm", 98_186, "C50.911", ("C50.91", "C50.9", "C50", "C50-C50", "C00-D49", "*")),
        ("ccs", 17_257, "493.01", ("Asthma", "*")),
    ],
)
def test_the_shipped_systems(system: str, size: int, code: str, ancestors: tuple[str, ...]) -> None:
    assert len(lines_of(system)) == size
    assert tree_of(system, [code]).ancestors(code) == ancestors


@pytest.mark.parametrize("system", ["icd9cm", "ccs"])
def test_levels_make_a_tree_for_the_methods(system: str) -> None:
    tree = code_tree(system)
    assert len(tree.levels) == len(LEVELS[system])
    assert Subtrees.of(tree.levels).size == tree.size
    assert tree.headings == (headings_of(system) if system == "icd9cm" else frozenset())


def test_chapters_and_groups_are_those_published() -> None:
    assert len(code_tree("icd9cm").groups_at(3)) == 19
    assert len(code_tree("ccs").groups_at(1)) == 283
    assert len({line.split(";")[-2] for line in lines_of("icd10cm").values()}) == 22


def test_the_largest_system_is_little_work() -> None:
    """A few calls for each of its lines."""
    lines, read = count_calls(lambda: lines_of.__wrapped__("icd10cm"))
    _, built = count_calls(lambda: tree_of("icd10cm", list(lines)[::30]))
    assert read + built < 10 * len(lines)


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(ValueError, match="no code system with this name"):
        tree_of("icd11", ["1A00"])


# -- normalising -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "text", "code"),
    [
        ("icd9cm", "250.00", "250.00"),
        ("icd9cm", "25000", "250.00"),
        ("icd9cm", " 250 .00 ", "250.00"),
        ("icd9cm", "401.", "401"),
        ("icd9cm", "v45.81", "V45.81"),
        ("icd9cm", "V4581", "V45.81"),
        ("icd9cm", "e8490", "E849.0"),
        ("icd9cm", "00845", "008.45"),
        ("icd9cm", "5997", "599.7"),
        ("ccs", "49300", "493.00"),
        ("icd10cm", "e1165", "E11.65"),
        ("icd10cm", "S52501a", "S52.501A"),
        ("icd10cm", "I10", "I10"),
        ("flat", " Bread ", "Bread"),
    ],
)
def test_one_spelling_for_each_code(system: str, text: str, code: str) -> None:
    found = normalise(system, [text])
    assert found.codes == (code,)
    assert not found.unknown
    assert not found.mended


def test_zeros_are_put_back_only_where_there_is_one_reading() -> None:
    found = normalise("icd9cm", ["8.45", "845", "1100", "19", "99.9999", "V1.0"])
    assert found.codes == ("008.45", "845", "110.0", "001.9", "99.9999", "V01.0")
    assert found.mended == {"8.45": "008.45", "19": "001.9", "V1.0": "V01.0"}
    assert found.ambiguous == {"845": ("845", "084.5", "008.45"), "1100": ("110.0", "011.00")}
    assert found.unknown == {"99.9999": 1}


def test_a_column_that_keeps_its_zeros_has_lost_none() -> None:
    found = normalise("icd9cm", ["845", "1100", "00845"])
    assert found.ambiguous == {}
    assert found.codes == ("845", "110.0", "008.45")


def test_what_no_table_has_is_told_and_kept() -> None:
    found = normalise("icd9cm", ["250.99", "25099", "unk", "UNK", None, " ", "250", "250.00"])
    assert found.codes == ("250.99", "250.99", "UNK", "UNK", None, None, "250", "250.00")
    assert found.unknown == {"250.99": 1, "25099": 1, "unk": 1, "UNK": 1}
    assert found.headings == {"250": 1}
    assert found.blank == 2
    tree = tree_of("icd9cm", [code for code in found.codes if code is not None])
    assert tree.codes == ("250", "250.00", "250.99", "UNK")
    assert tree.ancestors("250.99") == tree.ancestors("UNK") == ("other", "*")
    assert [note.split(" ", 1)[0] for note in found.notes] == ["4", "1"]


def test_own_codes_are_found_by_their_only_likeness() -> None:
    tree = CodeTree.of([("Milk", "food", "*"), ("a.b", "x", "*"), ("ab", "x", "*")])
    found = normalise(tree, ["milk ", "a.b", "AB", "beer"])
    assert found.codes == ("Milk", "a.b", "AB", "beer")
    assert found.unknown == {"AB": 1, "beer": 1}  # AB may be either of two


@given(st.lists(st.one_of(st.none(), st.text(max_size=8), st.sampled_from(["250.00", "8.45", "V10", "E849"]))))
@pytest.mark.parametrize("system", ["icd9cm", "icd10cm", "ccs", "flat"])
def test_no_text_is_dropped_and_what_is_official_stays(system: str, texts: list[str | None]) -> None:
    found = normalise(system, texts)
    assert len(found.codes) == len(texts)
    assert found.blank == sum(text is None or not text.strip() for text in texts) == found.codes.count(None)
    codes = [code for code in found.codes if code is not None]
    known = lines_of("icd9cm" if system == "ccs" else system) if system != "flat" else codes
    outside = sum(code not in known for code in codes)
    assert outside == sum(found.unknown.values())
    assert normalise(system, codes).codes == tuple(codes)


def test_every_code_of_a_system_is_itself_with_and_without_its_dot() -> None:
    for system in ("icd9cm", "icd10cm"):
        codes = tuple(lines_of(system))
        assert normalise(system, codes).codes == codes
        assert normalise(system, [code.replace(".", "").lower() for code in codes]).codes == codes


def test_distances_of_many_pairs_are_those_of_each() -> None:
    left, right = np.array([0, 1, 3]), np.array([1, 2, 4])
    each = [TREE.distance(TREE.codes[a], TREE.codes[b]) for a, b in zip(left, right, strict=True)]
    assert TREE.distances(left, right).tolist() == each
