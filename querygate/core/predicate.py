"""Conditions in three-valued logic, in a normal form that everything else relies on.

NOT is pushed down to the atoms (De Morgan holds in SQL's logic). Everything said about one column inside one AND or OR
is merged into one atom: three disjoint sets of values where it is TRUE, FALSE and (the rest) NULL, plus its truth for a
missing value. Code lists have their own tests, merged in the same way. Frechet count bounds are sharp when each column
occurs in one atom, so merging makes ranges sharp. Rewordings of a condition become equal, and the audit relies on that
canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import field, replace
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

from querygate.core.frozen_classes import frozen
from querygate.core.valueset import ValueSet

Truth = Literal["true", "false", "null"]
Predicate: TypeAlias = "Const | Atom | HasAny | Comparison | And | Or"

_NEGATION: dict[Truth, Truth] = {"true": "false", "false": "true", "null": "null"}
_OPPOSITE = {"<": ">=", "<=": ">", "=": "<>", "<>": "="}
_RANK: dict[Truth, int] = {"false": 0, "null": 1, "true": 2}


@frozen
class Const:
    """A condition that has the same truth for every record."""

    truth: Truth


@frozen
class Atom:
    """All that is said about one column: TRUE on `true`, FALSE on `false`, NULL elsewhere; `null` for a missing value.

    >>> kids = Atom("age", ValueSet.below(18), ~ValueSet.below(18), "null")
    >>> kids.at(17), kids.at(18), kids.at(None), negate(kids).at(18)
    ('true', 'false', 'null', 'true')
    """

    column: str
    true: ValueSet
    false: ValueSet = field(hash=False)  # nearly always what `true` leaves over
    null: Truth

    def at(self, value: object) -> Truth:
        if value is None:
            return self.null
        return "true" if value in self.true else "false" if value in self.false else "null"


@frozen
class HasAny:
    """The record has one of these codes at least; negated, it has none of them. Never NULL: no list is no codes.

    >>> HasAny("dx", frozenset({"401.1"})).of(["250.00", "401.1"]), HasAny("dx", frozenset({"401.1"})).of(None)
    (True, False)
    """

    column: str
    codes: frozenset[str]
    negated: bool = False

    def of(self, held: Iterable[str] | None) -> bool:
        return self.codes.isdisjoint(held or ()) == self.negated


class Operand(Protocol):
    """A side of a comparison: an expression, as far as conditions need to know it."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def canonical(self) -> str: ...

    @property
    def present(self) -> Predicate: ...


@frozen
class Comparison:
    """left OP right, of expressions that no single column decides; `null` is its truth where either side is NULL.

    Only four operators remain: a > b is b < a, and the sides of = and <> stand in the order of their texts. `when` is
    TRUE exactly where both sides are there.
    """

    left: Operand
    operator: Literal["<", "<=", "=", "<>"]
    right: Operand
    null: Truth = "null"

    @property
    def when(self) -> Predicate:
        return both([self.left.present, self.right.present])


@frozen
class And:
    parts: tuple[Predicate, ...]


@frozen
class Or:
    parts: tuple[Predicate, ...]


TRUE = Const("true")
FALSE = Const("false")
NULL = Const("null")


# -- building ------------------------------------------------------------------------------------------------


def compare(column: str, true: ValueSet) -> Atom:
    """A comparison: TRUE on a set, FALSE off it, NULL for a missing value."""
    return Atom(column, true, ~true, "null")


def comparison(left: Operand, operator: str, right: Operand) -> Comparison:
    """A comparison of two expressions, in normal form."""
    if operator in (">", ">="):
        left, operator, right = right, {">": "<", ">=": "<="}[operator], left
    if operator in ("=", "<>") and right.canonical < left.canonical:
        left, right = right, left
    return Comparison(left, operator, right)  # type: ignore[arg-type]


def has_any(column: str, codes: Iterable[str]) -> Predicate:
    """The record has one of the codes."""
    wanted = frozenset(codes)
    return HasAny(column, wanted) if wanted else FALSE


def is_null(column: str) -> Atom:
    return Atom(column, ValueSet.nothing(), ValueSet.everything(), "true")


@lru_cache(maxsize=1024)
def is_not_null(column: str) -> Atom:
    return Atom(column, ValueSet.everything(), ValueSet.nothing(), "false")


def negate(p: Predicate) -> Predicate:
    """NOT p, with the NOT already at the atoms."""
    match p:
        case Const(truth):
            return Const(_NEGATION[truth])
        case Atom(column, true, false, null):
            return Atom(column, false, true, _NEGATION[null])
        case HasAny(column, codes, negated):
            return HasAny(column, codes, not negated)
        case Comparison(left, operator, right, null):
            opposite = comparison(left, _OPPOSITE[operator], right)
            return replace(opposite, null=_NEGATION[null])
        case And(parts):
            return either(negate(part) for part in parts)
        case Or(parts):
            return both(negate(part) for part in parts)


def both(parts: Iterable[Predicate]) -> Predicate:
    """AND of the parts, normal."""
    return _combine(parts, And, _and_atoms, absorbing="false", neutral="true")


def either(parts: Iterable[Predicate]) -> Predicate:
    """OR of the parts, normal."""
    return _combine(parts, Or, _or_atoms, absorbing="true", neutral="false")


def is_true(p: Predicate) -> Predicate:
    """`p IS TRUE`: two-valued, false where p is NULL. It is also what WHERE asks of a condition.

    There is no NOT above the atoms, and AND and OR are true by what is true in them alone: so the question goes down
    to the atoms.
    """
    match p:
        case Const(truth):
            return TRUE if truth == "true" else FALSE
        case Atom(column, true, _, null):
            return _simplify(Atom(column, true, ~true, "true" if null == "true" else "false"))
        case HasAny():
            return p
        case Comparison(null=null):
            return replace(p, null="true" if null == "true" else "false")
        case And(parts):
            return both(is_true(part) for part in parts)
        case Or(parts):
            return either(is_true(part) for part in parts)


def _and_atoms(a: Atom, b: Atom) -> Atom:
    null = min(a.null, b.null, key=_RANK.__getitem__)
    return Atom(a.column, a.true & b.true, a.false | b.false, null)


def _or_atoms(a: Atom, b: Atom) -> Atom:
    null = max(a.null, b.null, key=_RANK.__getitem__)
    return Atom(a.column, a.true | b.true, a.false & b.false, null)


def _combine(
    parts: Iterable[Predicate],
    node: type[And] | type[Or],
    merge: Callable[[Atom, Atom], Atom],
    *,
    absorbing: Truth,
    neutral: Truth,
) -> Predicate:
    """Flatten, merge what concerns one column, drop what does not matter, order canonically."""
    parts = tuple(parts)
    if not parts:
        return Const(neutral)
    if len(parts) == 1 and isinstance(parts[0], Atom):
        return _simplify(parts[0])
    atoms: dict[str, list[Atom]] = {}
    tests: dict[str, list[HasAny]] = {}
    others: dict[Predicate, None] = {}
    stack = list(reversed(parts))
    while stack:
        part = stack.pop()
        if isinstance(part, node):
            stack.extend(reversed(part.parts))
        elif isinstance(part, Atom):
            atoms.setdefault(part.column, []).append(part)
        elif isinstance(part, HasAny):
            tests.setdefault(part.column, []).append(part)
        else:
            others[part] = None
    simplified = [_simplify(_merged(said, merge)) for said in atoms.values()] + list(others)
    simplified += [part for said in tests.values() for part in _merged_tests(said, united=node is And)]
    kept = {canonical(part): part for part in simplified}  # a constant's text is its truth
    if absorbing in kept:
        return Const(absorbing)
    kept.pop(neutral, None)
    if not kept:
        return Const(neutral)
    return next(iter(kept.values())) if len(kept) == 1 else node(tuple(kept[text] for text in sorted(kept)))


def _merged(atoms: list[Atom], merge: Callable[[Atom, Atom], Atom]) -> Atom:
    """One atom for all of them, joined two by two: a long IN or OR costs n log n and not n squared."""
    while len(atoms) > 1:
        pairs = [merge(a, b) for a, b in zip(atoms[::2], atoms[1::2], strict=False)]
        atoms = pairs + atoms[len(pairs) * 2 :]
    return atoms[0]


def _merged_tests(tests: list[HasAny], *, united: bool) -> list[Predicate]:
    """What one AND says about one code list: a set of which the record has none, and sets outside it of each of which
    it has one, none of them within another. With the negations turned round, the same of an OR (`united` is False).

    Then Frechet bounds of the whole are as sharp as if it were one atom: docs/explanation/proofs/codes.md.
    """
    column = tests[0].column
    out = frozenset[str]().union(*(test.codes for test in tests if test.negated is united))
    others = {test.codes - out for test in tests if test.negated is not united}
    if frozenset() in others:
        return [FALSE if united else TRUE]
    least: list[frozenset[str]] = []
    for codes in sorted(others, key=len):
        if not any(small <= codes for small in least):
            least.append(codes)
    found: list[Predicate] = [HasAny(column, codes, not united) for codes in least]
    return [*found, HasAny(column, out, united)] if out else found


def _simplify(atom: Atom) -> Predicate:
    if atom.true.is_everything and atom.null == "true":
        return TRUE
    if atom.false.is_everything and atom.null == "false":
        return FALSE
    if atom.true.is_empty and atom.false.is_empty and atom.null == "null":
        return NULL
    return atom


# -- reading -------------------------------------------------------------------------------------------------


def columns(p: Predicate) -> frozenset[str]:
    """The columns a condition speaks of."""
    match p:
        case Const():
            return frozenset()
        case Atom(column=column) | HasAny(column=column):
            return frozenset({column})
        case Comparison(left=left, right=right):
            return frozenset(left.columns) | frozenset(right.columns) | columns(p.when)
        case And(parts) | Or(parts):
            return frozenset().union(*(columns(part) for part in parts))


def leaves(conditions: Iterable[Predicate]) -> Iterator[Predicate]:
    """What conditions are made of below AND and OR."""
    for p in conditions:
        if isinstance(p, And | Or):
            yield from leaves(p.parts)
        else:
            yield p


def is_free(p: Predicate, known: Collection[str] = ()) -> bool:
    """Whether each column stands in one atom at most, those of `known` (decided elsewhere) apart.

    Then any subset of the records may satisfy each atom, and count bounds are sharp. What one AND or OR says about one
    code list counts as one atom.
    """
    seen: set[str] = set(known)
    stack = [p]
    while stack:
        part = stack.pop()
        if isinstance(part, (And, Or)):
            stack.extend(parts_apart(part))
        else:
            for name in columns_once(part):
                if name in seen and name not in known:
                    return False
                seen.add(name)
    return True


def parts_apart(p: And | Or) -> list[Predicate]:
    """The parts of an AND or OR; of several tests of one code list, which together are as free as one, the first."""
    if not any(isinstance(part, HasAny) for part in p.parts):
        return list(p.parts)
    return list({part.column if isinstance(part, HasAny) else part: part for part in reversed(p.parts)}.values())[::-1]


def columns_once(p: Predicate) -> tuple[str, ...]:
    """The columns of an atom or a comparison, one entry for each time it reads them."""
    match p:
        case Atom(column=column) | HasAny(column=column):
            return (column,)
        case Comparison(left=left, right=right):
            return (*left.columns, *right.columns)
    return ()


def canonical(p: Predicate) -> str:
    """A text that is equal for conditions with the same normal form."""
    match p:
        case Const(truth):
            return truth
        case Atom(column, true, false, null):
            return f"[{column!r} T{_cuts(true)} F{_cuts(false)} {null}]"
        case HasAny(column, codes, negated):
            return f"[{column!r} has {'none' if negated else 'any'} of {sorted(codes)!r}]"
        case Comparison(left, operator, right, null):
            return f"[{left.canonical} {operator} {right.canonical} {null}]"
        case And(parts):
            return "(and " + " ".join(canonical(part) for part in parts) + ")"
        case Or(parts):
            return "(or " + " ".join(canonical(part) for part in parts) + ")"


def _cuts(values: ValueSet) -> str:
    return ("+" if values.inside else "-") + ",".join(f"{v!r}{'>' if side else '<'}" for v, side in values.cuts)


def truth(p: Predicate, row: dict[str, object]) -> Truth:
    """The truth of a condition for one record: the reference that engines are tested against."""
    match p:
        case Const(value):
            return value
        case Atom():
            return p.at(row[p.column])
        case HasAny():
            return "true" if p.of(row[p.column]) else "false"  # type: ignore[arg-type]
        case Comparison():
            raise TypeError("comparisons of expressions are not decided here")
        case And(parts):
            return min((truth(part, row) for part in parts), key=_RANK.__getitem__)
        case Or(parts):
            return max((truth(part, row) for part in parts), key=_RANK.__getitem__)
