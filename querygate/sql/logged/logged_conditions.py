"""Conditions of logged statements, split into what an attacker may know of a person and what is secret."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from sqlglot import exp

from querygate.core.types import folded
from querygate.sql.parse import DIALECT

MOST_SECRETS = 3
"""Different secret conditions in one statement: each may be true, false or unknown, so there are 3^n parts."""

_TRUTHS = {"TRUE": exp.true, "FALSE": exp.false, "NULL": exp.null}


class UnauditableStatement(Exception):
    """Why a statement cannot be audited; a sentence without values of the data."""


@dataclass(frozen=True)
class ConditionPart:
    """People whom `known` selects, as far as their own `secret` holds. Empty texts hold for everybody."""

    known: str
    secret: str


def split(condition: exp.Expr, secret: frozenset[str]) -> list[ConditionPart]:
    """Parts that exclude each other and together are where the condition is TRUE.

    Each secret condition in it is TRUE, FALSE or NULL for a person; put in, the rest is about what is known.
    """
    if not columns_of(condition) & secret:
        return [ConditionPart(text_of(condition), "")]
    condition = _gathered(condition, secret)
    leaves = {text_of(leaf): leaf for leaf in _secret_leaves(condition, secret)}
    if len(leaves) > MOST_SECRETS:
        raise UnauditableStatement(f"It has more than {MOST_SECRETS} secret conditions.")
    by_known: dict[str, list[str]] = {}
    for truths in product(_TRUTHS, repeat=len(leaves)):
        given = dict(zip(leaves, truths, strict=True))
        put_in = _put_in(condition, given, secret)
        if _never(put_in):
            continue
        known = text_of(put_in)
        held = " AND ".join(f"({leaf}) IS NOT DISTINCT FROM {truth}" for leaf, truth in given.items())
        by_known.setdefault(known, []).append(held)
    return [ConditionPart(known, _either(held, len(leaves))) for known, held in by_known.items()]


def _never(node: exp.Expr) -> bool:
    """Can it be seen not to be TRUE: it is FALSE or NULL, or joined to such by AND?"""
    parts = node.flatten() if isinstance(node, exp.And) else [node]
    return any(text_of(part.unnest()) in ("FALSE", "NULL") for part in parts)


def _either(held: list[str], leaves: int) -> str:
    if not leaves or len(held) == 3**leaves:
        return ""
    return " OR ".join(f"({one})" for one in held)


def _gathered(node: exp.Expr, secret: frozenset[str]) -> exp.Expr:
    """The condition with what is secret in an AND or OR as one part of it, so that there are few."""
    used = columns_of(node)
    if not used & secret or used <= secret:
        return node
    if isinstance(node, (exp.Not, exp.Paren)):
        return type(node)(this=_gathered(node.this, secret))
    if not isinstance(node, (exp.And, exp.Or)):
        raise UnauditableStatement("It compares a secret column with a known one.")
    parts = [part.unnest() for part in node.flatten()]
    hidden = [part for part in parts if columns_of(part) and columns_of(part) <= secret]
    others = [part for part in parts if not (columns_of(part) and columns_of(part) <= secret)]
    joined = [_joined(type(node), hidden)] if hidden else []
    return _joined(type(node), [*(_gathered(part, secret) for part in others), *joined])


def _joined(connector: type[exp.Expr], parts: list[exp.Expr]) -> exp.Expr:
    found = parts[0].copy()
    for part in parts[1:]:
        found = connector(this=bracketed(found), expression=bracketed(part))
    return found


def _secret_leaves(node: exp.Expr, secret: frozenset[str]) -> Iterable[exp.Expr]:
    """The largest conditions on secret columns alone."""
    used = columns_of(node)
    if not used & secret:
        return
    if isinstance(node, exp.Paren):
        yield from _secret_leaves(node.this, secret)
    elif used <= secret:
        yield node
    else:
        for child in node.iter_expressions():
            yield from _secret_leaves(child, secret)


def _put_in(node: exp.Expr, given: dict[str, str], secret: frozenset[str]) -> exp.Expr:
    """The condition with its secret leaves replaced by what they are, as far as it can be decided by that."""
    if isinstance(node, exp.Paren):
        return _put_in(node.this, given, secret)
    used = columns_of(node)
    if not used & secret:
        return node
    if used <= secret:
        return _TRUTHS[given[text_of(node)]]()
    if isinstance(node, exp.Not):
        inner = _put_in(node.this, given, secret)
        return (
            exp.false() if _is(inner, "TRUE") else exp.true() if _is(inner, "FALSE") else exp.Not(this=bracketed(inner))
        )
    if isinstance(node, (exp.And, exp.Or)):
        absorbing, neutral = ("FALSE", "TRUE") if isinstance(node, exp.And) else ("TRUE", "FALSE")
        parts = [_put_in(part, given, secret) for part in node.flatten()]
        if any(_is(part, absorbing) for part in parts):
            return _TRUTHS[absorbing]()
        kept = [part for part in parts if not _is(part, neutral)]
        if not kept:
            return _TRUTHS[neutral]()
        return _joined(type(node), kept)
    raise UnauditableStatement("It compares a secret column with a known one.")


def _is(node: exp.Expr, truth: str) -> bool:
    return text_of(node) == truth


def columns_of(node: exp.Expr) -> frozenset[str]:
    return frozenset(folded(column.name) for column in node.find_all(exp.Column))


def bracketed(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy())


def text_of(node: exp.Expr) -> str:
    return node.sql(dialect=DIALECT)
