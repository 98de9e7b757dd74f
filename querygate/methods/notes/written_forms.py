"""How a value of an identifier column may be written in a note.

Each form is folded and without separators (see `note_text`). The forms of a value are looked for in the note of its own
record; the few that point at one person wherever they stand, the *distinctive* ones, in all notes.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from querygate.methods.notes.note_text import atoms_of, letters_and_digits, listed, plain
from querygate.methods.notes.spans import IdentifierKind

SHORTEST = 2
"""A single letter or digit is not looked for: it stands in every text."""

DISTINCTIVE = 6
"""Numbers and full names of this many characters are looked for in the notes of other records too."""

TITLES = frozenset(
    listed(
        "mr mrs ms miss mx dr prof sir dame madam rev fr sr jr ii iii iv md rn do phd np pa esq van von der den de "
        "la le del di da dos el al bin ibn ben of the y e"
    )
)
STREET_WORDS = frozenset(
    listed(
        "street st avenue ave road rd drive dr lane ln boulevard blvd court ct place pl way terrace ter circle cir "
        "highway hwy parkway pkwy square sq apt apartment unit suite ste floor fl box po north south east west n s "
        "e w nw ne sw se strasse str weg platz allee rue via calle"
    )
)
_MONTHS = (
    listed("january february march april may june july august september october november december"),
    listed("jan feb mar apr may jun jul aug sep oct nov dec"),
)
_ERAS = (("reiwa", "令和", 2018), ("heisei", "平成", 1988), ("showa", "昭和", 1925), ("taisho", "大正", 1911))
_JAPANESE = re.compile(r"\s*(?P<era>令和|平成|昭和|大正)?(?P<y>\d{1,4}|元)年(?P<m>\d{1,2})月(?P<d>\d{1,2})日")


def forms(kind: IdentifierKind, value: str) -> Iterator[str]:
    """All forms in which the value may stand in the note of its own record.

    >>> sorted(set(forms(IdentifierKind.NAME, "Mary O'Brien")))
    ['brien', 'mary', 'maryo', 'maryobrien', 'mobrien', 'obrien', 'obrienm', 'obrienmary', 'omary']
    """
    whole = letters_and_digits(value)
    made: Iterable[str] = ()
    if kind is IdentifierKind.NAME:
        made = _name_forms(value)
    elif kind is IdentifierKind.DATE:
        day = read_date(value)
        made = date_forms(day) if day else ()
    elif kind is IdentifierKind.PLACE:
        made = _place_forms(value)
    elif kind in (IdentifierKind.PHONE, IdentifierKind.FAX):
        made = _phone_forms(whole)
    elif whole.isdigit():
        made = (whole.lstrip("0"),) if len(whole.lstrip("0")) >= 4 else ()
    for form in (whole, *made):
        if len(form) >= SHORTEST:
            yield form


def distinctive(kind: IdentifierKind, value: str) -> Iterator[str]:
    """The forms that point at one person in any note: full names, and numbers, of six characters or more."""
    whole = letters_and_digits(value)
    if kind is IdentifierKind.NAME:
        yield from (form for form in _full_names(value) if len(form) >= DISTINCTIVE or _is_ideographic(form))
    elif kind is IdentifierKind.DATE:
        return
    elif kind is IdentifierKind.PLACE:
        if len(whole) >= DISTINCTIVE and any(map(str.isdigit, whole)) and not whole.isdigit():
            yield whole
    elif (len(whole) >= DISTINCTIVE and any(map(str.isdigit, whole))) or (
        kind in (IdentifierKind.EMAIL, IdentifierKind.URL) and len(whole) >= DISTINCTIVE
    ):
        yield whole


def name_parts(value: str) -> list[str]:
    """The parts of a name that count: no titles, no particles, an apostrophe does not divide.

    >>> name_parts("Dr. Anna van der Berg-O'Neill, MD")
    ['anna', 'berg', 'oneill']
    """
    words = re.split(r"[\s,.;/\-]+", value.replace("'", "").replace("’", ""))
    folded = [letters_and_digits(word) for word in words]
    return [part for part in folded if part and part not in TITLES]


def _name_forms(value: str) -> Iterator[str]:
    parts = name_parts(value)
    yield from (part for part in parts if len(part) >= SHORTEST)
    yield from (part for part in atoms_of(value) if len(part) >= 3 and part not in TITLES)
    yield from _full_names(value)
    for last in {*parts[-1:], *parts[:1]}:
        initials = [part[0] for part in parts if part != last]
        if initials and len(last) >= SHORTEST:
            yield from (initials[0] + last, last + initials[0], "".join(initials) + last, last + "".join(initials))


def _full_names(value: str) -> Iterator[str]:
    parts = name_parts(value)
    whole = letters_and_digits(value)
    if _is_ideographic(whole):
        yield whole
    if len(parts) < 2:
        return
    yield whole
    yield from ("".join(parts), parts[0] + parts[-1], parts[-1] + parts[0], parts[-1] + "".join(parts[:-1]))


def _is_ideographic(text: str) -> bool:
    return len(text) >= 3 and all("\u3040" <= c <= "\u9fff" for c in text)


def _place_forms(value: str) -> Iterator[str]:
    """The pieces between commas, the street with and without its number, and distinctive words."""
    for piece in re.split(r"[,;\n]+", value):
        atoms = atoms_of(piece)
        together = "".join(atoms)
        if len(together) >= 4:
            yield together
        if atoms and atoms[0].isdigit() and len(atoms) > 1:
            yield "".join(atoms[:3])
            street = [atom for atom in atoms[1:] if atom not in STREET_WORDS and not atom.isdigit()]
            if street and len("".join(street)) >= 5:
                yield "".join(street)


def _phone_forms(digits: str) -> Iterator[str]:
    """Without what may be left out: the country code, a leading zero, the area."""
    if digits.isdigit() and len(digits) >= 8:
        yield from (digits.lstrip("0"), digits[-10:], digits[-9:], digits[-7:])


def read_date(value: str) -> dt.date | None:
    """The day that a column's value names: ISO, month/day/year as in the United States, with dots, or Japanese.

    >>> {read_date(text) for text in ("1980-05-03 00:00:00", "5/3/1980", "3.5.1980", "昭和55年5月3日")}
    {datetime.date(1980, 5, 3)}
    """
    iso = re.match(r"\s*(\d{4})-?(\d\d)-?(\d\d)(?!\d)", value)
    american = re.match(r"\s*(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)", value)
    european = re.match(r"\s*(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)", value)
    japanese = _JAPANESE.match(plain(value))
    try:
        if japanese:
            era, year = japanese["era"], 1 if japanese["y"] == "元" else int(japanese["y"])
            before = next((before for _, kanji, before in _ERAS if kanji == era), 0)
            return dt.date(before + year, int(japanese["m"]), int(japanese["d"]))
        if iso:
            return dt.date(int(iso[1]), int(iso[2]), int(iso[3]))
        if american:
            month, day = int(american[1]), int(american[2])
            return dt.date(int(american[3]), *((month, day) if month <= 12 else (day, month)))
        if european:
            return dt.date(int(european[3]), int(european[2]), int(european[1]))
    except ValueError:
        return None
    return None


@lru_cache(maxsize=1 << 15)
def date_forms(day: dt.date) -> tuple[str, ...]:
    """All ways to write a day that are looked for."""
    return tuple(dict.fromkeys(_date_forms(day)))


def _date_forms(day: dt.date) -> Iterator[str]:
    """The day in numbers and in words, with the year in four digits, two or in a Japanese era."""
    y, yy = f"{day.year:04}", f"{day.year % 100:02}"
    for d in {f"{day.day}", f"{day.day:02}"}:
        for m in {f"{day.month}", f"{day.month:02}"}:
            for year in (y, yy):
                if len(d + m + year) >= 5:
                    yield from (year + m + d, m + d + year, d + m + year)
        for names in _MONTHS:
            month = names[day.month - 1]
            for ordinal in ("", _ordinal(day.day), "of"):
                for year in (y, yy, ""):
                    yield from (d + ordinal + month + year, month + d + ordinal.removesuffix("of") + year)
    for romaji, kanji, before in _ERAS:
        if day.year > before:
            for era in (kanji, romaji, romaji[0]):
                yield f"{era}{day.year - before}年{day.month}月{day.day}日"
                yield f"{era}{day.year - before}{day.month}{day.day}"
            break
    yield f"{y}年{day.month}月{day.day}日"


def _ordinal(day: int) -> str:
    if 10 < day % 100 < 14:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
