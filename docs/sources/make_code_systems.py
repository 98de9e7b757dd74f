"""Make the code systems of querygate/methods/code_lists/data from the public-domain tables in a FOLDER of theirs.

Each system becomes one gzipped CSV file in the form of a custom hierarchy, `code;group;...;root` with one row per code.
Reads, from the folder (see README.md for where they come from):

- icd9dx2015.csv: the ICD-9-CM diagnosis codes of version 32;
- CCS-SingleDiagnosisGrouper.txt: the CCS groups, with codes that were valid at some time from 1980 to 2015;
- icd10cm_tabular_2026.xml.gz: chapters, blocks and categories of ICD-10-CM;
- icd10cm_code_list_2026.txt.gz: all its codes, with those of seven characters that the tabular list only describes;
- icd9toicd10cmgem.csv.gz: the general equivalence map from ICD-9-CM to ICD-10-CM.
"""

from __future__ import annotations

import csv
import gzip
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

DATA = Path(__file__).parents[2] / "querygate" / "methods" / "code_lists" / "data"
ROOT = "*"
ICD9_CHAPTERS = (
    "001-139 140-239 240-279 280-289 290-319 320-389 390-459 460-519 520-579 580-629 630-679 680-709 710-739 740-759 "
    "760-779 780-799 800-999 V01-V91 E000-E999"
)
_ICD10_CODE = re.compile(r"[A-Z][0-9A][0-9A-Z]{1,5}")


def icd9_rows(codes: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Code, four digits, category, chapter. Categories and subcategories are codes too: some records are truncated."""
    given = set(codes)
    every = {code[:length] for code in given for length in range(_category(code), len(code) + 1)}
    for code in every:
        head = _category(code)
        chapter = next(c for c in ICD9_CHAPTERS.split() if _within(code[:head], c))
        yield _dotted(code, head), _dotted(code[: head + 1], head), code[:head], chapter, ROOT


def ccs_rows(groups: dict[str, str], every: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Code and CCS group. A category belongs to the group of all its codes, and to none if they are in several."""
    for code in every:
        plain = code.replace(".", "")
        found = {groups[plain]} if plain in groups else {name for c, name in groups.items() if c.startswith(plain)}
        if len(found) == 1:
            yield code, found.pop(), ROOT


def icd10_rows(blocks: dict[str, tuple[str, str]], codes: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Code, six, five and four characters, category, block, chapter."""
    for code in codes:
        yield *(_dotted(code[:length], 3) for length in (7, 6, 5, 4)), code[:3], *blocks[code[:3]], ROOT


def gem_rows(
    maps: Iterable[dict[str, str]], icd9: dict[str, list[str]], icd10: dict[str, list[str]]
) -> Iterator[tuple[str, ...]]:
    """A code of ICD-9-CM, the narrowest code or group of ICD-10-CM that holds all it is mapped to, and how.

    What has no entry of its own (a category, a code of before 2014) is mapped to what its codes, or else those beside
    it, are mapped to.
    """
    targets: dict[str, list[str]] = {}
    kinds: dict[str, str] = {}
    for row in maps:
        code = _dotted(row["icd9cm"], _category(row["icd9cm"]))
        found = targets.setdefault(code, [])
        if row["no_map"] == "0":
            found.append(_nearest(_dotted(row["icd10cm"], 3), icd10))
        kind = "combination" if row["combination"] == "1" else "exact" if row["approximate"] == "0" else "approximate"
        kinds[code] = min(kind, kinds.get(code, kind), key=("combination", "approximate", "exact").index)
    under: dict[str, list[str]] = {}
    for code, found in targets.items():
        for group in icd9[code]:
            under.setdefault(group, []).extend(found)
    for code, groups in icd9.items():
        own = targets.get(code)
        found = own if own is not None else next(under[group] for group in groups if group in under)
        kind = "none" if not found else kinds[code] if own is not None else "group"
        yield code, _narrowest(found, icd10), kind


def _nearest(code: str, icd10: dict[str, list[str]]) -> str:
    """The code, or what it was cut from: the map is older than the list."""
    while code not in icd10:
        code = code[:-1].rstrip(".")
    return code


def _narrowest(codes: list[str], icd10: dict[str, list[str]]) -> str:
    """The narrowest group that holds all these codes; the root for none."""
    return (
        next((name for name in icd10[codes[0]] if all(name in icd10[code] for code in codes)), ROOT) if codes else ROOT
    )


def read_ccs(path: Path) -> dict[str, str]:
    """The name of each code's group. Groups begin a line with their number; indented lines list their codes."""
    found: dict[str, str] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines()[3:]:
        if line[:1].isdigit():
            name = line.split(maxsplit=1)[1].strip().replace(";", ",")
        else:
            found.update(dict.fromkeys(line.split(), name))
    return found


def read_blocks(path: Path) -> dict[str, tuple[str, str]]:
    """Block and chapter of each category of ICD-10-CM. The innermost section is its block."""
    with gzip.open(path) as file:
        tabular = ElementTree.parse(file).getroot()  # noqa: S314 - a table of ours, named on the command line
    found = {}
    for chapter in tabular.iter("chapter"):
        title = chapter.findtext("desc", "")
        span = title[title.rindex("(") + 1 : title.rindex(")")]
        for section in chapter.iter("section"):
            block = section.attrib["id"]
            for category in section.findall("diag"):
                found[category.findtext("name", "")] = (block if "-" in block else f"{block}-{block}", span)
    return found


def _category(code: str) -> int:
    """Characters of the category: three, four for external causes."""
    return 4 if code.startswith("E") else 3


def _within(category: str, chapter: str) -> bool:
    low, high = chapter.split("-")
    return len(low) == len(category) and low <= category <= high


def _dotted(code: str, head: int) -> str:
    return f"{code[:head]}.{code[head:]}" if len(code) > head else code


def _ragged(rows: Iterable[tuple[str, ...]]) -> dict[str, list[str]]:
    """By code its row, in which a code that is its own group at some levels is written once."""
    return {row[0]: list(dict.fromkeys(row)) for row in rows}


def _write(name: str, rows: Iterable[Iterable[str]]) -> None:
    """One line per code."""
    text = "".join(";".join(row) + "\n" for row in sorted(rows))
    (DATA / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main(tables: Path) -> None:
    with (tables / "icd9dx2015.csv").open(encoding="utf-8", newline="") as file:
        valid = [row["dgns_cd"] for row in csv.DictReader(file)]
    groups = read_ccs(tables / "CCS-SingleDiagnosisGrouper.txt")
    icd9 = _ragged(icd9_rows([*valid, *groups]))
    _write("icd9cm.csv.gz", icd9.values())
    _write("ccs.csv.gz", _ragged(ccs_rows(groups, icd9)).values())
    with gzip.open(tables / "icd10cm_code_list_2026.txt.gz", "rt", encoding="utf-8-sig") as lines:
        codes = {line.strip() for line in lines if _ICD10_CODE.fullmatch(line.strip())}
    icd10 = _ragged(icd10_rows(read_blocks(tables / "icd10cm_tabular_2026.xml.gz"), codes))
    _write("icd10cm.csv.gz", icd10.values())
    with gzip.open(tables / "icd9toicd10cmgem.csv.gz", "rt", encoding="utf-8", newline="") as file:
        _write("icd9_in_icd10cm.csv.gz", gem_rows(csv.DictReader(file), icd9, icd10))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
