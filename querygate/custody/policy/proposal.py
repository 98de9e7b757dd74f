"""A policy proposed from figures of a source: roles, types, public domains, and why. The custodian decides.

Whatever looks like an identifier or like free text stays in the vault, and so does what the gate could not publish
well. Each proposal says why, in figures; no value of the data is written except the names of categories that at least
k records share. Domains are rounded outward to numbers that look public, since the least and the greatest value of a
column belong to two people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from querygate.core.column_figures import ColumnFigures
from querygate.core.types import Role, folded
from querygate.custody.policy import column_names
from querygate.custody.policy.identifier_signs import LISTS, MOSTLY, identifier_sign, traces
from querygate.custody.policy.proposal_domains import date_keys, domain_of, number_keys, toml_list, toml_text

MOST_QUASI, MOST_SENSITIVE = 8, 6
"""Columns that are published: each one more makes every class wider. The rest is one edit away."""

FEW = 50
"""Values up to which a category lists them."""

CODED = 12
"""Whole numbers of so few values are taken for codes."""

MANY = 500
"""Values from which a category needs a hierarchy."""

OTHER = "other"
"""What rare values of a category are called together."""

NEARLY_UNIQUE = 0.95
MOSTLY_ONE, NEARLY_ALL = 0.8, 0.9
WORDY = 4.0

WELL_KNOWN, NAMED, UNSURE = range(3)
"""How sure it is what a column means: a quantity of medicine, a name that says so, none of it."""

MISSED = "Missing in most records. Every class would need enough records that have it, so classes would be large."
ALIKE = "Most records have the same value. Every class would need others, so classes would be large."
REPEATS = "Texts repeat: if they are categories and name nobody, give it type category and list them in `values`."
AGAIN = "Another column already gives the {once}, and the two together would reveal more."
OVER = f"Left out: {MOST_QUASI} quasi-identifiers and {MOST_SENSITIVE} sensitive columns are enough to start with."


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed for one column. `keys` are written as they stand.

    Columns of low `rank` come first where not all can be published. Of the columns that say the same thing (`once`) the
    first by rank is published.
    """

    name: str
    role: Role
    type: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    why: tuple[str, ...] = ()
    warning: str = ""
    rank: tuple[int, int] = (UNSURE, 0)  # how sure its meaning is, and how many values are missing
    offer: str = ""  # of a withheld column, the role in which it could be published
    once: str = ""


Rule = Callable[[ColumnFigures, int], "Proposal | None"]


def propose(columns: Iterable[ColumnFigures], k: int) -> tuple[Proposal, ...]:
    """A proposal for each column, in the order of the source."""
    proposals = [_with_figures(next(filter(None, (rule(c, k) for rule in RULES))), c) for c in columns]
    return _limited(_once(proposals))


def choose_k(rows: int) -> int:
    """10 for a table of ordinary size; less only where 10 would leave a handful of classes."""
    return 10 if rows >= 200 else 5 if rows >= 30 else 2


# -- one column: the first rule that has something to say ----------------------------------------------------------


def _empty(c: ColumnFigures, k: int) -> Proposal | None:
    if c.distinct > 1 or (c.distinct == 1 and c.missing):
        return None
    return Proposal(c.name, "withheld", why=("The same in every record, so it carries no information.",))


def _identifier(c: ColumnFigures, k: int) -> Proposal | None:
    sign = identifier_sign(c.name, c.matches, c.distinct)
    if sign is None or (column_names.says(column_names.AGE, c.name)):
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


def _compact_date(c: ColumnFigures, k: int) -> Proposal | None:
    if c.matches.get("compact date", 0) < 0.99 or c.distinct < CODED:
        return None
    what = "date of birth" if column_names.says(column_names.BIRTH, c.name) else "date"
    why = f"Likely a {what} written as eight digits, which is read as a number."
    return Proposal(
        c.name, "withheld", why=(why, "To publish it, write it as 2024-01-31 in the source."), warning=f"a {what}"
    )


def _date(c: ColumnFigures, k: int) -> Proposal | None:
    kind = next((kind for kind in ("date", "timestamp") if c.all_are(kind)), None)
    if kind is None or c.low is None or c.high is None:
        return None
    is_birth = column_names.says(column_names.BIRTH, c.name)
    why = ["Others may know the date: edges are coarse, and cuts are public."]
    if is_birth:
        why = [
            "Likely a date of birth, which identifies most people together with sex and place: publish at most the "
            "year."
        ]
    keys = date_keys(kind, int(c.low), int(c.high), yearly=is_birth)
    if not is_birth:
        return Proposal(c.name, "quasi-identifier", kind, keys, tuple(why))
    rank = (UNSURE, c.missing)  # an age comes first
    return Proposal(c.name, "quasi-identifier", kind, keys, tuple(why), "a date of birth", rank, once="age")


def _free_text(c: ColumnFigures, k: int) -> Proposal | None:
    """Texts of many words; those that many records share too, unless the name says what categories they are."""
    found = [f"{sign.share:.1%} of the values contain {_article(sign.kind)}" for sign in traces(c.contains)]
    is_named = column_names.says(column_names.QUASI, c.name) or column_names.says(column_names.SENSITIVE, c.name)
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
    """Several codes in most values; the others have one code. A column of lists is shown in brackets."""
    system, mark = max(LISTS, key=lambda one: c.matches.get(" by ".join(one), 0.0))
    several, lists = c.matches.get(f"{system} by {mark}", 0.0), c.matches.get("in brackets", 0.0)
    if several < MOSTLY or max(lists, several + c.matches.get(system, 0.0)) < NEARLY_ALL:
        return None
    title = {"icd9cm": "ICD-9-CM", "icd10cm": "ICD-10-CM"}[system]
    why = (
        f"Likely code lists of {title}: {several:.0%} of the values contain several codes.",
        "Published as sets of generalised codes. Say in `protect` what others may know about them, and in `utility` "
        "which codes may be merged.",
    )
    keys = {"system": toml_text(system)} | ({} if lists >= NEARLY_ALL else {"separator": toml_text(mark)})
    return Proposal(c.name, "codes", keys=keys, why=why, rank=(NAMED, c.missing))


def _key(c: ColumnFigures, k: int) -> Proposal | None:
    """A value for each record leads back to it, whatever it is called. Measured numbers have fractions."""
    whole = c.all_are("integer")
    if c.known < FEW or (c.all_are("number") and not whole) or column_names.says(column_names.AGE, c.name):
        return None
    if c.distinct < (c.known if whole else NEARLY_UNIQUE * c.known):
        return None
    why = f"Likely a key: {c.distinct / c.known:.1%} of its values occur once."
    return Proposal(c.name, "identifier", why=(why,), warning="a key of the records")


def _age(c: ColumnFigures, k: int) -> Proposal | None:
    in_years = c.all_are("integer") and (c.low or 0) >= 0 and (c.high or 0) <= 120
    if not column_names.says(column_names.AGE, c.name) or not in_years:
        return None
    keys = {"domain": "[0, 120]", "grid": "1", "cuts": "[10, 20, 30, 40, 50, 60, 70, 80, 90]"}
    why = ("Age, with cuts at decades: questions by decade get exact counts.",)
    return Proposal(c.name, "quasi-identifier", "integer", keys, why, rank=(NAMED, c.missing), once="age")


def _boolean(c: ColumnFigures, k: int) -> Proposal | None:
    if not c.all_are("boolean") or c.distinct != 2:
        return None
    why = ["Two values that mean false and true."]
    found = _published(c, "boolean", {}, why, "sensitive")
    return _unless_alike(found, c) if found.rank[0] == UNSURE else found


def _diagnosis(c: ColumnFigures, k: int) -> Proposal | None:
    named = column_names.says(column_names.DIAGNOSIS, c.name)
    system = max(("icd9cm", "icd10cm"), key=lambda s: c.matches.get(s, 0.0))
    share = c.matches.get(system, 0.0)
    if (
        column_names.says(column_names.PROCEDURE, c.name)
        or share < (0.9 if named else 0.98)
        or not (named or (system == "icd10cm" and c.distinct >= FEW))
    ):
        return None
    title = {"icd9cm": "ICD-9-CM", "icd10cm": "ICD-10-CM"}[system]
    why = [f"Likely codes of {title}: {share:.0%} of the values match the pattern."]
    if c.distinct <= FEW:
        return replace(_category(c, k), why=tuple(why), role="sensitive")
    why.append(
        "With so many codes, a rare one identifies a person: generalised along the chapters, like other "
        "knowledge of attackers."
    )
    keys, rank = {"hierarchy": toml_text(system)}, (NAMED, c.missing)
    return Proposal(c.name, "quasi-identifier", "category", keys, tuple(why), rank=rank, once="diagnosis")


def _postcode(c: ColumnFigures, k: int) -> Proposal | None:
    if not column_names.says(column_names.POSTCODE, c.name) or c.distinct > 100_000:
        return None
    keys = {"hierarchy": '"digits"'}
    why = "Likely postcodes: generalised by dropping digits from the right."
    return Proposal(c.name, "quasi-identifier", "category", keys, (why,), rank=(NAMED, 0))


def _number(c: ColumnFigures, k: int) -> Proposal | None:
    if not c.all_are("number") or c.low is None or c.high is None:
        return None
    whole = c.all_are("integer")
    few = c.distinct <= CODED and not column_names.says(column_names.AMOUNT, c.name)
    if whole and (few or column_names.says(column_names.CODE, c.name) or c.high - c.low < 4):
        return None  # codes, and what has too few steps to be an interval
    why = [
        f"{'Whole numbers' if whole else 'Numbers'}; the domain is rounded outward, so that its ends are not real "
        "values."
    ]
    domain, known = domain_of(c.name, c.low, c.high, whole=whole)
    if known:
        why = [f"{'Whole numbers' if whole else 'Numbers'}; the domain is the usual range of this quantity."]
    found = _published(c, "integer" if whole else "number", number_keys(domain, whole=whole), why, "sensitive")
    found = replace(found, rank=(WELL_KNOWN, 0)) if known else found
    if found.role == "sensitive" and c.missing > MOSTLY * c.rows:
        return replace(found, role="withheld", offer=found.role, why=(*why, MISSED))
    if found.role == "sensitive" and c.largest > MOSTLY_ONE * c.known:
        return replace(found, role="withheld", offer=found.role, why=(*why, ALIKE))
    return found


def _category(c: ColumnFigures, k: int) -> Proposal:
    rare = sum(1 for _, n in c.values if n < k)
    keys, why = {}, []
    if c.distinct <= FEW and not rare:
        keys["values"] = toml_list(toml_text(value) for value, _ in c.values)
    else:
        keys["rare"] = toml_text(OTHER)
        why.append(
            f"Values that fewer than {k} people have are published together, as {OTHER!r}"
            + (f": {rare} of its values have fewer than {k} records." if rare else ".")
        )
    if c.all_are("integer"):
        why.append("Whole numbers with few values, probably codes: if they measure something, set type and domain.")
    is_finding = c.distinct == 2 and not column_names.are_sexes(value for value, _ in c.values)
    return _unless_alike(_published(c, "category", keys, why, "sensitive" if is_finding else "quasi-identifier"), c)


def _unless_alike(found: Proposal, c: ColumnFigures) -> Proposal:
    if found.role == "sensitive" and max(c.largest, c.missing) > NEARLY_ALL * c.rows:
        return replace(found, role="withheld", offer="sensitive", why=(*found.why, ALIKE))
    return found


def _few_values(c: ColumnFigures, k: int) -> Proposal | None:
    return _category(c, k) if c.distinct <= MANY and c.distinct <= max(FEW, c.known / 2) else None


def _rest(c: ColumnFigures, k: int) -> Proposal:
    read = max(("number", "date", "timestamp"), key=lambda kind: c.readable.get(kind, 0))
    share = c.readable.get(read, 0) / max(1, c.known)
    if MOSTLY <= share < 1:
        why = (
            f"{share:.1%} of the values can be read as {read}: to publish the column, leave the others empty in the "
            "source."
        )
        return Proposal(c.name, "withheld", why=(why,))
    why = f"{c.distinct:,} distinct texts: to publish the column, give it a hierarchy or map it to a few categories."
    return Proposal(c.name, "withheld", why=(why,), warning="text with many different values")


RULES: tuple[Rule, ...] = (
    *(_empty, _compact_date, _age, _identifier, _date, _code_list, _free_text, _sequence, _key, _diagnosis, _postcode),
    *(_boolean, _number, _few_values, _rest),
)


def _published(c: ColumnFigures, kind: str, keys: dict[str, str], why: list[str], default: Role) -> Proposal:
    """A column to publish, in the role that its name or its type suggests."""
    rank = NAMED
    if column_names.says(column_names.FINER_AGE, c.name):
        return Proposal(c.name, "withheld", kind, keys, (*why, "Likely an age, finer than years."))
    if column_names.says(column_names.QUASI, c.name):
        role: Role = "quasi-identifier"
        why = [*why, "Others could know it about a person."]
    elif column_names.says(column_names.SENSITIVE, c.name):
        role = "sensitive"
        why = [*why, "Must not be learned about a person."]
    else:
        role, rank = default, UNSURE
        why = [*why, "The name does not suggest a role: decide."]
    if role == "sensitive" and kind in ("category", "boolean"):
        keys = {**keys, "diversity": '{ kind = "distinct", l = 2 }'}
    return Proposal(c.name, role, kind, keys, tuple(why), rank=(rank, 0))


def _with_figures(proposal: Proposal, c: ColumnFigures) -> Proposal:
    values = "1 value" if c.distinct == 1 else f"{c.distinct:,} distinct values"
    figures = f"{values}; missing in {c.missing:,} of {c.rows:,} records."
    return replace(proposal, why=(figures, *proposal.why))


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


# -- the table as a whole ------------------------------------------------------------------------------------------


def _once(proposals: list[Proposal]) -> list[Proposal]:
    """Age is published once, and a date of birth only where there is no age; so is one of several diagnoses."""
    first: dict[str, str] = {}
    for p in sorted(proposals, key=lambda p: p.rank):
        first.setdefault(p.once, p.name)
    return [
        replace(p, role="withheld", offer=p.role, why=(*p.why, AGAIN.format(once=p.once)))
        if p.once and p.name != first[p.once]
        else p
        for p in proposals
    ]


def _limited(proposals: list[Proposal]) -> tuple[Proposal, ...]:
    """Not more than can be published well: those first whose names say what they are."""
    kept = set()
    for role, most in (("quasi-identifier", MOST_QUASI), ("sensitive", MOST_SENSITIVE)):
        ranked = sorted((p for p in proposals if p.role == role), key=lambda p: p.rank[0])
        kept |= {p.name for p in ranked[:most]}
    seen: set[str] = set()
    result = []
    for p in proposals:
        published = p.role in ("quasi-identifier", "sensitive")
        if published and (p.name not in kept or folded(p.name) in seen):
            p = replace(p, role="withheld", offer=p.role, why=(*p.why, OVER))
        elif published:
            seen.add(folded(p.name))
        result.append(p)
    return tuple(result)
