"""Names of people, by dictionaries, titles, what stands before and behind, and capitals.

A run of capitalised words is cut at words that are no names. A part of it is a name if the dictionaries know one of its
words as a name and not as a word; after a title, a relation or a label; before a degree; if a first and a last name
stand side by side though both are words ("Will Young"); and in the middle of a sentence if it is a name and a word
("Grant"). Words that no dictionary knows are names too unless the options say otherwise. Diseases called after people
are left ("Parkinson's disease").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from querygate.methods.notes.finders.capitals import Word, begins_sentence, city_at, is_shouted, kind_of, runs
from querygate.methods.notes.finders.pattern import preceded_by
from querygate.methods.notes.lexicon import is_city, is_first_name, is_last_name, is_state_or_country, is_word
from querygate.methods.notes.note_text import fold, listed
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_TITLE_WORDS = frozenset(
    listed(
        "dr mr mrs ms miss mx prof professor doctor sir madam dame rev reverend father mother sister brother nurse "
        "sgt capt captain lt col major judge senator president herr frau mme mlle monsieur madame señor señora sra "
        "hr fru pr md rn np pa"
    )
)
_TITLE = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|miss|mx|prof|professor|doctor|sir|madam|rev|reverend|nurse|"
    r"sgt|capt|captain|lt|col|herr|frau|mme|"
    r"mlle|monsieur|madame|señora?|sra?|hr|fru|attending|surgeon|dda|m)\.?\s{1,3}|\bdr\.?|"
    r"(?-i:[a-z](?:Dr|Mr|Mrs|Ms|Prof)\.)\s{0,3})$",
    re.I,
)
_LABEL = re.compile(
    r"\b(?:(?:(?:first|last|full|given|family|maiden|middle|sur|nick|user|patient|his|"
    r"her|my|their|your|the)[ \-]?)?name(?:'?s| is| was)?"
    r"|named|called|signed(?: by)?|dictated by|authored by|written by|directed by|known as|"
    r"aka|a\.k\.a\.|née|nee|attn|dear|"
    r"i'm|i am|my name's|this is|call me|ask for|contact(?: person)?|next of kin|guarantor|"
    r"provider|physician|signature)\s?[:：]?\s{1,4}$",
    re.I,
)
_RELATION = re.compile(
    r"\b(?:patients?|pt|client|son|daughter|wife|husband|mother|father|mom|dad|brother|"
    r"sister|aunt|uncle|cousin|niece|nephew|"
    r"grandson|granddaughter|grandmother|grandfather|partner|spouse|fianc[eé]e?|boyfriend|girlfriend|friend|neighbou?r|"
    r"caregiver|guardian|roommate|colleague|resident|intern|therapist|hi|hello|hey|thanks|"
    r"regards|sincerely|cheers)[:,]?\s{1,3}$",
    re.I,
)
_DEGREE = re.compile(
    r",? {0,2}(?:M\.?D|D\.?O|R\.?N|Ph\.?D|N\.?P|P\.?A(?:-C)?|D\.?D\.?S|LPN|FNP|MSN|BSN|"
    r"MBBS|FRCP|Esq|Jr|Sr|LCSW|PharmD|DPT)\b"
)
_EPONYM = re.compile(
    r"(?:'s?|s')?(?:[ \-][a-z]+)?[ \-](?:disease|syndrome|sign|test|score|scale|criteria|"
    r"fracture|palsy|tumou?r|lymphoma|sarcoma|"
    r"catheter|tube|forceps|reflex|phenomenon|procedure|operation|esophagus|oesophagus|maneuver|manoeuvre|contracture|"
    r"thyroiditis|stain|index|classification|stage|virus|cyst|node|bodies|body|ulcer|"
    r"law|formula|rule|drain|clip|graft|line)\b",
    re.I,
)
_PLACE_CUE = re.compile(
    r"\b(?:in|at|near|from|to|visit(?:ing|ed)?|of|around|outside|toward|towards|via|"
    r"through|leaving|reach(?:ed)?|city of|town of|"
    r"live in|lives in|moved to|born in|downtown|greater|where:?)\s{1,3}$",
    re.I,
)
_FACILITY_END = re.compile(
    r" (?:hospital|clinic|medical|center|centre|university|college|school|church|pharmacy|"
    r"hospice|institute|infirmary|county|"
    r"nursing home|rehab(?:ilitation)?|healthcare|health|airport|station|library|club|country club)\b",
    re.I,
)
_TOWN_CUE = re.compile(
    r"\b(?:from|in|near|(?:returned|moved|back|travel(?:l?ed)?|went|going|home|flight|"
    r"trip|taxi|transferred) to)\s{1,3}$",
    re.I,
)
_SPOKEN = re.compile(
    r"\b(?:spoke|speaking|talk(?:ed|ing)?|listened|according|explained|written|wrote|referred) to\s{1,3}$", re.I
)
_NO_NAMES = ("word", "acronym", "large", "calendar")
_HOUSE = re.compile(
    r" \d{1,4}[a-z]?\b(?!\.\d|[/%:\-]| ?(?:mg|mcg|ml|g|units?|times|x|days?|weeks?|months?|years?|hours?|cm|mm)\b)",
    re.I,
)
_BLANKED = re.compile(r"。{6}")  # ideographs were here: Latin words among them are terms, not names
_DOSE = re.compile(
    r" {1,2}\d{1,4}(?:[.,/\-]\d{1,3})? ?(?:mg|mcg|µg|g|ml|mL|units?|iu|%|meq|puffs?|tab|cap|po|iv|bid|tid|qid|daily|/)|"
    r" \d{1,3}/\d{1,3}|,? (?:po|iv|im|sc|bid|tid|qid|qhs|prn|daily|tablets?|capsules?|infusion|injection|drip)\b",
    re.I,
)
_ASIDE = (" ", ". ", ".", "-", "'")


@dataclass(frozen=True, slots=True)
class _Part:
    """Words of a run that may be one name, and what stands around them."""

    text: str
    words: list[Word]
    titled: bool
    shouted: bool  # in a line of capitals these tell nothing
    alone: bool  # no other capitalised word beside

    @property
    def start(self) -> int:
        return self.words[0].start

    @property
    def end(self) -> int:
        return self.words[-1].end

    def has(self, kind: str) -> bool:
        return any(word.kind == kind for word in self.words)

    def after(self, cue: re.Pattern[str]) -> bool:
        return preceded_by(cue, self.text, self.start)

    def before(self, cue: re.Pattern[str]) -> re.Match[str] | None:
        return cue.match(self.text[self.end : self.end + 60])

    def span(self, kind: IdentifierKind, rule: str, more: int = 0) -> TextSpan:
        return TextSpan(self.start, self.end + more, kind, rule)


class NameFinder:
    """Finds names, and unknown capitalised words unless `unknown` is false."""

    def __init__(self, unknown: bool = True) -> None:
        self._unknown = unknown

    def __call__(self, text: str) -> Iterator[TextSpan]:
        latin = text.isascii() or not _BLANKED.search(text)
        before: list[Word] = []
        for run in runs(text):
            if before:
                yield from _over_lines(text, before, run[0])
            before = run
            for part in _parts(text, run):
                if isinstance(part, TextSpan):
                    yield part
                    continue
                found = _judge(part) or (_judge_unknown(part) if self._unknown and latin else None)
                if found is not None:
                    yield found
        for match in _GLUED.finditer(text):
            if kind_of(match.group()) == "name":
                yield TextSpan(match.start(), match.end(), IdentifierKind.NAME, "name in dictionary")
        if latin:
            yield from _in_lower_case(text)


_GLUED = re.compile(r"(?<=[a-z]{2})[A-Z][a-z]{2,39}(?![a-z])")  # seenJohn: a space or a line break was lost
_LINE_BREAK = re.compile(r",?[ \t]{0,3}\r?\n[ \t]{0,3}")
_HEADING = re.compile(r" ?[:：]| [A-Z][a-z]+ ?:")
_OPENERS = frozenset(
    listed(
        "the a an this that there he she it they we i you his her patient pt plan assessment history exam labs imaging "
        "no not on in at for to with and or but if when after before continue follow discharge admit please will has "
        "was is denies reports seen called discussed"
    )
)


def _over_lines(text: str, run: list[Word], right: Word) -> Iterator[TextSpan]:
    """A first and a last name, in whichever order, that a line break divides.

    What begins a line has a capital anyway. So one of the two is a name and no word, or the first does not begin a
    sentence, or a title or a label stands before it.
    """
    middle = len(run) > 1 and len(run[-1].text) == 1
    left = run[-2] if middle else run[-1]
    gap = text[run[-1].end : right.start]
    if not _LINE_BREAK.fullmatch(gap.removeprefix(".") if middle else gap):
        return
    one, other = is_first_name(fold(left.text)), is_first_name(fold(right.text))
    titled = preceded_by(_TITLE, text, left.start, 14)
    any_word = one and titled and right.kind == "word" and fold(right.text) not in _OPENERS
    if _HEADING.match(text[right.end : right.end + 40]) or not (
        any_word or (one and _may_be_last(right)) or (other and _may_be_last(left))
    ):
        return
    cued = titled or preceded_by(_LABEL, text, left.start) or not begins_sentence(text, left.start)
    if cued or "name" in (left.kind, right.kind):
        for word in (*run[run.index(left) :], right):
            yield TextSpan(word.start, word.end, IdentifierKind.NAME, "first and last name")


def _may_be_last(word: Word) -> bool:
    return word.kind in ("name", "maybe", "unknown") or is_last_name(fold(word.text))


def _parts(text: str, run: list[Word]) -> Iterator[_Part | TextSpan]:
    """A run cut where a word is no name; cities are places at once."""
    shouted = is_shouted(text, run)
    at = 0
    while at < len(run):
        word = run[at]
        titled = preceded_by(_TITLE, text, word.start, 14)
        many = 0 if titled else _as_city(text, run, at)
        if many:
            yield _city(text, run[at : at + many])
        elif titled or not _is_title(word, text):
            many = _extent(run, at, titled or preceded_by(_LABEL, text, word.start))
            if many:
                yield _Part(text, run[at : at + many], titled, shouted, many == len(run))
            elif (
                word.kind == "acronym"
                and len(word.text) >= 5
                and preceded_by(_TOWN_CUE, text, word.start)
                and not shouted
            ):
                yield TextSpan(word.start, word.end, IdentifierKind.PLACE, "unknown capitalised word")
        at += max(1, many)


def _judge(part: _Part) -> TextSpan | None:
    """Is it a name by what the dictionaries and its neighbours say?"""
    if part.titled:
        return part.span(IdentifierKind.NAME, "title and name")
    if part.before(_EPONYM):
        return None
    if part.after(_LABEL):
        return part.span(IdentifierKind.NAME, "label and name")
    if part.before(_FACILITY_END):
        return part.span(IdentifierKind.PLACE, "facility")
    if part.has("name"):
        if part.alone and is_city(fold(part.words[0].text)) and part.after(_TOWN_CUE):
            return part.span(IdentifierKind.PLACE, "city")
        return part.span(IdentifierKind.NAME, "name in dictionary")
    if part.before(_DEGREE) and any(word.kind != "word" for word in part.words):
        return part.span(IdentifierKind.NAME, "name and degree")
    if part.has("maybe") and part.after(_RELATION):
        return part.span(IdentifierKind.NAME, "relation and name")
    if part.shouted:
        return None
    if _is_first_and_last(part.words):
        return part.span(IdentifierKind.NAME, "first and last name")
    if part.has("maybe") and not part.has("unknown") and part.alone and not begins_sentence(part.text, part.start):
        return part.span(IdentifierKind.NAME, "capitalised in a sentence")
    return None


def _judge_unknown(part: _Part) -> TextSpan | None:
    """Capitalised words that no dictionary knows: a place after "in" or before a house number, else a name."""
    if not part.has("unknown") or part.shouted or part.before(_EPONYM) or part.before(_DOSE):
        return None
    house = part.before(_HOUSE)
    place = house or part.after(_PLACE_CUE)
    more = len(house.group()) if house else 0
    return part.span(IdentifierKind.PLACE if place else IdentifierKind.NAME, "unknown capitalised word", more)


def _is_title(word: Word, text: str) -> bool:
    return fold(word.text) in _TITLE_WORDS and text[word.end : word.end + 1] in (".", " ") and word.kind != "name"


def _extent(run: list[Word], at: int, cued: bool) -> int:
    """How many words from here on may be one name: up to a word that is none. After a cue the first may be any word."""
    many = 0
    while at + many < len(run) and many < 5:
        kind = run[at + many].kind
        if kind in _NO_NAMES and not (cued and many == 0 and kind != "large"):
            break
        many += 1
    if (
        many
        and at + many < len(run)
        and run[at + many].kind == "word"
        and _is_given(run[at + many - 1])
        and not run[at + many].text.isupper()
    ):
        many += 1  # a last name that is a word and in no list: "Jane Doe"
    part = run[at : at + many]
    if all(word.kind == "initial" for word in part) and not (cued and many):
        return 0
    return many


def _is_given(word: Word) -> bool:
    return word.kind == "name" and is_first_name(fold(word.text)) and not is_last_name(fold(word.text))


def _city(text: str, words: list[Word]) -> TextSpan:
    """A place, or somebody called like one: Dudley, unless somebody is in or from there."""
    start, end = words[0].start, words[-1].end
    is_place = len(words) > 1 or words[0].kind != "unknown" or _state_follows(text, end)
    if is_place or (preceded_by(_PLACE_CUE, text, start) and not preceded_by(_SPOKEN, text, start)):
        return TextSpan(start, end, IdentifierKind.PLACE, "city")
    return TextSpan(start, end, IdentifierKind.NAME, "name or city")


def _state_follows(text: str, end: int) -> bool:
    state = re.match(r",? ([A-Z]\w+(?: [A-Z]\w+)?)", text[end : end + 40])
    return state is not None and any(is_state_or_country(fold(name)) for name in (state[1], state[1].split()[0]))


def _as_city(text: str, run: list[Word], at: int) -> int:
    """A city of two words or more; of one if it is nothing else, if a state follows or a place is spoken of."""
    many = city_at(run, at)
    if many == 0:
        return 0
    words = run[at : at + many]
    first_is_name = words[0].kind == "name" and is_first_name(fold(words[0].text))
    if many > 1 and any(word.kind != "word" for word in words):
        return 0 if first_is_name and is_last_name(fold(words[-1].text)) else many
    cue = preceded_by(_TOWN_CUE if words[0].kind in ("name", "maybe") else _PLACE_CUE, text, words[0].start)
    if _state_follows(text, words[-1].end):
        return many
    if words[0].kind == "unknown" or (cue and words[0].kind in ("name", "maybe", "acronym")):
        alone = at + many == len(run) or run[at + many].kind in _NO_NAMES
        return many if alone else 0
    return many if many > 1 and cue and not begins_sentence(text, words[0].start) else 0


def _is_first_and_last(part: list[Word]) -> bool:
    if len(part) < 2:
        return False
    first, last = fold(part[0].text), fold(part[-1].text)
    return is_first_name(first) and (is_last_name(last) or part[-1].kind == "unknown")


_LOWER = re.compile(r"[^\W\d_]{2,40}(?:['\-][^\W\d_]{2,40})?")


@lru_cache(maxsize=1 << 16)
def _is_plain(word: str) -> bool:
    """Capitalised, or a word of English: no name in small letters."""
    return not word[0].islower() or (word.isascii() and is_word(fold(word)))


def _in_lower_case(text: str) -> Iterator[TextSpan]:
    """First names typed in small letters, with what follows if that is a last name or no word at all."""
    words = list(_LOWER.finditer(text))
    uncased = len(words) > 3 and text == text.lower()
    past = 0
    for i, match in enumerate(words):
        word = match.group()
        if _is_plain(word) or match.start() < past:
            continue
        folded = fold(word)
        cued = preceded_by(_TITLE, text, match.start(), 14) or preceded_by(_NAMED, text, match.start())
        named = len(folded) >= 4 and (is_first_name(folded) or (uncased and is_last_name(folded)))
        named = named or (
            len(folded) >= 5 and is_city(folded) and (uncased or preceded_by(_BESIDE, text, match.start()))
        )
        alien = uncased and len(folded) >= 3 and not is_state_or_country(folded)
        if not (named or alien or cued):
            continue
        end = match.end()
        for other in words[i + 1 : i + 4]:
            following = fold(other.group())
            if text[end : other.start()] not in _ASIDE or is_word(following) or is_state_or_country(following):
                break
            end = other.end()
        past = end
        if named or cued or end > match.end():  # of unknown words, two side by side
            yield TextSpan(match.start(), end, IdentifierKind.NAME, "name in small letters")


_BESIDE = re.compile(r"\b(?:with|by|from|near|patient|pt|for)\s$", re.I)
_NAMED = re.compile(r"\b(?:name is|name:|name's|named|last name\??|first name\??)\s{1,3}$", re.I)
