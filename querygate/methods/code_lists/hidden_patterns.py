"""Rules between codes that a reader of the records shall not find, hidden by unknowns (Saygin, Verykios, Clifton,
SIGMOD Record 2001; Verykios, Elmagarmid, Bertino, Saygin, Dasseni, IEEE TKDE 2004).

A rule `known -> secret` is hidden where fewer than `support` records tell all its codes, or at most a share of the
records that tell what is known tell what is secret too. Deleting codes from records, as most of that literature does,
would make counts false. So a code is published as unknown instead, "perhaps b": counts of b become ranges with the
truth inside, and all others stay as they are.

The secret code that most rules share, then the rarest, becomes unknown in the records that hold most rules, then in
the shortest ones, which have the fewest other patterns. As many records without the code get the same mark, first
those with what is known, then the shortest, so a mark alone does not say that the code is there. Then sets of up to m
codes are protected by local suppression, with "perhaps b" as a code of its own. That can make a rule surer again, where
it hides what is known: then none of the rule's records tell it. It can also take more marks from records without the
code than from others: then more of them are marked, until at least half of the marks that remain are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.confidence import ROUNDING, check_share
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.local_suppression import suppressed_locally
from querygate.methods.code_lists.sensitive_rules import SensitiveRule
from querygate.methods.code_lists.unprotectable import Unprotectable


def hidden_patterns(
    baskets: Baskets, rules: Sequence[SensitiveRule], k: int, m: int, share: float, support: int = 1
) -> LocalItems:
    """Codes as they are, unknown or hidden in some records, so that no rule is told and every set of up to m items is
    of k records or of none. In the groups, the number after the last code stands for none of them.

    >>> baskets = Baskets.of([[0, 1], [0, 1], [0], [0], [1]], size=2)
    >>> made = hidden_patterns(baskets, [SensitiveRule((0,), (1,))], k=1, m=1, share=0.25)
    >>> [[made.groups[item] for item in items] for items in made.published.lists()]
    [[(0,), (1, 2)], [(0,), (1,)], [(0,), (1, 2)], [(0,)], [(1,)]]
    """
    check_share("share", share)
    if support < 1 or any(not rule.secret or set(rule.known) & set(rule.secret) for rule in rules):
        raise ValueError("support is at least 1; a rule has secret codes, and none of them is known")
    marks = _Marks(baskets, rules, share, support)
    never: set[int] = set()
    while True:
        marks.hide(never)
        made = _named(suppressed_locally(marks.published(), [], k, m), baskets, marks.victims)
        open_rules = marks.open(_told(made, marks.codes))
        never |= open_rules
        if not open_rules and not marks.add_cover(made):
            return made


class _Marks:
    """The codes of the rules, record by record: which of them are told, and which are marked as unknown."""

    def __init__(self, baskets: Baskets, rules: Sequence[SensitiveRule], share: float, support: int) -> None:
        self.baskets, self.rules, self.share, self.support = baskets, rules, share, support
        self.codes = sorted({code for rule in rules for code in (*rule.known, *rule.secret)})
        self.held = _held(baskets, self.codes)
        self.told = self.held.copy()
        self._added = np.zeros(len(self.codes), dtype=np.int64)  # marked records without the code, beyond those with it
        self._lengths = np.diff(baskets.starts)
        self._number = np.bincount(list(chain.from_iterable(rule.secret for rule in rules)), minlength=baskets.size)

    @property
    def victims(self) -> list[int]:
        """The codes that are unknown in some record."""
        marked = (self.held & ~self.told).any(axis=1) | (self._added > 0)
        return [code for code, some in zip(self.codes, marked.tolist(), strict=True) if some]

    def open(self, told: Bools) -> set[int]:
        """The rules that such records tell."""
        return {number for number, rule in enumerate(self.rules) if self._excess(rule, told) > 0}

    def hide(self, never: set[int]) -> None:
        """Mark codes until no rule is told; those of `never` by no record at all. What is known in one rule may be
        secret in another, so this is repeated until nothing changes."""
        changed = True
        while changed:
            changed = False
            for number, rule in enumerate(self.rules):
                both = self._having(self.told, (*rule.known, *rule.secret))
                excess = int(both.sum()) if number in never else self._excess(rule, self.told)
                if excess > 0:
                    self.told[self.codes.index(self._victim(rule)), self._first(both, excess)] = False
                    changed = True

    def add_cover(self, made: LocalItems) -> bool:
        """Have more records without a code marked, where most marks that are left of it are true; False where none
        are. Ever more are added at a time, since suppression may take most of them."""
        added = False
        for row, code in enumerate(self.codes):
            marked = _marked(made, (code, self.baskets.size))
            missing = int((marked & self.held[row]).sum()) - int((marked & ~self.held[row]).sum())
            if missing > 0 and self._number[code]:
                self._add(row, missing)
                added = True
        return added

    def _add(self, row: int, missing: int) -> None:
        others = int((~self.held[row]).sum())
        hidden = int((self.held[row] & ~self.told[row]).sum())
        before = int(self._added[row])
        if hidden + before >= others:
            raise Unprotectable(
                "A secret code of `rules` cannot be unknown in so many records: too few are without it, so most of "
                "those in which it is unknown would have it.",
                "Raise `share` or `support`, lower k or m, or leave out the rule.",
            )
        self._added[row] = before + max(before // 2, missing)

    def published(self) -> Baskets:
        """The records with "perhaps b" as a code of its own, behind all codes, where b is marked."""
        size, victims = self.baskets.size, self.victims
        of_record, members = self.baskets.of_record, self.baskets.members
        kept = np.ones(members.size, dtype=np.bool_)
        records, items = [], []
        for number, code in enumerate(victims):
            row = self.codes.index(code)
            hidden = self.held[row] & ~self.told[row]
            kept &= ~((members == code) & hidden[of_record])
            marked = np.flatnonzero(hidden | self._cover(code, row, int(hidden.sum() + self._added[row])))
            records.append(marked)
            items.append(np.full(marked.size, size + number))
        record = np.concatenate([of_record[kept], *records])
        item = np.concatenate([members[kept], *items])
        order = np.lexsort([item, record])
        starts = np.searchsorted(record[order], np.arange(self.baskets.records + 1)).astype(np.int64)
        return Baskets(starts, item[order].astype(np.int64), size + len(victims))

    def _cover(self, code: int, row: int, number: int) -> Bools:
        """So many records without the code: first those that hold what its rules know, then the shortest."""
        others = np.flatnonzero(~self.held[row])
        alike = np.zeros(self.baskets.records, dtype=np.int64)
        for rule in self.rules:
            if code in rule.secret:
                alike += self._having(self.held, rule.known).astype(np.int64)
        chosen = others[np.lexsort([self._lengths[others], -alike[others]])][:number]
        cover = np.zeros(self.baskets.records, dtype=np.bool_)
        cover[chosen] = True
        return cover

    def _victim(self, rule: SensitiveRule) -> int:
        supports = self.held.sum(axis=1)
        return min(rule.secret, key=lambda code: (-self._number[code], supports[self.codes.index(code)], code))

    def _first(self, both: Bools, number: int) -> Ints:
        """Of these records, those that hold most rules, then the shortest."""
        records = np.flatnonzero(both)
        told, rules = self.told[:, records], np.zeros(records.size, dtype=np.int64)
        for rule in self.rules:
            rules += self._having(told, (*rule.known, *rule.secret)).astype(np.int64)
        order = np.lexsort([self._lengths[records], -rules])
        return records[order][:number]

    def _excess(self, rule: SensitiveRule, told: Bools) -> int:
        """How many records fewer would have to tell the rule."""
        known = int(self._having(told, rule.known).sum())
        both = int(self._having(told, (*rule.known, *rule.secret)).sum())
        return min(both - int(self.share * known + ROUNDING), both - (self.support - 1))

    def _having(self, rows: Bools, codes: Sequence[int]) -> Bools:
        """The records that have all of these codes."""
        return np.asarray(rows[[self.codes.index(code) for code in codes]].all(axis=0))


def _held(baskets: Baskets, codes: Sequence[int]) -> Bools:
    """For each code, the records that have it."""
    held = np.zeros((len(codes), baskets.records), dtype=np.bool_)
    for row, code in enumerate(codes):
        held[row, baskets.of_record[baskets.members == code]] = True
    return held


def _marked(made: LocalItems, mark: tuple[int, ...]) -> Bools:
    """The records of an item that stands for the code or none: its own, or one that hides nothing else."""
    marks = [item for item, group in enumerate(made.groups) if group == mark]
    marked = np.zeros(made.published.records, dtype=np.bool_)
    marked[made.published.of_record[np.isin(made.published.members, marks)]] = True
    return marked


def _told(made: LocalItems, codes: Sequence[int]) -> Bools:
    """For each code, the records that tell it: an item that is this code and nothing else."""
    return _held(made.published, codes)  # item i is code i


def _named(made: LocalItems, baskets: Baskets, victims: Sequence[int]) -> LocalItems:
    """The items as groups of codes. What hides a single code would tell it, so it stands for none as well."""
    none = baskets.size

    def codes_of(group: tuple[int, ...]) -> tuple[int, ...]:
        found = {victims[code - none] if code >= none else code for code in group}
        return (*sorted(found), none) if max(group) >= none else tuple(sorted(found))

    singles, rest = made.groups[: none + len(victims)], made.groups[none + len(victims) :]
    hidden = tuple((*codes_of(group), none) if len(codes_of(group)) == 1 else codes_of(group) for group in rest)
    told = np.bincount(made.published.members, minlength=none)[:none].sum()
    loss = 1 - float(told) / baskets.members.size if baskets.members.size else 0.0
    return LocalItems(made.published, (*map(codes_of, singles), *hidden), made.suppressed, loss)
