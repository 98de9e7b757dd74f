"""Files and columns: what is read, what is written, and how bad input is refused without being told."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.sequences import (
    DNALA,
    Alignment,
    BadSequences,
    of_column,
    of_texts,
    read,
    read_clustal,
    read_fasta,
    write_clustal,
    write_fasta,
)
from tests.unit.methods.sequences.alignments import anything, opuntia, woodmouse

CLUSTAL = "CLUSTAL 2.1\n\n\nx1  ACGT 4\nx2  AC-T 4\n    ** *\n\nx1  AC 6\nx2  AG 6\n    *\n"


def test_shapes_of_real_files() -> None:
    assert woodmouse().codes.shape == (15, 965)
    assert woodmouse().names[0] == "No305"
    assert int((woodmouse().codes == 15).sum()) == 105
    assert opuntia().codes.shape == (7, 906)
    assert int((opuntia().codes == 16).sum()) == 64


def test_clustal() -> None:
    found = read(CLUSTAL)
    assert found.texts() == ["ACGTAC", "AC-TAG"]
    assert found.names == ("x1", "x2")


@pytest.mark.parametrize("write", [write_fasta, write_clustal])
def test_what_is_written_is_read(write: object) -> None:
    alignment = anything(5, 130, 1)
    assert callable(write)
    again = read(write(alignment))
    assert again.texts() == alignment.texts()
    assert again.names == ("1", "2", "3", "4", "5")
    assert read(write(alignment, ["a", "b", "c", "d", "e"])).names == tuple("abcde")


def test_names_of_the_source_are_not_written() -> None:
    assert "No305" not in write_fasta(woodmouse())
    assert "gi|" not in write_clustal(opuntia())


@pytest.mark.parametrize("names", [["a", "a"], ["a b", "c"], ["", "c"], [">a", "c"], ["a\nb", "c"], ["a"]])
def test_names_that_break_a_file(names: list[str]) -> None:
    with pytest.raises(ValueError):
        write_fasta(of_texts(["A", "C"]), names)


def test_line_ends_marks_and_small_letters() -> None:
    assert read("\ufeff>a b c\r\nacg\r\nT\r\n\r\n>d\r\nAC GA\r\n").texts() == ["ACGT", "ACGA"]


def test_n_in_published_lattice_is_anything() -> None:
    assert of_texts(["AN?-"], None, DNALA).codes.tolist() == [[1, 31, 31, 16]]
    assert of_texts(["AN?-"], None, DNALA).texts() == ["ANN-"]
    assert of_texts(["AN?-"]).codes.tolist() == [[1, 15, 31, 16]]


SECRET = "GATTACA"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        (SECRET, "neither FASTA nor Clustal"),
        (f">a\n{SECRET}\n>b\n{SECRET}C\n", "Sequence 2 has 8 sites, but sequence 1 has 7"),
        (f">a\n{SECRET}\n>b\nGATTAXA\n", "Sequence 2 has a letter at site 6"),
        (f">a\n{SECRET}\n>b\nGAUTACA\n", "Sequence 2 has a letter at site 3"),
        (f">a\n{SECRET}\n>b\nGAT.ACA\n", "Sequence 2 has a letter at site 4"),
        (f">a\n{SECRET}\n>b\nGATΩACA\n", "Sequence 2 has a letter at site 4"),
        (f">GATTACA\n{SECRET}\n>GATTACA\n{SECRET}\n", "Sequences 1 and 2 have the same name"),
        (f">\n{SECRET}\n", "Sequence 1 has no name"),
        (">a\n>b\n", "Sequence 1 is empty"),
        (f"CLUSTAL\n\nx {SECRET}\nx {SECRET}\n", "Line 4 repeats the name of a sequence"),
        (f"CLUSTAL\n\nx {SECRET}\ny {SECRET}\n\nx {SECRET}\n", "Sequence 2 is not in every block"),
        (
            f"CLUSTAL\n\nx {SECRET}\n\nx {SECRET}\nz {SECRET}\n",
            "Line 6 names a sequence that is not in the first block",
        ),
        (f"CLUSTAL\n\nx {SECRET} {SECRET}\n", "Line 3 is not a name followed by letters"),
        ("CLUSTAL\n", "There are no sequences"),
    ],
)
def test_refusals_say_where_and_never_what(text: str, says: str) -> None:
    with pytest.raises(BadSequences) as caught:
        read(text)
    assert says in caught.value.reason
    assert caught.value.remedy
    assert SECRET not in str(caught.value)


def test_letters_before_a_name() -> None:
    with pytest.raises(BadSequences, match="Line 1 has letters before any name"):
        read_fasta("ACGT\n>a\nACGT\n")


def test_clustal_whose_last_sequence_is_short() -> None:
    with pytest.raises(BadSequences, match="Sequence 2 has 3 sites"):
        read_clustal("CLUSTAL\n\na ACGT\nb ACG\n")


def test_columns() -> None:
    assert of_column(["ACGT", "acga"]).texts() == ["ACGT", "ACGA"]
    assert of_column([None, "AC", None], missing="unknown").texts() == ["??", "AC", "??"]
    for values, says in (
        (["AC", None], "Row 2 has no sequence"),
        (["AC", 7], "Row 2 is not text"),
        ([], "There are no sequences"),
    ):
        with pytest.raises(BadSequences, match=says):
            of_column(values)
    with pytest.raises(BadSequences, match="Row 1 has no sequence"):
        of_column([None, None], missing="unknown")
    with pytest.raises(ValueError, match="missing is"):
        of_column(["A"], missing="drop")


def test_a_name_for_each_row() -> None:
    with pytest.raises(ValueError, match="one name"):
        Alignment(np.ones((2, 2), dtype=np.uint8), ("a",))
