"""Postal addresses: house number and street, what follows them line by line, and postcodes.

An address begins with a street: a number and a street word ("12 Main St"), a street word of another language ("Rua do
Arenque 1634", "Puruntie 82"), a number and unknown capitalised words ("6750 Allika 46"), or a box. What follows is
read piece by piece while it looks like the rest of an address: flat, town, state, country, postcode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from querygate.methods.notes.finders.pattern import preceded_by, spans_of
from querygate.methods.notes.lexicon import is_city, is_state_or_country, is_word
from querygate.methods.notes.note_text import fold, listed
from querygate.methods.notes.spans import IdentifierKind, TextSpan

_WORD = r"[^\W\d_][^\W\d_'.\-]{0,30}(?:['.\-][^\W\d_]{1,30}){0,3}"
_SUFFIX = (
    "street|str|st|avenue|aven|ave|av|road|rd|drive|dr|lane|ln|boulevard|blvd|court|ct|place|pl|terrace|ter|circle|cir|"
    "highway|hwy|parkway|pkwy|square|sq|way|trail|trl|loop|alley|crescent|cres|close|"
    "grove|gardens|mews|row|walk|path|pike|"
    "plaza|ridge|run|crossing|hill|hills|heights|view|bypass|expressway|freeway|route|"
    "quay|wharf|mall|park|estate|mount|"
    "mountain|island|islands|junction|union|pass|squares|villages?|springs?|shores?|"
    "stream|summit|well|wells|turnpike|vista|"
    "landing|key|inlet|hollow|harbor|glen|gateway|forge|ford|ferry|falls|extension|"
    "dale|cove|corner|common|cliff|causeway|"
    "canyon|camp|burg|brook|bridge|branch|bend|beach|bayou"
)
_US = re.compile(
    rf"(?<![\w./\-])(?:#?\d{{1,6}}(?:-\d{{1,4}})?[A-Za-z]?(?: 1/2)?|one|two|three) (?:[NSEW]{{1,2}}\.? "
    rf"|(?:north|south|east|west) )?"
    rf"(?:(?:\d{{1,3}}(?:st|nd|rd|th)|{_WORD}) ){{1,4}}?(?:{_SUFFIX})\b\.?(?: [NSEW]{{1,2}}\b)?",
    re.I,
)
_NUMBERED = re.compile(
    rf"(?<![\w./\-])\d{{1,6}},? (?P<words>{_WORD}(?: {_WORD}){{0,4}}\.?) ?\d{{1,5}}[A-Za-z]?\b\.?(?!\s?(?:mg|"
    rf"mcg|ml|cm|mm|kg|%|units?))"
)
_FOREIGN_BEFORE = re.compile(
    rf"(?<!\w)(?:via|viale|corso|piazza|piazzale|vicolo|largo|strada|rue|avenue|boulevard|"
    rf"chemin|route|quai|place|impasse|allée|"
    rf"all[ée]e|calle|c/|avenida|avda\.?|av\.|plaza|paseo|carretera|camino|rua|travessa|praça|estrada|ulica|ul\.|aleja|"
    rf"aleje|os\.|plac|prospekt|am|an der|auf der|im|zum|zur|psc) (?:{_WORD} ?){{1,5}}(?:,? ?(?:n[º°]|"
    rf"no\.?|nr\.?)? ?\d{{1,5}}[A-Za-z]?\b)",
    re.I,
)
_WORD_AND_NUMBER = re.compile(r"(?<=[^\W\d_])\.? \d{1,5}[A-Za-z]?\b\.?")
_ENDINGS = tuple(
    listed(
        "straße strasse str gasse weg platz allee ring gatan vägen väg stigen gränd katu tie kuja polku gade vej "
        "gata veien vei veg laan straat plein kade hove utca út útja tér körút kapu stræti vegur braut ulice "
        "náměstí sokak caddesi odos οδός"
    )
)
_LAST_WORDS = re.compile(r"(?<!\w)(?:[^\W\d_][\w'.\-]{0,30} ){0,3}[^\W\d_]{1,40}$")
_FOREIGN_NUMBERED = re.compile(
    rf"(?<![\w./\-])\d{{1,5}}(?: bis| ter)?,? (?:rue|avenue|av\.|boulevard|bd\.?|chemin|"
    rf"place|quai|route|impasse|all[ée]e|cours|via|"
    rf"calle|rua|ulica|ul\.|trg) (?:{_WORD}[ ]?){{1,5}}",
    re.I,
)
_BOX = re.compile(
    r"\b(?:p\.? ?o\.? box|post office box|postfach|apartado|unit \d{1,5},? box|psc \d{1,5},? box|box) ?#?\d{1,6}\b|"
    r"\b(?:usns|usnv|uscgc|uss|usnv) [A-Z][a-z]{1,20}\b|\b(?:apo|fpo|dpo),? (?:aa|ae|ap) \d{5}\b",
    re.I,
)
_UNIT = re.compile(
    r"(?<!\w)(?:apt|apartment|suite|ste|flat|unit|room|rm|floor|fl|building|bldg)\.? ?#?\d{1,5}[A-Za-z]?\b", re.I
)
_POSTCODE = re.compile(
    r"(?<![\w\-])(?:\d{5}-\d{3,4}|\d{5}|\d{4} ?[A-Z]{2}|\d{4}-\d{3}|\d{3} \d{2}|\d{2}-\d{3}|"
    r"\d{3,4}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|"
    r"[A-Z]\d[A-Z] ?\d[A-Z]\d|(?:[A-Z]{1,2}-)\d{4,5})(?![\w\-]|\.\d)",
    re.I,
)
_HASH = re.compile(r"#\d{1,5}[A-Za-z]?\b")
_NUMBER_BEFORE = re.compile(r"(?<![\w./\-])\d{1,6},? {1,2}$")
_NAMED_STREET = re.compile(
    r"(?<!\w)(?:[A-Z][\w'\-]{1,30} ){1,3}(?:Street|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Drive|Highway|Parkway)\b"
)
_CAPITALS_AND_CODE = re.compile(
    r"(?<!\w)(?P<town>[A-Z][^\W\d_]{2,30}(?: [A-Z][^\W\d_]{2,30}){0,2}(?: \([A-Z][a-z]{2,20}\))?),? "
    r"(?P<code>\d{4,6})(?=\s{0,3}(?:$|\n|\?))"
)
_GAP = re.compile(r"[ \t]{0,8}(?:[,;]|\r?\n)[\s,]{0,12}|[ \t]{1,3}")
_CODE = re.compile(r"[A-Z]{2,3}\b")
_WORDS = re.compile(rf"{_WORD}(?:[ \-]{_WORD}){{0,4}}(?: \([A-Z][a-z]{{1,20}}\))?")
_PLAIN_SUFFIX = frozenset(listed("street st avenue ave road rd drive lane ln boulevard blvd court ct"))
_FUNCTION = frozenset(
    listed("to of in on at the a and or with from for by per times days weeks months years hours mg ml")
)
_MOST_PIECES = 8
_STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY "
    "NC ND OH OK OR PA RI "
    "SC SD TN TX UT VT VA WA WV WI WY DC PR AA AE AP"
).replace(" ", "|")
_STATE_ZIP = re.compile(rf"\b(?:{_STATES}),? (?P<zip>\d{{5}}(?:-\d{{4}})?)(?![\w\-])")
_TOWN_STATE = re.compile(rf"(?<!\w)(?P<town>[A-Z][\w'.\-]{{1,30}}(?: [A-Z][\w'.\-]{{1,30}}){{0,3}}), ?(?:{_STATES})\b")
_ZIP_CUE = re.compile(r"(?:\b(?:zip|post(?:al)?)(?: ?code)?|〒|郵便番号)[ :：is]{0,5}$", re.I)
_UNMISTAKABLE = re.compile(
    r"(?<![\w\-])(?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d|\d{5}-\d{4}|\d{5}-\d{3})(?![\w\-])"
)
_LINE = re.compile(r"(?:^|\n)[ \t]*(?P<code>\d{5}(?:-\d{3,4})?|\d{4} [A-Z]{2}|\d{3} \d{2}|\d{4}-\d{3})[ \t]*(?=\n|$)")
_CORNER = re.compile(
    rf"\b(?:corner|intersection|junction) of (?P<streets>[^,.;\n]{{3,60}}? and (?:{_WORD})(?: {_WORD}){{0,3}})"
)


def find_addresses(text: str) -> Iterator[TextSpan]:
    for pattern in (_US, _FOREIGN_NUMBERED, _FOREIGN_BEFORE, _BOX):
        for match in pattern.finditer(text):
            words = re.findall(r"[^\W\d_]+", match.group())
            if pattern is _BOX or (_is_street(words) if pattern is _US else any(word[0].isupper() for word in words)):
                yield TextSpan(_before(text, match.start()), _rest(text, match.end()), IdentifierKind.PLACE, "address")
    yield from _with_foreign_endings(text)
    uncased = text == text.lower()
    for match in _NUMBERED.finditer(text):
        words = match["words"].split()
        if (words[0][0].isupper() or uncased) and not is_word(fold(words[0].strip(".'"))):
            yield TextSpan(_before(text, match.start()), _rest(text, match.end()), IdentifierKind.PLACE, "address")
    yield from spans_of(_NAMED_STREET, text, IdentifierKind.PLACE, "street")
    yield from spans_of(_UNIT, text, IdentifierKind.PLACE, "flat")
    yield from spans_of(_CORNER, text, IdentifierKind.PLACE, "corner of streets", "streets")


def _with_foreign_endings(text: str) -> Iterator[TextSpan]:
    """`Puruntie 82`, `Csabai kapu 39.`: from the number backwards, since every word may begin a street."""
    for match in _WORD_AND_NUMBER.finditer(text):
        at = match.start()
        word = text[max(text.rfind(" ", 0, at), text.rfind("\n", 0, at)) + 1 : at].lower()
        if (word.endswith(_ENDINGS) and len(word) > 6) or word in _ENDINGS or word == "u":
            lead = text[max(0, at - 80) : at]
            words = _LAST_WORDS.search(lead)
            start = at - (len(lead) - words.start()) if words and word in (*_ENDINGS, "u") else at - len(word)
            yield TextSpan(_before(text, start), _rest(text, match.end()), IdentifierKind.PLACE, "address")


def find_postcodes(text: str) -> Iterator[TextSpan]:
    """Postcodes that no number could be, behind a state, behind a label, or alone on their line."""
    yield from spans_of(_UNMISTAKABLE, text, IdentifierKind.PLACE, "postcode")
    yield from spans_of(_STATE_ZIP, text, IdentifierKind.PLACE, "postcode", "zip")
    yield from spans_of(_LINE, text, IdentifierKind.PLACE, "postcode", "code")
    for match in _POSTCODE.finditer(text):
        if preceded_by(_ZIP_CUE, text, match.start()):
            yield TextSpan(match.start(), match.end(), IdentifierKind.PLACE, "postcode")
    for match in _CAPITALS_AND_CODE.finditer(text):
        town = fold(match["town"]).partition(" (")[0]
        if is_state_or_country(town) or is_city(town):
            yield TextSpan(match.start("code"), match.end("code"), IdentifierKind.PLACE, "postcode")
    for match in _TOWN_STATE.finditer(text):
        yield TextSpan(match.start("town"), match.end("town"), IdentifierKind.PLACE, "town and state")


def _is_street(words: list[str]) -> bool:
    """In small letters it is a street if short and of the commonest kinds: "12 main st", not "5 to 6 way"."""
    if words[0][0].isupper():
        return True
    return len(words) <= 3 and words[-1].lower() in _PLAIN_SUFFIX and words[0] not in _FUNCTION


def _before(text: str, start: int) -> int:
    """Some write two numbers before the street."""
    number = _NUMBER_BEFORE.search(text[max(0, start - 9) : start])
    return start if number is None else start - len(number.group())


def _rest(text: str, end: int) -> int:
    """Where the address ends: pieces divided by commas or lines, and flats and postcodes after a space."""
    for _ in range(_MOST_PIECES):
        gap = _GAP.match(text, end)
        if gap is None:
            break
        taken = _piece(text, gap.end(), divided="," in gap.group() or "\n" in gap.group() or ";" in gap.group())
        if taken is None:
            break
        end = taken
    return end


def _piece(text: str, at: int, divided: bool) -> int | None:
    for pattern in (_UNIT, _HASH, _POSTCODE):
        match = pattern.match(text, at)
        if match is not None:
            return match.end()
    code = _CODE.match(text, at)
    if code is not None:
        return code.end()
    words = _WORDS.match(text, at)
    if words is None:
        return None
    whole = fold(words.group())
    if is_state_or_country(whole):
        return words.end()
    if divided:
        if is_city(whole):
            return words.end()
        first = words.group().split()
        unknown = [word for word in first if not is_word(fold(word))]
        if unknown and text[at].isupper():
            return _capitalised_end(words)
    return None


def _capitalised_end(words: re.Match[str]) -> int:
    """The end of the leading words that are capitalised, or small words between such."""
    end = words.start()
    for match in re.finditer(r"\S+", words.group()):
        if match.group()[0].isupper() or match.group()[0] == "(":
            end = words.start() + match.end()
        elif len(match.group()) > 3:
            break
    return end
