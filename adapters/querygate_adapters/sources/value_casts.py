"""How values are written in a source, and the SQL that reads each as a type of the policy.

Values that cannot be read become NULL, and `is_unread` finds them.
"""

from __future__ import annotations

from querygate_adapters.sources.files import quoted
from querygate_adapters.vault.code_list_rows import CASTS

# How a source value becomes a value of the policy's type; NULL where it cannot. {x} is the source column, {c} the day
# that eight digits write (20240131), {p} a text with a decimal point in place of a decimal comma.
_COMPACT = (
    "CASE WHEN regexp_full_match({t}, '[0-9]{{8}}([.]0)?') THEN CAST(try_strptime(LEFT({t}, 8), '%Y%m%d') AS DATE) END"
)
_POINT = (  # "1,234" may be a thousand: it is not read
    "CASE WHEN regexp_full_match({t}, '[+-]?([0-9]+,([0-9]{{1,2}}|[0-9]{{4,}})|0+,[0-9]+)') "
    "THEN REPLACE({t}, ',', '.') ELSE {x} END"
)
_DOTTED = (  # 31.1.2024, with or without a time of day
    "CASE WHEN regexp_full_match({t}, '[0-9]{{1,2}}[.][0-9]{{1,2}}[.][0-9]{{4}}( [0-9]{{1,2}}(:[0-9]{{2}}){{1,2}})?') "
    "THEN try_strptime({t}, ['%d.%m.%Y', '%d.%m.%Y %H:%M', '%d.%m.%Y %H:%M:%S']) END"
)
_CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
_WITH_SLASHES = {"day/month/year": "%d/%m/%Y", "month/day/year": "%m/%d/%Y"}
_DAY = "COALESCE(TRY_CAST({x} AS DATE), {c})"
_CALENDAR = f"CASE WHEN {_DAY} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {_DAY} END"  # no infinite dates
_MOMENT = "COALESCE(TRY_CAST({x} AS TIMESTAMP), {m})"
_CLOCK = f"CASE WHEN {_MOMENT} >= TIMESTAMP '0001-01-01' AND {_MOMENT} < TIMESTAMP '10000-01-01' THEN {_MOMENT} END"
_FROM_TEXT = {
    "integer": "CASE WHEN {d} = TRUNC({d}) THEN TRY_CAST({d} AS BIGINT) END",
    "number": "NULLIF(TRY_CAST({p} AS DOUBLE), 'nan')",
    "date": _CALENDAR,
    "timestamp": _CLOCK,
    "boolean": "TRY_CAST({x} AS BOOLEAN)",
    "category": "{x}",
}
_FROM_NUMBER = {
    "integer": "CASE WHEN {x} = TRUNC({x}) THEN TRY_CAST({x} AS BIGINT) END",
    "number": "TRY_CAST({x} AS DOUBLE)",
    "date": "{c}",
    "timestamp": "NULL",
    "boolean": "CASE {x} WHEN 0 THEN FALSE WHEN 1 THEN TRUE END",
    "category": "CAST({x} AS VARCHAR)",
}
_FROM_OTHER = {**_FROM_TEXT, "integer": "NULL", "number": "NULL", "category": "CAST({x} AS VARCHAR)"}
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_ALIKE = (("number", "FLOAT"), ("number", "DOUBLE"), ("boolean", "BOOLEAN"))


def cast_to(name: str, kind: str, found: str) -> str:
    """SQL for a source column of the stored type `found` as a policy type; NULL where a value cannot be read."""
    if kind in CASTS:
        return CASTS[kind](name, found)
    x = quoted(name)
    if found == "TIMESTAMP WITH TIME ZONE" and kind in ("timestamp", "date"):
        moment = f"make_timestamp(epoch_us({x}))"  # a moment is in UTC, and so is its day
        return moment if kind == "timestamp" else f"CAST({moment} AS DATE)"
    if found == "VARCHAR":
        text = f"TRIM({x})"
        point, moment = _POINT.format(t=text, x=x), _DOTTED.format(t=text)
        day = f"COALESCE({_COMPACT.format(t=text)}, CAST({moment} AS DATE))"
        if kind in ("date", "timestamp"):  # 01/02/12 would be a day of the year 1
            x = f"CASE WHEN NOT regexp_matches({text}, '^[0-9]{{1,2}}[/-]') THEN {x} END"
        return _FROM_TEXT[kind].format(x=x, p=point, d=f"TRY_CAST({point} AS DECIMAL(38, 18))", c=day, m=moment)
    if kind == "integer" and found in _WHOLE:
        return f"CAST({x} AS BIGINT)"
    if found in _NUMBERS or found in _FLOATS or found.startswith("DECIMAL"):
        whole = f"CASE WHEN {x} = TRUNC({x}) THEN CAST(TRY_CAST({x} AS BIGINT) AS VARCHAR) END"
        cast = _FROM_NUMBER[kind].format(x=x, c=_COMPACT.format(t=f"({whole})"))
        return f"CASE WHEN isnan({x}) THEN NULL ELSE {cast} END" if found in _FLOATS else cast
    return _FROM_OTHER[kind].format(x=x, p="NULL", d="NULL", c="NULL", m="NULL")


def cast_column(name: str, kind: str, found: str, person: str) -> str:
    """The same, where the column called `person` holds keys of people."""
    cast = cast_to(name, kind, found)
    return person_key(cast) if name == person and kind == "category" and found not in _WHOLE else cast


def as_text(name: str, found: str) -> str:
    """A value as text, so that a number in one table matches a text in the other. The number 7.0 is 7."""
    x = quoted(name)
    if found in _FLOATS or found.startswith("DECIMAL"):
        return (
            f"CASE WHEN {x} = TRUNC({x}) THEN CAST(TRY_CAST({x} AS HUGEINT) AS VARCHAR) ELSE CAST({x} AS VARCHAR) END"
        )
    return f"CAST({x} AS VARCHAR)"


def as_key(name: str, found: str) -> str:
    """A key as text, without what is around it and cannot be seen. A blank one is missing."""
    return as_text(name, found) if found in _WHOLE else _trimmed(as_text(name, found))


_UNSEEN = r"[\p{Z}\p{Cc}\p{Cf}]+"  # white space of any kind, control and format characters
_WHOLE_TEXT = "^([+-]?[0-9]+)[.]0+$"


def _trimmed(text: str) -> str:
    return f"NULLIF(regexp_replace({text}, '^{_UNSEEN}|{_UNSEEN}$', '', 'g'), '')"


def person_key(text: str) -> str:
    """SQL for the text that identifies a person, however a table writes it: nobody becomes several people because of
    spaces, or because 7 was also written as 7.0. Other keys may be codes, of which 250 and 250.0 are two.
    """
    return f"regexp_replace({_trimmed(text)}, '{_WHOLE_TEXT}', '\\1')"


def iso_day(text: str, order: str) -> str:
    """SQL that rewrites a text that may be a date with slashes in ISO form, with its time of day if it has one. A
    two-digit year or an impossible day becomes a text that no type can read.
    """
    trimmed, day = f"TRIM({text})", _WITH_SLASHES[order]
    moments = ", ".join(f"'{day} {clock}'" for clock in _CLOCKS)
    iso = (
        f"COALESCE(CAST(CAST(try_strptime({trimmed}, '{day}') AS DATE) AS VARCHAR), "
        f"CAST(try_strptime({trimmed}, [{moments}]) AS VARCHAR), '?')"
    )
    whole = f"regexp_full_match({trimmed}, '[0-9]{{1,2}}/[0-9]{{1,2}}/[0-9]{{4}}( .*)?')"
    return f"CASE WHEN {whole} THEN {iso} WHEN regexp_matches({trimmed}, '^[0-9]{{1,2}}/') THEN '?' ELSE {text} END"


_BEYOND = "[<>≤≥]=?\\s*"  # a number with a plus behind it is one too: ages are told as 90+


def at_limit(text: str, *, missing: bool) -> str:
    """SQL for a text that may say that a number lies below or above a limit (`<0,5`, `> 100`) as that limit, or as
    nothing.
    """
    limit = "NULL" if missing else f"regexp_replace(TRIM({text}), '^{_BEYOND}|[+]$', '', 'g')"
    number = "[0-9]+([.,][0-9]+)?"
    is_beyond = f"regexp_full_match(TRIM({text}), '{_BEYOND}[+-]?{number}|{number}[+]')"
    return f"CASE WHEN {is_beyond} THEN {limit} ELSE {text} END"


def is_sure(kind: str, found: str) -> bool:
    """Whether every value of the stored type can be read: texts as texts, whole numbers as whole numbers."""
    return kind == "category" or (kind in ("integer", "number") and found in _WHOLE) or (kind, found) in _ALIKE


def is_unread(name: str, cast: str) -> str:
    """Whether a value is present but could not be read. NaN, even as a text, counts as missing."""
    x = quoted(name)
    is_nan = f"COALESCE(isnan(TRY_CAST(CAST({x} AS VARCHAR) AS DOUBLE)), FALSE)"
    return f"CASE WHEN {x} IS NULL OR ({cast}) IS NOT NULL THEN FALSE ELSE NOT {is_nan} END"
