"""The measures of a log: what is added up, the secret conditions used with it, and their minterms.

Counts are examined twice: once as the measure *presence*, the number of records; and once for the records that satisfy
a secret condition, where the number of records in each place is taken to be known, as for averages. So a count of `dx
<> 'hiv'` is also a count of `dx = 'hiv'`, subtracted from the size of the set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from querygate.core.audit.audit_records import AuditRecords, Unanswerable
from querygate.core.types import Bools, Ints, SqlValue
from querygate.custody.audit.answer_parser import fraction
from querygate.methods.audit import PRESENCE, Base, Domain, Pattern, Unexamined, noted
from querygate.methods.audit.minterms import MOST_MINTERMS, make_base, name_minterms, patterns

SECRETS = "(secrets)"
"""The base for secret conditions that are counted."""


@dataclass
class _Conditions:
    """The secret conditions used with a value, distinguished by the records they hold for."""

    texts: dict[bytes, str] = field(default_factory=dict)
    truths: Bools = field(default_factory=lambda: np.zeros((1, 0), dtype=np.bool_))  # minterms x conditions
    asked: dict[str, Pattern] = field(default_factory=dict)  # names of patterns in use

    @property
    def names(self) -> tuple[str, ...]:
        return name_minterms(self.truths, [plain_text(text) for text in self.texts.values()])

    def sql(self, pattern: Pattern) -> str:
        """SQL for the records that match a pattern of ones and zeros."""
        if all(pattern):
            return ""
        listed = [
            " AND ".join(
                f"({'' if truth else 'NOT '}({text}))" for text, truth in zip(self.texts.values(), row, strict=True)
            )
            for row, times in zip(self.truths, pattern, strict=True)
            if times
        ]
        return " OR ".join(f"({one})" for one in listed)


Key = tuple[str, bytes]
"""A value, and one of its conditions if these are too many to examine together."""


class AuditMeasures:
    """What the statements of a log measure. First `note` every condition, then `settle`, then look them up."""

    def __init__(self, records: AuditRecords, public: Mapping[str, tuple[float, float]]) -> None:
        self.records, self.public = records, public
        self.number = 0  # number of records that conditions are tried on; known after the first
        self.left: list[Unexamined] = []
        self._held: dict[str, bytes] = {}
        self._opposites: dict[str, bytes] = {}
        self._varies: dict[str, bool] = {}
        self._counts: dict[tuple[str, str], Ints] = {}
        self._conditions: dict[Key, _Conditions] = {}

    def held(self, secret: str) -> bytes:
        if secret not in self._held:
            held = self.records.held(secret)
            self.number = len(held)
            self._held[secret] = np.packbits(held).tobytes()
        return self._held[secret]

    def counts(self, value: str, secret: str) -> Ints:
        """Records of each place that have the value, or the value that it squares, and satisfy the condition."""
        value = unsquared(value)
        if (value, secret) not in self._counts:
            self._counts[value, secret] = self.records.counts(value, secret)
        return self._counts[value, secret]

    def note(self, value: str, secret: str) -> None:
        """A condition that is the complement of another divides nothing further."""
        self.counts(value, "")  # a value that cannot be evaluated is not a measure
        known = self._conditions.setdefault((value, b""), _Conditions())
        if secret and not self._is_idle(secret) and self._opposite(secret) not in known.texts:
            known.texts.setdefault(self.held(secret), secret)

    def _is_idle(self, secret: str) -> bool:
        """A condition that holds for nobody or for all is not a measure."""
        return not self.varies(secret) and not secret.endswith("IS NOT DISTINCT FROM TRUE)")

    def varies(self, secret: str) -> bool:
        """Does it hold for some and not for others?"""
        if secret not in self._varies:
            held = np.frombuffer(self.held(secret), dtype=np.uint8) if secret else np.zeros(0, dtype=np.uint8)
            self._varies[secret] = int(np.bitwise_count(held).sum()) not in (0, self.number)
        return self._varies[secret]

    def _opposite(self, secret: str) -> bytes:
        if secret not in self._opposites:
            self._opposites[secret] = np.packbits(~self._bits(self.held(secret))).tobytes()
        return self._opposites[secret]

    def settle(self) -> None:
        """The minterms of each value; if there are too many, each condition is treated separately."""
        for (value, _), known in list(self._conditions.items()):
            with noted(self.left, shown(value) or PRESENCE):
                self._settle(value, known)

    def _settle(self, value: str, known: _Conditions) -> None:
        found = patterns([self._bits(held) for held in known.texts])
        if found is None:
            reason = (
                f"{len(known.texts):,} secret conditions divide the records into more than {MOST_MINTERMS} parts: "
                "each was examined separately, combinations of them were not"
            )
            self.left.append(Unexamined(shown(value) or PRESENCE, reason))
            known.texts = {}
        else:
            known.truths = found

    def _bits(self, held: bytes) -> Bools:
        return np.unpackbits(np.frombuffer(held, dtype=np.uint8), count=self.number).astype(np.bool_)

    def pattern(self, value: str, secret: str) -> tuple[Key, Pattern]:
        """Which minterms of which system a condition holds for."""
        whole = (value, b"")
        known = self._conditions[whole]
        if not secret:
            return whole, (1,) * len(known.truths)
        held, opposite = self.held(secret), self._opposite(secret)
        if self._is_idle(secret) and not (held in known.texts or opposite in known.texts):
            return whole, (int(any(held)),) * len(known.truths)
        if not (held in known.texts or opposite in known.texts):  # too many to examine together
            whole = (value, min(held, opposite))
            known = self._conditions.setdefault(whole, _Conditions({held: secret}, np.array([[False], [True]])))
        place = list(known.texts).index(held if held in known.texts else opposite)
        truths = known.truths[:, place] if held in known.texts else ~known.truths[:, place]
        return whole, tuple(truths.astype(int).tolist())

    # -- names -------------------------------------------------------------------------------------------------------

    def system(self, key: Key, *, reduced: bool) -> str:
        """The name of the system in which totals combine."""
        value, alone = key
        name = SECRETS if reduced else shown(value) or PRESENCE
        return f"{name} {plain_text(next(iter(self._conditions[key].texts.values())))}" if alone else name

    def name(self, key: Key, pattern: Pattern, secrets: Sequence[str]) -> str:
        """The name of a measure in the log: its condition, or else all conditions that were joined."""
        known = self._conditions[key]
        if set(pattern) == {1}:
            return shown(key[0]) or PRESENCE
        for name, asked in known.asked.items():
            if asked == pattern:
                return name
        base, text = shown(key[0]), plain_text(" OR ".join(secrets))
        if not set(pattern) <= {0, 1}:
            text = " + ".join(f"{times} * ({held})" for held, times in zip(known.names, pattern, strict=True) if times)
        for condition, truths in zip(known.texts.values(), known.truths.T.astype(int), strict=True):
            if pattern == tuple(truths.tolist()):
                text = plain_text(condition)
            elif pattern == tuple((1 - truths).tolist()):
                text = f"NOT ({plain_text(condition)})"
        name = f"{base} where {text}" if base else text
        known.asked[name] = pattern
        return name

    def described(self) -> tuple[dict[str, Base], dict[str, Ints], dict[str, Domain], dict[str, tuple[str, str]]]:
        """For every measure: what combines, records by place, domains, and its SQL."""
        bases: dict[str, Base] = {}
        weights: dict[str, Ints] = {}
        domains: dict[str, Domain] = {}
        texts: dict[str, tuple[str, str]] = {}
        for key, known in self._conditions.items():
            value, _ = key
            for system, base in self._bases(key, known).items():
                bases[system] = base
                weights[system] = self.counts(value, "")
                for name, pattern in base.measures.items():
                    weights[name] = weights[system]
                    if not set(pattern) <= {0, 1}:
                        continue  # some records count more than once: no condition selects it
                    texts[name] = (value, known.sql(pattern))
                    domain = self._domain(value, everybody=all(pattern))
                    if domain is not None:
                        domains[name] = domain
        return bases, weights, domains, texts

    def _bases(self, key: Key, known: _Conditions) -> dict[str, Base]:
        value, alone = key
        names = known.names
        every = {} if alone else {shown(value) or PRESENCE: (1,) * len(known.truths)}
        system = self.system(key, reduced=False)
        if value:
            return {system: make_base(shown(value), {**every, **known.asked}, names, sizes_known=False)}
        reduced = {self.system(key, reduced=True): make_base("", known.asked, names, sizes_known=True)}
        return reduced if alone else {system: Base(every, 1, ("",) * len(names)), **reduced}

    def _domain(self, value: str, *, everybody: bool) -> Domain | None:
        """The domain of what one record adds: 0 if the condition does not hold for it."""
        if not value:
            return Domain(Fraction(0), Fraction(1), whole=True, public=True)
        inner = unsquared(value)
        try:
            found = self.records.extent(inner)
        except Unanswerable:
            return None
        public = self.public.get(inner.strip('"'))
        ends = [fraction(end) for end in public or found]
        if None in ends:
            return None
        low, high = (end for end in ends if end is not None)
        if inner != value:
            low, high = Fraction(0) if low <= 0 <= high else min(low**2, high**2), max(low**2, high**2)
        whole = all(isinstance(end, int) for end in found)
        return Domain(
            low if everybody else min(low, Fraction(0)),
            high if everybody else max(high, Fraction(0)),
            whole,
            public is not None,
        )


def unsquared(value: str) -> str:
    """The value that is squared; the value itself if none is."""
    half = value[: (len(value) - 3) // 2]
    return half if value == f"{half} * {half}" else value


def shown(value: str) -> str:
    """A value as a person would write it."""
    inner = unsquared(value)
    return inner.strip('"') + ("^2" if inner != value else "")


_LEAF = re.compile(r"\(\((?P<leaf>.*)\) IS NOT DISTINCT FROM (?P<truth>TRUE|FALSE)\)")


def plain_text(secret: str) -> str:
    """A secret condition as it was written, if it is a simple truth test."""
    found = _LEAF.fullmatch(secret)
    text = secret.replace('"', "")
    if found is None or "IS NOT DISTINCT" in found["leaf"]:
        return text
    leaf = found["leaf"].replace('"', "")
    return leaf if found["truth"] == "TRUE" else f"NOT ({leaf})"


def literal(value: SqlValue) -> str:
    """A value of the data in SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if fraction(value) is not None and not isinstance(value, str):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
