"""Texts as sequences: what is read, and how bad input is refused without being told."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.sequences import DNALA, Alignment, BadSequences, of_texts
from tests.unit.methods.sequences.alignments import opuntia, woodmouse


def test_shapes_of_real_files() -> None:
    assert woodmouse().codes.shape == (15, 965)
    assert woodmouse().names[0] == "No305"
    assert int((woodmouse().codes == 15).sum()) == 105
    assert opuntia().codes.shape == (7, 906)
    assert int((opuntia().codes == 16).sum()) == 64


def test_small_letters() -> None:
    assert of_texts(["acgT", "ACga"]).texts() == ["ACGT", "ACGA"]


def test_n_in_published_lattice_is_anything() -> None:
    assert of_texts(["AN?-"], None, DNALA).codes.tolist() == [[1, 31, 31, 16]]
    assert of_texts(["AN?-"], None, DNALA).texts() == ["ANN-"]
    assert of_texts(["AN?-"]).codes.tolist() == [[1, 15, 31, 16]]


SECRET = "GATTACA"


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([], "There are no sequences"),
        (["", ""], "Sequence 1 is empty"),
        ([SECRET, f"{SECRET}C"], "Sequence 2 has 8 sites, but sequence 1 has 7"),
        ([SECRET, "GATTAXA"], "Sequence 2 has a letter at site 6"),
        ([SECRET, "GAUTACA"], "Sequence 2 has a letter at site 3"),
        ([SECRET, "GAT.ACA"], "Sequence 2 has a letter at site 4"),
        ([SECRET, "GATΩACA"], "Sequence 2 has a letter at site 4"),
    ],
)
def test_refusals_say_where_and_never_what(texts: list[str], says: str) -> None:
    with pytest.raises(BadSequences) as caught:
        of_texts(texts)
    assert says in caught.value.reason
    assert caught.value.remedy
    assert SECRET not in str(caught.value)


def test_a_name_for_each_row() -> None:
    with pytest.raises(ValueError, match="one name"):
        Alignment(np.ones((2, 2), dtype=np.uint8), ("a",))
