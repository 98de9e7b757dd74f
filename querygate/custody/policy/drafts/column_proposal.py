"""Proposes role, type and public domain of each column from a source's figures, with reasons. The custodian decides.

Columns that look like identifiers or free text stay in the vault, as do those that the gate could not publish well.
Each proposal gives its reasons in figures; it contains no value of the data except the names of categories that at
least k records share. Domains are those of the measure, or end on round numbers, because the smallest and largest value
of a column belong to two people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from querygate.core.column_profile import ColumnFigures
from querygate.core.count_text import counted
from querygate.core.types import Role
from querygate.custody.policy import column_names
from querygate.custody.policy.clinical_measures import FoundMeasure, measure_of
from querygate.custody.policy.drafts.column_kind import is_kind, kind_in
from querygate.custody.policy.drafts.draft_domains_and_cuts import (
    Keys,
    age_keys,
    date_keys,
    day_of,
    number_keys,
    sensitive_date_keys,
    toml_list,
    toml_text,
    year_keys,
)
from querygate.custody.policy.identifier_signs import JOINT, LISTS, MOSTLY, identifier_sign, traces
from querygate.custody.policy.ordinal_values import in_order

FEW = 50
"""A category with at most this many values lists them."""

CODED = 12
"""Whole numbers with at most this many values count as codes."""

COMMON, SHARE, SEVERAL = 150, 20, 12
"""A value of a quasi-identifier keeps its name if this many times k people have it, or one in this many: about k in
most cells of age and sex. Views ask about at most this many values one by one."""

MANY = 500
"""A category with more values needs a hierarchy."""

OTHER = "other"
"""The common name of a category's rare values."""

NEARLY_UNIQUE = 0.95
MOSTLY_ONE, NEARLY_ALL, SOME, SELDOM = 0.8, 0.9, 0.05, 0.03
WORDY = 4.0
FEW_HAVE_IT = 2
"""An outcome or disease that this many times k people have is published, however small its share."""

EXACT = 2**53
YEARS = (1800, 2200)
YES_NO = 2
"""A number up to this is a flag, not an age: "over 75", say."""

NUMBERS = ("integer", "number")

TITLES = {"icd9cm": "ICD-9-CM", "icd10cm": "ICD-10-CM", "icd10": "ICD-10 (WHO, GM)"}
"""Systems of diagnoses; of those that a column fits alike, the first."""

LIST_TITLES = TITLES | {JOINT: "ICD-9-CM and ICD-10-CM"}
"""The same for lists."""

NAMED, UNSURE = range(2)
"""How certain the meaning of a column is: by its name, or not at all."""

MISSED = "Missing in most records. Every class would need enough records that have it, so classes would be large."
ALIKE = "Nearly all records have the same value. Every class would need others, so classes would be large."
REPEATS = "Texts repeat: if they are categories and name nobody, give it type category and list them in `values`."
MEASURED = "Must not be learned about a person."
NOT_MEASURED = (
    "Its largest values lie far above all others and may be codes for missing answers, such as 77 or 99: list such "
    "codes in `absent`."
)
RARE = "values that fewer than {k} people have"
DECIDE = "The name does not suggest a role: decide."


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposal for one column. `keys` are written to the file, with `notes` beside them.

    If not all columns can be published, those with low `rank` come first: by certainty of meaning, the rank of their
    kind and measure, and missing values. Among columns with the same `once` the first by rank is published.
    """

    name: str
    role: Role
    type: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    why: tuple[str, ...] = ()
    warning: str = ""
    rank: tuple[int, int, int, int] = (UNSURE, 0, 0, 0)
    offer: str = ""  # for a withheld column, the role in which it could be published
    once: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    measure: str = ""
    beside: str = ""  # another measure that analysts compare it with

    @property
    def is_published(self) -> bool:
        return self.role in ("quasi-identifier", "sensitive")

    def left_out(self, why: str) -> Proposal:
        """The column withheld, but one edit away from being published."""
        return replace(self, role="withheld", offer=self.role, why=(*self.why, why))


Rule = Callable[[ColumnFigures, int], "Proposal | None"]


def propose_columns(columns: Iterable[ColumnFigures], k: int) -> list[Proposal]:
    """A proposal for each column by itself, in the order of the source."""
    return [_with_figures(next(filter(None, (rule(c, k) for rule in RULES))), c) for c in columns]


def choose_k(rows: int) -> int:
    """10 for a table of ordinary size; less only if 10 would leave a handful of classes."""
    return 10 if rows >= 200 else 5 if rows >= 30 else 2


# -- one column: the first rule that applies ----------------------------------------------------------


def _empty(c: ColumnFigures, k: int) -> Proposal | None:
    if c.distinct > 1 or (c.distinct == 1 and c.missing):
        return None
    told = "The same in every record, so it carries no information." if c.known else "No record has a value."
    return Proposal(c.name, "withheld", why=(told,))


def _identifier(c: ColumnFigures, k: int) -> Proposal | None:
    sign = identifier_sign(c.name, c.matches, c.distinct)
    if sign is None or is_kind(c, "age"):
        return None
    by = ["its name says so"] if sign.named else []
    by += [f"{sign.share:.0%} of the values match the pattern"] if sign.share >= 0.01 else []
    why = [f"Likely {_article(sign.kind)}: {' and '.join(by)}."]
    if sign.kind == "record number" and 1 < c.distinct < NEARLY_UNIQUE * c.known:
        per = c.known / c.distinct
        why.append(
            f"{per:.1f} records share a value on average: k has to count values, and not records, if it "
            "identifies people."
        )
    return Proposal(c.name, "identifier", why=tuple(why), warning=_article(sign.kind))


def _birth_part(c: ColumnFigures, k: int) -> Proposal | None:
    kind = kind_in(c)
    if kind is None or kind.name not in ("part_of_birth_date", "finer_age"):
        return None
    return Proposal(c.name, "withheld", why=(kind.why,), once=kind.once, rank=(NAMED, kind.rank, 0, c.missing))


def _compact_date(c: ColumnFigures, k: int) -> Proposal | None:
    if c.matches.get("compact date", 0) < 0.99 or c.distinct < 2 or c.low is None or c.high is None:
        return None
    low, high = day_of(c.low), day_of(c.high)
    if low is None or high is None:
        return None
    return _day(c, k, "date", low, high, "Dates written as eight digits; they are read as dates.")


def _date(c: ColumnFigures, k: int) -> Proposal | None:
    kind = next((kind for kind in ("date", "timestamp") if c.all_are(kind)), None)
    if kind is None or c.low is None or c.high is None:
        return None
    return _day(c, k, kind, int(c.low), int(c.high))


def _day(c: ColumnFigures, k: int, kind: str, low: int, high: int, how: str = "") -> Proposal:
    """A date or a moment: a birth by its year, an outcome as sensitive, others as quasi-identifiers."""
    why = [how] if how else []
    named = kind_in(c)
    if named is not None and named.name == "birth":
        keys = date_keys(kind, low, high, yearly=True)
        found = Proposal(c.name, "quasi-identifier", kind, keys, (*why, named.why), "a date of birth", once="age")
        return replace(found, rank=(NAMED, named.rank, 1, c.missing))  # a year of birth has priority
    if named is not None and named.role == "sensitive":
        found = _published(c, kind, Keys(sensitive_date_keys(kind, low, high)), why)
        return found.left_out(MISSED) if c.missing > MOSTLY * c.rows and not _is_asked_for(c, k) else found
    keys = date_keys(kind, low, high, yearly=False)
    why.append("Others may know the date: edges are coarse, and cuts are public.")
    return _published(c, kind, Keys(keys), why, "quasi-identifier")


def _free_text(c: ColumnFigures, k: int) -> Proposal | None:
    """Texts of many words; also those that many records share, unless the name shows that they are categories."""
    found = [f"{sign.share:.1%} of the values contain {_article(sign.kind)}" for sign in traces(c.contains)]
    is_named = kind_in(c) is not None
    repeats, several = c.distinct <= FEW, c.words > 1
    is_text = c.words >= WORDY and not (repeats and is_named)
    is_text |= several and (bool(found) or column_names.says(column_names.REMARKS, c.name))
    if not is_text or c.all_are("number") or c.all_are("timestamp"):
        return None
    why = [
        f"Free text ({c.words:.0f} words on average): it can contain anything about anybody, so queries cannot reach "
        "it.",
        "To release it in extracts that name it, with names, dates and numbers removed, give it role note.",
    ]
    why += [REPEATS] if repeats else []
    reasons = (*why, *(f"{text}." for text in found))
    return Proposal(c.name, "withheld", why=reasons, warning="free text", offer="note")


def _sequence(c: ColumnFigures, k: int) -> Proposal | None:
    if c.matches.get("sequence", 0.0) < 0.98:
        return None
    why = (
        "Likely DNA sequences, which identify people: queries cannot reach them.",
        "To release them in extracts that name them, generalised until k records are the same, give the column role "
        "sequence; the sequences must be aligned.",
    )
    return Proposal(c.name, "withheld", why=why, warning="a DNA sequence", offer="sequence")


def _code_list(c: ColumnFigures, k: int) -> Proposal | None:
    """Codes in nearly all values, and several in most; some are enough if nothing else looks like such codes. Columns
    of lists appear in brackets.
    """
    system, mark = max(LISTS, key=lambda one: c.matches.get(" by ".join(one), 0.0))
    several, lists = c.matches.get(f"{system} by {mark}", 0.0), c.matches.get("in brackets", 0.0)
    alone = sum(c.matches.get(one, 0.0) for one in system.split("+"))
    is_sure = column_names.says(column_names.DIAGNOSIS, c.name) or ("icd9cm" not in system and c.distinct >= FEW)
    is_told = several >= SOME and several + alone >= NEARLY_ALL and is_sure
    if not is_told and (several < MOSTLY or max(lists, several + alone) < NEARLY_ALL):
        return None
    why = (
        f"Likely code lists of {LIST_TITLES[system]}: {several:.0%} of the values contain several codes.",
        "Published as sets of generalised codes. Say in `protect` what others may know about them, and in `utility` "
        "which codes may be merged.",
    )
    keys = {"system": toml_text(system)} | ({} if lists >= NEARLY_ALL else {"separator": toml_text(mark)})
    return Proposal(c.name, "codes", keys=keys, why=why, rank=(NAMED, 0, 0, c.missing))


def _key(c: ColumnFigures, k: int) -> Proposal | None:
    """A unique value for each record identifies it, whatever its name. Measured numbers have fractions."""
    whole = c.all_are("integer")
    if c.known < FEW or (c.all_are("number") and not whole) or is_kind(c, "age"):
        return None
    if c.distinct < (c.known if whole else NEARLY_UNIQUE * c.known):
        return None
    why = f"Likely a key: {c.distinct / c.known:.1%} of its values occur once."
    return Proposal(c.name, "identifier", why=(why,), warning="a key of the records")


def _age(c: ColumnFigures, k: int) -> Proposal | None:
    in_years = c.all_are("number") and (c.low or 0) >= 0 and YES_NO < (c.high or 0) <= 120
    if not is_kind(c, "age") or not in_years or c.distinct < 2:
        return None
    whole = c.all_are("integer")
    return _published(c, "integer" if whole else "number", age_keys(whole=whole), [])


def _year(c: ColumnFigures, k: int) -> Proposal | None:
    """A calendar year, of birth or of something else."""
    is_birth = is_kind(c, "birth")
    in_range = c.all_are("integer") and YEARS[0] <= (c.low or 0) <= (c.high or 0) <= YEARS[1]
    if not in_range or not (is_birth or is_kind(c, "calendar")):
        return None
    keys = year_keys(int(c.low or 0), int(c.high or 0), every=10 if is_birth else 1)
    return _published(c, "integer", keys, [])


def _boolean(c: ColumnFigures, k: int) -> Proposal | None:
    if not c.all_are("boolean") or c.distinct != 2:
        return None
    return _unless_alike(_published(c, "boolean", Keys({}), ["Two values that mean false and true."]), c, k)


def _diagnosis(c: ColumnFigures, k: int) -> Proposal | None:
    named = column_names.says(column_names.DIAGNOSIS, c.name)
    system = max(TITLES, key=lambda s: c.matches.get(s, 0.0))
    share = c.matches.get(system, 0.0)
    if (
        column_names.says(column_names.PROCEDURE, c.name)
        or share < (0.9 if named else 0.98)
        or not (named or (system != "icd9cm" and c.distinct >= FEW))
    ):
        return None
    why = [f"Likely codes of {TITLES[system]}: {share:.0%} of the values match the pattern."]
    if c.distinct <= FEW:
        return replace(_category(c, k), why=tuple(why), role="sensitive")
    why.append(
        "With so many codes, a rare one identifies a person: generalised along the chapters, like other "
        "knowledge of attackers."
    )
    keys, rank = {"hierarchy": toml_text(system)}, (NAMED, 4, 0, c.missing)
    return Proposal(c.name, "quasi-identifier", "category", keys, tuple(why), rank=rank, once="diagnosis")


def _postcode(c: ColumnFigures, k: int) -> Proposal | None:
    if not column_names.says(column_names.POSTCODE, c.name) or c.distinct > 100_000:
        return None
    keys = {"hierarchy": '"digits"'}
    why = "Likely postcodes: generalised by dropping digits from the right."
    return Proposal(c.name, "quasi-identifier", "category", keys, (why,), rank=(NAMED, 10, 0, c.missing))


def _number(c: ColumnFigures, k: int) -> Proposal | None:
    if not c.all_are("number") or c.low is None or c.high is None:
        return None
    if not all(math.isfinite(end) and abs(end) < EXACT for end in (c.low, c.high)):
        return Proposal(c.name, "withheld", why=("Numbers too large to add up: to publish it, use a larger unit.",))
    whole, found = c.all_are("integer"), measure_of(c)
    is_amount = column_names.says(column_names.AMOUNT, c.name)
    coded = c.distinct <= CODED and not is_amount
    coded |= column_names.says(column_names.CODE, c.name) and not (is_amount and c.distinct > CODED)
    coded |= c.high - c.low < 4 or _has_leading_zeros(c)
    if whole and coded and (found is None or c.distinct <= 2):
        return None  # codes, and numbers with too few steps for intervals
    proposal = _published(c, "integer" if whole else "number", number_keys(c, found, whole=whole), [], measured=found)
    if proposal.role == "quasi-identifier":
        keys = {key: value for key, value in proposal.keys.items() if key in ("title", "domain")}
        return _after_few(replace(proposal, keys=keys | {"grid": proposal.keys["bins"]}, notes={}))
    if _has_missing_codes(c):
        proposal = replace(proposal, why=(*proposal.why, NOT_MEASURED))
    if proposal.role == "sensitive" and c.missing > MOSTLY * c.rows:
        return proposal.left_out(MISSED)
    if proposal.role == "sensitive" and c.largest > MOSTLY_ONE * c.known:
        return proposal.left_out(ALIKE)
    return proposal


def _has_leading_zeros(c: ColumnFigures) -> bool:
    """Are the numbers written as codes are, such as 0110? Nobody writes a measurement like that."""
    return any(len(value) > 1 and value.startswith("0") and value.isdigit() for value, _ in c.values)


def _has_missing_codes(c: ColumnFigures) -> bool:
    """Are the largest numbers far above all others, and sevens, eights or nines?"""
    if not c.all_are("integer") or not c.values:
        return False
    codes = [value for value, _ in c.values if len(value) > 1 and value in {digit * len(value) for digit in "789"}]
    others = [float(value) for value, _ in c.values if value not in codes]
    return bool(codes) and bool(others) and max(others) * 3 < min(map(float, codes))


def _category(c: ColumnFigures, k: int) -> Proposal:
    rare = sum(1 for _, n in c.values if n < k)
    if c.values and rare == c.distinct:
        return Proposal(c.name, "withheld", why=(f"None of its values has {k} records.",))
    named = kind_in(c)
    why = []
    if c.all_are("integer") and c.distinct > 2 and (named is None or named.role != "quasi-identifier"):
        why.append("Whole numbers of few values, probably codes: if they measure something, set type and domain.")
    elif c.all_are("integer") and c.distinct <= CODED:
        why.append("The numbers are codes: a `title` can say what they mean.")
    usual = [value for value, n in c.values if n >= SELDOM * c.rows]
    sexes = len(usual) > 1 and column_names.are_sexes(usual)
    found = _published(c, "category", Keys({}), why, "quasi-identifier" if sexes else "sensitive")
    told = _values(c, k, found.role)
    found = replace(found, keys=told.keys, notes=told.notes)
    if found.role == "quasi-identifier" and c.distinct > SEVERAL:
        found = _after_few(found)
    return _unless_alike(found, c, k)


def _after_few(found: Proposal) -> Proposal:
    """Columns with few values are more useful: they are asked about value by value."""
    sure, kind, *rest = found.rank
    return replace(found, rank=(sure, kind + MANY, rest[0], rest[1]))


def named_from(rows: int, k: int) -> int:
    """The number of records from which a value of a quasi-identifier keeps its name."""
    return max(k, min(COMMON * k, rows // SHARE))


def _values(c: ColumnFigures, k: int, role: Role) -> Keys:
    """The values of a category that keep their names: those of k records; for quasi-identifiers, of many more."""
    least = named_from(c.rows, k) if role == "quasi-identifier" else k
    common = [value for value, n in c.values if n >= least]
    few = len(c.values) - len(common)
    if common and not few and len(common) <= FEW:
        order = in_order(c.name, common)
        keys = {"values": toml_list(map(toml_text, order or common))}
        return Keys(keys | {"ordered": "true"}, {"ordered": "from least to greatest"}) if order else Keys(keys)
    if role != "quasi-identifier" or not common:
        told = f"{counted(few, 'value')} with fewer than {least} records" if few else RARE.format(k=k)
        return Keys({"rare": toml_text(OTHER)}, {"rare": told})
    other = next((value for value in common if value.strip().lower() == OTHER), OTHER)
    note = f"{counted(few, 'value')} with fewer than {least} records: too few to be shown by name within classes"
    keys = {"values": toml_list(map(toml_text, common)), "rare": toml_text(other)}
    return Keys(keys, {"rare": note} if few else {})


def _unless_alike(found: Proposal, c: ColumnFigures, k: int) -> Proposal:
    """Withhold sensitive categories in which nearly all have the same value. Outcomes and diseases are still published
    if enough people have one: studies are about them, and in views only answers about that column become wider.
    """
    is_outcome = is_kind(c, "outcome") or is_kind(c, "cause_of_death")
    is_asked_for = (is_outcome or is_kind(c, "finding")) and _others(c) >= FEW_HAVE_IT * k
    if found.role == "sensitive" and is_seldom(c, k) and not is_asked_for:
        return found.left_out(ALIKE)
    if found.role == "sensitive" and c.missing > MOSTLY * c.rows and not is_outcome:
        return found.left_out(MISSED)
    return found


def _is_asked_for(c: ColumnFigures, k: int) -> bool:
    """Is it an outcome or disease that enough people have?"""
    return (is_kind(c, "outcome") or is_kind(c, "cause_of_death")) and c.known >= FEW_HAVE_IT * k


def is_seldom(c: ColumnFigures, k: int) -> bool:
    """Have nearly all records the same value, or none?"""
    return _others(c) <= max(k, SELDOM * c.rows)


def _others(c: ColumnFigures) -> int:
    return c.rows - max(c.largest, c.missing)


def _few_values(c: ColumnFigures, k: int) -> Proposal | None:
    return _category(c, k) if c.distinct <= MANY and c.distinct <= max(FEW, c.known / 2) else None


def _rest(c: ColumnFigures, k: int) -> Proposal:
    read = max(("number", "date", "timestamp"), key=lambda kind: c.readable.get(kind, 0))
    share = c.readable.get(read, 0) / max(1, c.known)
    if MOSTLY <= share < 1:
        why = (
            f"{share:.1%} of the values can be read as {read}: to publish the column, leave the other values empty in "
            "the source."
        )
        return Proposal(c.name, "withheld", why=(why,))
    why = f"{c.distinct:,} distinct texts: to publish the column, give it a hierarchy or map it to a few categories."
    return Proposal(c.name, "withheld", why=(why,), warning="text with many different values")


RULES: tuple[Rule, ...] = (
    *(_empty, _birth_part, _compact_date, _age, _identifier, _date, _code_list, _free_text, _sequence, _year, _key),
    *(_diagnosis, _postcode, _boolean, _number, _few_values, _rest),
)


def _published(
    c: ColumnFigures,
    kind: str,
    keys: Keys,
    why: list[str],
    default: Role = "sensitive",
    measured: FoundMeasure | None = None,
) -> Proposal:
    """A column to publish, in the role that its name or values suggest."""
    named = kind_in(c)
    made = Proposal(c.name, default, kind, keys.keys, notes=keys.notes)
    if measured is not None and (named is None or named.role == "sensitive"):
        by = "its name" if measured.is_spelled else "its name and its range"
        why = [*why, f"{measured.measure.title} in {measured.unit.unit}, by {by}.", MEASURED]
        if measured.unit.cuts:
            why.append(f"Limits that readers ask about: {measured.measure.source}.")
        rank = (NAMED, 3, measured.rank, c.missing)
        made = replace(made, role="sensitive", measure=measured.measure.name, beside=measured.measure.beside)
    elif named is not None:
        usual = 10 * c.largest // c.rows if kind in ("category", "boolean") else 0  # more values are better
        why, rank = [*why, named.why], (NAMED, named.rank, usual, c.missing)
        made = replace(made, role=named.role, offer=named.finer, once=named.once)
    else:
        why, rank = [*why, DECIDE], (UNSURE, 0, 0, c.missing)
    return replace(made, why=tuple(why), rank=rank)


def _with_figures(proposal: Proposal, c: ColumnFigures) -> Proposal:
    values = "1 value" if c.distinct == 1 else f"{c.distinct:,} distinct values"
    figures = f"{values}; missing in {c.missing:,} of {c.rows:,} records."
    return replace(proposal, why=(figures, *proposal.why))


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
