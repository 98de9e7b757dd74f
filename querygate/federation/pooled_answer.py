"""Asking every member and putting their answers together, group by group.

A group that one member shows and another does not is asked of the other by a condition: only then is it known what that
member adds. Where it does not say, because its policy shows no groups that small, the group is left out, as it would be
by that member, and a note says so.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypedDict

from sqlglot import exp

from querygate.client.answer import Answer, Group, Range, Value
from querygate.core.answer_bodies import ColumnBody, RangeBody, Row
from querygate.core.errors import ConfigError, Refusal
from querygate.federation.pooled_range import Pooled, pool_sums
from querygate.federation.pooled_statement import Figure, PooledStatement, read_pooled_statement

MAX_ASKED_AGAIN = 200
"""Groups that are asked by a condition, of all members together."""

Ask = Callable[[str], Answer]
Keys = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A gate of the federation: how it is called, which dataset of it is meant, and how it is asked."""

    name: str
    dataset: str
    ask: Ask


class MemberBody(TypedDict):
    """What one member was asked: the ids under which its log has it."""

    name: str
    dataset: str
    version: int
    query_ids: list[str]


class PooledBody(TypedDict):
    """A pooled answer: columns and rows as those of one gate, and where they came from."""

    mode: str
    columns: list[ColumnBody]
    rows: list[Row]
    notes: list[str]
    members: list[MemberBody]


@dataclass(frozen=True)
class _Told:
    """What one member has said: its groups by their keys, and the answers that they stand in."""

    member: Member
    answers: list[Answer]
    groups: dict[Keys, Group] = field(default_factory=dict)


def ask_members(sql: str, members: Sequence[Member]) -> PooledBody:
    """The pooled answer. A member that refuses ends it: what it would add is not known."""
    statement = read_pooled_statement(sql)
    told = [_told(statement, member) for member in members]
    keys = dict.fromkeys(keys for one in told for keys in one.groups)  # of all members, in their order
    silent = _ask_again(statement, told, list(keys))
    kept = _ordered(statement, [one for one in keys if one not in silent])
    rows = [_row(statement, one, [member.groups[one] for member in told]) for one in kept]
    return PooledBody(
        mode="interval",
        columns=_columns(statement, told[0].answers[0]),
        rows=rows,
        notes=_notes(told, silent),
        members=[_member(one) for one in told],
    )


def _told(statement: PooledStatement, member: Member) -> _Told:
    answer, groups = _asked(statement, member)
    told = _Told(member, [answer])
    for group in groups:
        keys = _keys(statement, group)
        if keys in told.groups:
            raise _no_answer(member)
        told.groups[keys] = group
    return told


def _asked(
    statement: PooledStatement, member: Member, only: dict[str, Value] | None = None
) -> tuple[Answer, list[Group]]:
    """The answer of a member and its groups. What another machine sends is not believed to be an answer before it was
    looked at."""
    try:
        answer = _ask(member, statement.member_sql(member.dataset, only))
        groups = answer.rows
        names = [f"f{at}" for at in range(sum(len(figure.asked) for figure in statement.figures))]
        sound = all(_is_range(group[name]) for group in groups for name in (*names, "records"))
        sound = sound and all(_is_count(group["records"]) for group in groups)
        keyed = only is not None or all(map(_is_key, (key for group in groups for key in _keys(statement, group))))
        if not (
            sound and keyed and _is_headed(answer) and isinstance(answer.version, int) and isinstance(answer.id, str)
        ):
            raise _no_answer(member)
        return answer, groups
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, IndexError):
        raise _no_answer(member) from None


def _ask(member: Member, sql: str) -> Answer:
    try:
        return member.ask(sql)
    except (Refusal, ConfigError) as refusal:
        refusal.detail = f"{member.name}: {refusal.detail}"
        refusal.args = (refusal.detail,)
        refusal.suggestion, refusal.span = None, None  # they are of what the member was asked, not of what you wrote
        raise


def _is_range(cell: object) -> bool:
    """Two ends of one type in their order, or none and NULL."""
    if not isinstance(cell, Range):
        return False
    ends = (cell.low, cell.high)
    if None in ends:
        return ends == (None, None) and cell.may_be_null
    numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    return (numbers or type(cell.low) is type(cell.high)) and bool(cell.low <= cell.high)  # type: ignore[operator]


def _is_headed(answer: Answer) -> bool:
    """Columns with names and types, and notes: texts that can be written out."""
    notes = answer.body["notes"]
    heads = [column[key] for column in answer.body["columns"] for key in ("name", "type")]
    return isinstance(notes, list) and all(map(_is_text, (*heads, *notes)))


def _is_key(cell: object) -> bool:
    return cell is None or isinstance(cell, bool | int | float | dt.date | dt.datetime) or _is_text(cell)


def _is_text(cell: object) -> bool:
    """JSON can have halves of characters, which no file can."""
    return isinstance(cell, str) and cell.encode(errors="replace").decode() == cell


def _is_count(cell: object) -> bool:
    return isinstance(cell, Range) and isinstance(cell.low, int) and cell.low >= 0


def _no_answer(member: Member) -> ConfigError:
    return ConfigError("QG804", f"What {member.name} sent is no answer.", "Check its address, and ask its custodian.")


def _keys(statement: PooledStatement, group: Group) -> Keys:
    return tuple(group[f"k{at}"] for at in range(len(statement.keys)))  # type: ignore[misc]


def _ask_again(statement: PooledStatement, told: Sequence[_Told], keys: Sequence[Keys]) -> set[Keys]:
    """Ask each member for the groups that only others show. Returned are those of which one says nothing."""
    missing: Iterator[tuple[_Told, Keys]] = ((one, its) for its in keys for one in told if its not in one.groups)
    silent: set[Keys] = set()
    for one, its in islice(missing, MAX_ASKED_AGAIN):
        if its in silent:
            continue
        answer, groups = _asked(statement, one.member, dict(zip(statement.keys, its, strict=True)))
        one.answers.append(answer)
        if groups:
            one.groups[its] = groups[0]
        else:
            silent.add(its)
    return silent | {its for its in keys if any(its not in one.groups for one in told)}


def _row(statement: PooledStatement, keys: Keys, groups: Sequence[Group]) -> Row:
    row: Row = {}
    named = dict(zip(statement.keys, map(_plain, keys), strict=True))
    figures = _figures(statement, groups)
    for name in statement.columns:
        row[name] = named[name] if name in named else _body(figures[name])
    records = pool_sums([group["records"] for group in groups])  # type: ignore[misc]
    count = {"low": records.low, "high": records.high}
    return {**row, "_group": {"certain": not statement.keys or bool(records.low), "count": count}}


def _figures(statement: PooledStatement, groups: Sequence[Group]) -> dict[str, Pooled]:
    found: dict[str, Pooled] = {}
    at = 0
    for figure in statement.figures:
        parts = [_parts(figure, group, at, bool(statement.keys)) for group in groups]
        found[figure.name] = figure.of(parts)
        at += len(figure.asked)
    return found


def _parts(figure: Figure, group: Group, at: int, grouped: bool) -> list[Range]:
    """COUNT_IF of no record at all is NULL, and a member says of its groups what holds if they are there. Where all
    others know no condition, one that has no such group cannot make a number of NULL."""
    parts: list[Range] = [group[f"f{at + number}"] for number in range(len(figure.asked))]  # type: ignore[misc]
    if not grouped or group["records"].low:  # type: ignore[union-attr]
        return parts
    return [
        replace(part, may_be_null=True) if asked.find(exp.CountIf) else part
        for asked, part in zip(figure.asked, parts, strict=True)
    ]


def _body(found: Pooled) -> RangeBody:
    low, high, estimate = map(_plain, (found.low, found.high, found.estimate))
    return RangeBody(
        low=low, high=high, attained_low=None, attained_high=None, sharp=found.sharp, may_be_null=found.may_be_null,
        estimate=estimate,
    )  # fmt: skip


def _plain(value: Value) -> Any:
    """As JSON has it."""
    if isinstance(value, dt.date | dt.datetime):
        return value.isoformat()
    infinite = isinstance(value, float) and value in (float("inf"), float("-inf"))
    return str(value) if infinite else value


def _columns(statement: PooledStatement, first: Answer) -> list[ColumnBody]:
    """Of the types that the first member tells; what is computed of a pooled range is a number."""
    told = {column["name"]: column["type"] for column in first.body["columns"]}
    types = {name: told[f"k{at}"] for at, name in enumerate(statement.keys)}
    at = 0
    for figure in statement.figures:
        at += len(figure.asked)
        types[figure.name] = "number" if figure.steps else told[f"f{at - 1}"]
    return [
        {"name": name, "kind": "key" if name in statement.keys else "range", "type": types[name]}
        for name in statement.columns
    ]


def _ordered(statement: PooledStatement, keys: list[Keys]) -> list[Keys]:
    """By what the statement orders by, and else by the keys themselves; NULL last."""
    names = list(statement.keys)
    wanted = [*reversed(statement.order)] or [(name, False) for name in reversed(names)]
    for name, descending in wanted:
        place = names.index(name)
        some = [one for one in keys if one[place] is not None]
        none = [one for one in keys if one[place] is None]
        keys = sorted(some, key=lambda one: _sortable(one[place]), reverse=descending) + none
    return keys


def _sortable(value: Value) -> Any:
    return (isinstance(value, str), value)


def _notes(told: Sequence[_Told], silent: set[Keys]) -> list[str]:
    notes = [f"Put together from {len(told)} gates. A record counts once for every gate that has it."]
    if silent:
        some = "1 group is" if len(silent) == 1 else f"{len(silent)} groups are"
        notes.append(f"{some} left out: not every gate shows groups that small.")
    notes += dict.fromkeys(f"{one.member.name}: {note}" for one in told for note in one.answers[0].notes)
    return notes


def _member(told: _Told) -> MemberBody:
    first = told.answers[0]
    return MemberBody(
        name=told.member.name,
        dataset=told.member.dataset,
        version=first.version,
        query_ids=[answer.id for answer in told.answers],
    )
