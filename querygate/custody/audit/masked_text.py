"""A finding in the words of its own statements, for readers who may not see raw values.

Which people a finding is about follows from the records; that somebody asked `age <= 51` and then `age <= 50` follows
from the log. Readers of the log learn nothing about the records from this text: every literal in it occurs in a
statement of the finding.

>>> asked = {"q1": "SELECT AVG(sbp) FROM t WHERE age <= 50", "q2": "SELECT AVG(sbp) FROM t WHERE age <= 55"}
>>> masked("age = 53 AND sbp <= 50", asked)
'age = … AND sbp <= 50'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from querygate.methods.audit import Finding
from querygate.sql.logged.logged_set import logged_set
from querygate.sql.parse import DIALECT

HIDDEN = "…"
EVERYBODY = "all records"
MOST_SETS = 3

_LITERAL = re.compile(r"'(?:[^']|'')*'|(?<![\w.])-?\d[\d.]*(?:[eE][-+]?\d+)?")


def masked(text: str, statements: Mapping[str, str]) -> str:
    """The text without literals that occur in no statement."""
    known = {found for sql in statements.values() for found in _LITERAL.findall(sql)}
    known |= {found.lstrip("-") for found in known}
    return _LITERAL.sub(lambda found: found[0] if found[0] in known else HIDDEN, text)


def where_asked(finding: Finding, statements: Mapping[str, str], dialect: str = DIALECT) -> str:
    """The records of a finding in terms of its statements' sets: one set, one without another, or what several
    leave."""
    sets = {query: _set_text(query, statements.get(query, ""), dialect) for query in finding.queries}
    if len(finding.queries) == 1:
        [text] = sets.values()
        return text if len(finding.totals) <= 1 else f"what the figures of {text} leave"
    members = {total.query: total.members for total in finding.totals}
    if len(members) == len(sets) and all((one == finding.places).all() for one in members.values()):
        return sets[finding.queries[0]]  # selected by several queries
    if len(finding.queries) == 2 and (pair := _larger_first(finding)) is not None:
        return f"{sets[pair[0]]}, without {sets[pair[1]]}"
    named = list(dict.fromkeys(sets.values()))
    more = f" and {len(named) - MOST_SETS} more" if len(named) > MOST_SETS else ""
    return f"what these sets leave together: {'; '.join(named[:MOST_SETS])}{more}"


def _larger_first(finding: Finding) -> tuple[str, str] | None:
    """The two queries, if one set contains the other; None if they overlap."""
    members = {total.query: total.members for total in finding.totals}
    one, other = finding.queries
    times = {abs(Fraction(times)) for _, _, times in finding.coefficients} or {Fraction(1)}
    if one not in members or other not in members or times != {Fraction(1)}:
        return None
    if not (members[other] & ~members[one]).any():
        return one, other
    return (other, one) if not (members[one] & ~members[other]).any() else None


def _set_text(query: str, sql: str, dialect: str) -> str:
    """What a statement selects, in its own words; its id where a condition is not enough."""
    found = logged_set(sql, dialect)
    if found is None:
        return query
    condition = masked(found.condition, {query: sql})
    if not found.is_grouped:
        return condition or EVERYBODY
    return f"one group of {query} where {condition}" if condition else f"one group of {query}"
