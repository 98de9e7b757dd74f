"""Chapters and blocks of ICD-10 as ranges of categories."""

from __future__ import annotations

from itertools import pairwise

from querygate.core.code_systems.icd10 import BLOCKS, CHAPTERS, all_codes, chapter_of, groups_of, read_icd10


def test_blocks_lie_in_one_chapter_each_and_do_not_overlap() -> None:
    assert all(one[:3] <= one[4:] for one in BLOCKS)
    assert all(one[4:] < other[:3] for one, other in pairwise(BLOCKS))
    assert all(chapter_of(one[:3]) == chapter_of(one[4:]) for one in BLOCKS)


def test_every_code_is_read_as_itself_and_has_a_chapter_of_its_letter() -> None:
    codes = list(all_codes())
    assert len(set(codes)) == len(codes) == 28_600
    for code in codes[::7]:
        assert read_icd10(code) == read_icd10(code.replace(".", "").lower() + " ") == code
        chapter = groups_of(code[:3])[-1]
        assert chapter in CHAPTERS
        assert chapter[0] <= code[0] <= chapter[4]


def test_what_is_no_code_or_says_that_somebody_has_it_not() -> None:
    for text in ("", "J4", "J4A", "J45.0A", "J45.0 V", "250.00", "J45..0", "J45.901", "other", "Ä45"):
        assert read_icd10(text) is None, text
