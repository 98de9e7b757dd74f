"""Codes of ICD-10 as the World Health Organization and the national versions without letters of their own write them.

A code is a letter and two digits, its category, and one digit more at most that all versions share; what a national
version adds behind it (the fifth character of ICD-10-GM) is left out. Marks for daggers and asterisks, for codes that
are told beside others (!), and a dash or an X in the place of a digit say nothing about the disease.

Blocks and chapters: ICD-10, version of 2019. What they do not name belongs to the chapter of its letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from querygate.core.code_systems.code_ranges import OTHER

CODE = re.compile(r"([A-Z][0-9]{2})\.?(?:([0-9])[0-9]?|X)?[-.]{0,2}[+*!†#]?")

_CHAPTERS = """
A00-B99 C00-D48 D50-D90 E00-E90 F00-F99 G00-G99 H00-H59 H60-H95 I00-I99 J00-J99 K00-K93 L00-L99 M00-M99 N00-N99 O00-O99
P00-P96 Q00-Q99 R00-R99 S00-T98 U00-U99 V01-Y98 Z00-Z99
"""

_BLOCKS = """
A00-A09 A15-A19 A20-A28 A30-A49 A50-A64 A65-A69 A70-A74 A75-A79 A80-A89 A90-A99 B00-B09 B15-B19 B20-B24 B25-B34 B35-B49
B50-B64 B65-B83 B85-B89 B90-B94 B95-B98 B99-B99 C00-C75 C76-C80 C81-C96 C97-C97 D00-D09 D10-D36 D37-D48 D50-D53 D55-D59
D60-D64 D65-D69 D70-D77 D80-D90 E00-E07 E10-E14 E15-E16 E20-E35 E40-E46 E50-E64 E65-E68 E70-E90 F00-F09 F10-F19 F20-F29
F30-F39 F40-F48 F50-F59 F60-F69 F70-F79 F80-F89 F90-F98 F99-F99 G00-G09 G10-G14 G20-G26 G30-G32 G35-G37 G40-G47 G50-G59
G60-G64 G70-G73 G80-G83 G90-G99 H00-H06 H10-H13 H15-H22 H25-H28 H30-H36 H40-H42 H43-H45 H46-H48 H49-H52 H53-H54 H55-H59
H60-H62 H65-H75 H80-H83 H90-H95 I00-I02 I05-I09 I10-I15 I20-I25 I26-I28 I30-I52 I60-I69 I70-I79 I80-I89 I95-I99 J00-J06
J09-J18 J20-J22 J30-J39 J40-J47 J60-J70 J80-J84 J85-J86 J90-J94 J95-J99 K00-K14 K20-K31 K35-K38 K40-K46 K50-K52 K55-K64
K65-K67 K70-K77 K80-K87 K90-K93 L00-L08 L10-L14 L20-L30 L40-L45 L50-L54 L55-L59 L60-L75 L80-L99 M00-M25 M30-M36 M40-M54
M60-M79 M80-M94 M95-M99 N00-N08 N10-N16 N17-N19 N20-N23 N25-N29 N30-N39 N40-N51 N60-N64 N70-N77 N80-N98 N99-N99 O00-O08
O10-O16 O20-O29 O30-O48 O60-O75 O80-O84 O85-O92 O94-O99 P00-P04 P05-P08 P10-P15 P20-P29 P35-P39 P50-P61 P70-P74 P75-P78
P80-P83 P90-P96 Q00-Q07 Q10-Q18 Q20-Q28 Q30-Q34 Q35-Q37 Q38-Q45 Q50-Q56 Q60-Q64 Q65-Q79 Q80-Q89 Q90-Q99 R00-R09 R10-R19
R20-R23 R25-R29 R30-R39 R40-R46 R47-R49 R50-R69 R70-R79 R80-R82 R83-R89 R90-R94 R95-R99 S00-S09 S10-S19 S20-S29 S30-S39
S40-S49 S50-S59 S60-S69 S70-S79 S80-S89 S90-S99 T00-T07 T08-T14 T15-T19 T20-T32 T33-T35 T36-T50 T51-T65 T66-T78 T79-T79
T80-T88 T90-T98 U00-U49 U50-U52 U55-U55 U60-U61 U69-U69 U80-U85 U99-U99 V01-X59 X60-X84 X85-Y09 Y10-Y34 Y35-Y36 Y40-Y84
Y85-Y89 Y90-Y98 Z00-Z13 Z20-Z29 Z30-Z39 Z40-Z54 Z55-Z65 Z70-Z76 Z80-Z99
"""

CHAPTERS, BLOCKS = tuple(_CHAPTERS.split()), tuple(_BLOCKS.split())
"""Ranges of categories, rising."""


def read_icd10(text: str) -> str | None:
    """The code that a text writes, of four characters at most; None where it writes none.

    >>> [read_icd10(text) for text in ("J45.0", "j450", "E11.90", "G63.2*", "J45.-", "I10X", "J45.0A", "S72.001A")]
    ['J45.0', 'J45.0', 'E11.9', 'G63.2', 'J45', 'I10', None, None]
    """
    found = CODE.fullmatch("".join(text.split()).upper())
    if found is None:
        return None
    return f"{found[1]}.{found[2]}" if found[2] else found[1]


def icd10_path(text: str) -> tuple[str, ...]:
    """A code of ICD-10 as other countries write it: the text, four characters, category, block, chapter.

    >>> icd10_path("J45.0+"), icd10_path("E99")[1:], len(icd10_path("?"))
    (('J45.0+', 'J450', 'J45', 'J40-J47', 'J00-J99'), ('E99', 'E99', 'E00-E90', 'E00-E90'), 5)
    """
    code = read_icd10(text)
    if code is None:
        return (text, *(OTHER,) * 4)
    block, *chapter = groups_of(code[:3])
    return (text, code.replace(".", ""), code[:3], block, *(chapter or [block]))


def groups_of(category: str) -> tuple[str, ...]:
    """The block, where it has one, and the chapter of a category.

    >>> groups_of("J45"), groups_of("E14"), groups_of("E99")
    (('J40-J47', 'J00-J99'), ('E10-E14', 'E00-E90'), ('E00-E90',))
    """
    block = next((one for one in BLOCKS if one[:3] <= category <= one[4:]), None)
    return (block, chapter_of(category)) if block else (chapter_of(category),)


@lru_cache(maxsize=4096)
def chapter_of(category: str) -> str:
    """The chapter that begins last before a category, since no letter is in none.

    >>> chapter_of("D48"), chapter_of("D49"), chapter_of("V00"), chapter_of("Y99")
    ('C00-D48', 'C00-D48', 'V01-Y98', 'V01-Y98')
    """
    after = category.replace("V00", "V01")
    return [one for one in CHAPTERS if one[:3] <= after][-1]


def all_codes() -> Iterator[str]:
    """Every text that is read as a code: which of them the World Health Organization uses changes from year to year."""
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        for number in range(100):
            category = f"{letter}{number:02d}"
            yield category
            yield from (f"{category}.{digit}" for digit in range(10))
