"""Chapters and blocks of ICD-9-CM and ICD-10-CM, as ranges of three-character categories.

From the tabular lists of the U.S. National Center for Health Statistics and the Centers for Medicare & Medicaid
Services (ICD-9-CM version 32; ICD-10-CM, April 2026), which are in the public domain.
"""

from __future__ import annotations

import re
from functools import lru_cache

from querygate.core.code_systems.icd10 import groups_of, read_icd10

_ICD9_CHAPTERS = """
001-139 140-239 240-279 280-289 290-319 320-389 390-459 460-519 520-579 580-629 630-679 680-709 710-739 740-759 760-779
780-799 800-999 V01-V91 E000-E999
"""

_ICD10_CHAPTERS = """
A00-B99 C00-D49 D50-D89 E00-E89 F01-F99 G00-G99 H00-H59 H60-H95 I00-I99 J00-J99 K00-K95 L00-L99 M00-M99 N00-N99 O00-O9A
P00-P96 Q00-QA0 R00-R99 S00-T88 U00-U85 V00-Y99 Z00-Z99
"""

_ICD10_BLOCKS = """
A00-A09 A15-A19 A20-A28 A30-A49 A50-A64 A65-A69 A70-A74 A75-A79 A80-A89 A90-A99 B00-B09 B10-B10 B15-B19 B20-B20 B25-B34
B35-B49 B50-B64 B65-B83 B85-B89 B90-B94 B95-B97 B99-B99 C00-C96 D00-D09 D10-D36 D37-D48 D3A-D3A D49-D49 D50-D53 D55-D59
D60-D64 D65-D69 D70-D77 D78-D78 D80-D89 E00-E07 E08-E13 E15-E16 E20-E35 E36-E36 E40-E46 E50-E64 E65-E68 E70-E88 E89-E89
F01-F09 F10-F19 F20-F29 F30-F39 F40-F48 F50-F59 F60-F69 F70-F79 F80-F89 F90-F98 F99-F99 G00-G09 G10-G14 G20-G26 G30-G32
G35-G37 G40-G47 G50-G59 G60-G65 G70-G73 G80-G83 G89-G99 H00-H05 H10-H11 H15-H22 H25-H28 H30-H36 H40-H42 H43-H44 H46-H47
H49-H52 H53-H54 H55-H57 H59-H59 H60-H62 H65-H75 H80-H83 H90-H94 H95-H95 I00-I02 I05-I09 I10-I1A I20-I25 I26-I28 I30-I5A
I60-I69 I70-I79 I80-I89 I95-I99 J00-J06 J09-J18 J20-J22 J30-J39 J40-J4A J60-J70 J80-J84 J85-J86 J90-J94 J95-J95 J96-J99
K00-K14 K20-K31 K35-K38 K40-K46 K50-K52 K55-K64 K65-K68 K70-K77 K80-K87 K90-K95 L00-L08 L10-L14 L20-L30 L40-L45 L49-L54
L55-L59 L60-L75 L76-L76 L80-L99 M00-M25 M26-M27 M30-M36 M40-M54 M60-M79 M80-M94 M95-M95 M96-M96 M97-M97 M99-M99 N00-N08
N10-N16 N17-N19 N20-N23 N25-N29 N30-N39 N40-N53 N60-N65 N70-N77 N80-N98 N99-N99 O00-O08 O09-O09 O10-O16 O20-O29 O30-O48
O60-O77 O80-O82 O85-O92 O94-O9A P00-P04 P05-P08 P09-P09 P10-P15 P19-P29 P35-P39 P50-P61 P70-P74 P76-P78 P80-P83 P84-P84
P90-P96 Q00-Q07 Q10-Q18 Q20-Q28 Q30-Q34 Q35-Q37 Q38-Q45 Q50-Q56 Q60-Q64 Q65-Q79 Q80-Q89 Q90-Q99 QA0-QA0 R00-R09 R10-R19
R20-R23 R25-R29 R30-R39 R40-R46 R47-R49 R50-R69 R70-R79 R80-R82 R83-R89 R90-R94 R97-R97 R99-R99 S00-S09 S10-S19 S20-S29
S30-S39 S40-S49 S50-S59 S60-S69 S70-S79 S80-S89 S90-S99 T07-T88 U00-U49 V00-X58 X71-X83 X92-Y09 Y21-Y33 Y35-Y38 Y62-Y84
Y90-Y99 Z00-Z13 Z14-Z15 Z16-Z16 Z17-Z17 Z18-Z18 Z19-Z19 Z20-Z29 Z30-Z3A Z40-Z53 Z55-Z65 Z66-Z66 Z67-Z67 Z68-Z68 Z69-Z76
Z77-Z99
"""

OTHER = "other"
"""Where a text goes that is no code: a chapter of its own."""

_ICD9 = re.compile(r"([0-9]{3}|V[0-9]{2}|E[0-9]{3})\.?([0-9]{0,2})")
_ICD10 = re.compile(r"([A-Z][0-9A][0-9A-Z])\.?([0-9A-Z]{0,4})")


def icd9_path(text: str) -> tuple[str, ...]:
    """A diagnosis code of ICD-9-CM, with or without its dot: the text, four digits, category, chapter.

    >>> icd9_path("250.02"), icd9_path("V4581")[1:], icd9_path("E8490")[1:]
    (('250.02', '2500', '250', '240-279'), ('V458', 'V45', 'V01-V91'), ('E8490', 'E849', 'E000-E999'))
    """
    found = _ICD9.fullmatch(text.strip().upper())
    chapter = _range_of(found[1], _ICD9_CHAPTERS) if found else None
    if found is None or chapter is None:
        return (text, OTHER, OTHER, OTHER)
    return (text, found[1] + found[2][:1], found[1], chapter)


def icd10cm_path(text: str) -> tuple[str, ...]:
    """A code of ICD-10-CM, with or without its dot: the text, six, five and four characters, category, block, chapter.

    >>> icd10cm_path("E11.65")
    ('E11.65', 'E1165', 'E1165', 'E116', 'E11', 'E08-E13', 'E00-E89')
    """
    found = _ICD10.fullmatch(text.strip().upper())
    chapter = _range_of(found[1], _ICD10_CHAPTERS) if found else None
    if found is None or chapter is None:
        return (text, *(OTHER,) * 6)
    category, rest = found[1], found[2]
    block = _range_of(category, _ICD10_BLOCKS) or chapter
    return (text, *(category + rest[:length] for length in (3, 2, 1)), category, block, chapter)


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


@lru_cache(maxsize=4096)
def _range_of(category: str, table: str) -> str | None:
    """The narrowest range that holds a category. Of equal length, codes compare as texts; 9A follows 99."""
    ranges = [(*entry.split("-"), entry) for entry in table.split()]
    inside = [entry for low, high, entry in ranges if len(low) == len(category) and low <= category <= high]
    return inside[-1] if inside else None  # a range within another begins later
