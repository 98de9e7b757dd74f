"""Public cuts that classes reach across: which rules prevent dividing these classes, and what each rule costs.

The records are divided again, by the published method. A class that reaches across a cut is cut there, and every rule
of the policy is asked about the two halves. Then the records are divided under a policy without the rule. None of this
is written or served.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.progress import Progress
from querygate.core.types import Bools, Ints
from querygate.custody.policy import ColumnPolicy, Number, Policy
from querygate.custody.policy.toml_reader import dotted, show_value
from querygate.custody.publish.coded_rows import code, load
from querygate.custody.publish.guarantees import make_guards
from querygate.custody.publish.method_choice import again, divided
from querygate.custody.publish.partition import prepare, read_table
from querygate.custody.publish.step_state import PublicationState, StepProgress
from querygate.custody.publish_report.k_sweep import divided_alone, most_records, published_method
from querygate.custody.publish_report.report_case import ReportCase
from querygate.methods.anonymise import NULL, Guard, PersonCount, Table, ncp

MOST_SECONDS = 60.0
"""After this time no further rule is tried."""

Cut = tuple[str, Number]


@dataclass(frozen=True, slots=True)
class CutRule:
    """Classes that cannot be cut there because one half would break a rule. `always`: even all records on one side of
    the cut break it together, so that no division has a border there."""

    rule: str
    classes: int
    records: int
    always: bool


@dataclass(frozen=True, slots=True)
class CrossedCut:
    """A cut, the published classes that reach across it, and the rules that keep them whole."""

    column: str
    cut: str
    classes: int
    records: int
    rules: tuple[CutRule, ...]


@dataclass(frozen=True, slots=True)
class Relaxed:
    """What one change of the policy would do: records that then reach across each of the cuts, and the records whose
    classes would break the rule."""

    rule: str
    change: str
    classes: int
    ncp: float
    across: tuple[int, ...]
    broken_classes: int
    broken_records: int


@dataclass(frozen=True, slots=True)
class CrossedCuts:
    """All of them. `classes`, `ncp` and `across` are of the division that changes are compared with."""

    method: str
    records: int
    is_sample: bool
    cuts: tuple[CrossedCut, ...] = ()
    classes: int = 0
    ncp: float = 0.0
    across: tuple[int, ...] = ()
    relaxed: tuple[Relaxed, ...] = ()
    untried: tuple[str, ...] = ()  # changes that there was no time to try


def crossed_cuts(case: ReportCase, progress: Progress) -> CrossedCuts:
    name, k = published_method(case)
    most = most_records(name)
    found = CrossedCuts(name, min(case.rows.rows, most), case.rows.rows > most)
    crossed = dict(_published(case))
    if not crossed:
        return found
    progress("looking at cuts")
    told = tuple(
        CrossedCut(column, show_value(str(case.policy.column(column).type), cut), *figures, rules=())
        for (column, cut), figures in crossed.items()
    )
    state = PublicationState(divided_alone(replace(case.policy, k=k)), case.rows.staging(), StepProgress())
    try:
        state = code(load(state, case.rows.source(most)))
        prepare(state)
        return _Study.of(case, read_table(state, by_record=True)[0], name, tuple(crossed)).told(
            replace(found, cuts=told)
        )
    except ConfigError:  # on a sample the guarantees may be impossible to keep
        return replace(found, cuts=told)
    finally:
        state.staging.close()


def _published(case: ReportCase) -> Iterator[tuple[Cut, tuple[int, int]]]:
    """Classes and records of the version that reach across each cut, where any do."""
    for column in case.quasi:
        cuts = case.policy.column(column.name).cuts
        if not cuts:
            continue
        low, high, known = case.ends(column)
        for cut in cuts:
            across = (known & (low < cut) & (high >= cut))[case.first]
            if across.any():
                yield (column.name, cut), (int(across.sum()), int(case.sizes[across].sum()))


# -- rules ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A rule of a policy: a policy that has no other, and changes that relax it, by what the custodian would write."""

    name: str
    alone: Policy
    changes: Mapping[str, Policy] = field(default_factory=dict)


def rules_of(policy: Policy, missing: Sequence[str]) -> Iterator[Rule]:
    """Every rule of a policy that a class must keep. `missing`: sensitive columns with missing values."""
    none = replace(policy, k_map=None, columns=tuple(_free(column) for column in policy.columns))
    yield Rule(f"k = {policy.k}", none, _smaller_k(policy))
    for column in policy.named("sensitive"):
        table = f"[{dotted(('columns', column.name))}]"
        eased = _spared(column, table) if column.name in missing else {}
        if column.is_numeric and column.guard:
            off = {f"Set guard = 0 in {table}": replace(column, guard=0)} if _may_be_off(policy, column) else {}
            alone = replace(_free(column), guard=column.guard)
            yield _rule(f"the guard of {column.name}", policy, none, alone, eased | off)
        for d in column.diversity:
            rest = replace(column, diversity=tuple(other for other in column.diversity if other != d))
            gone = {f"Remove kind {d.kind} from diversity in {table}": rest}
            alone = replace(_free(column), diversity=(d,))
            yield _rule(f"{d.kind} diversity of {column.name}", policy, none, alone, eased | gone)
    if policy.k_map is not None:
        yield Rule("k_map", replace(none, k_map=policy.k_map), {"Remove [k_map]": replace(policy, k_map=None)})


def _spared(column: ColumnPolicy, table: str) -> dict[str, ColumnPolicy]:
    if any(d.kind == "personalised" for d in column.diversity):
        return {}
    return {f'Set missing = "not applicable" in {table}': replace(column, missing="not applicable")}


def _may_be_off(policy: Policy, column: ColumnPolicy) -> bool:
    """Is the policy valid without this guard? Numbers with their own intervals, and moments, need one."""
    return column.carry in ("bins", "hull") and policy.anonymise.class_moments == "none"


def _rule(name: str, policy: Policy, none: Policy, alone: ColumnPolicy, changes: Mapping[str, ColumnPolicy]) -> Rule:
    return Rule(name, _with(none, alone), {change: _with(policy, column) for change, column in changes.items()})


def _free(column: ColumnPolicy) -> ColumnPolicy:
    """Without anything that a class must keep of it."""
    return replace(column, diversity=(), guard=0 if column.guard else column.guard)


def _with(policy: Policy, column: ColumnPolicy) -> Policy:
    return replace(policy, columns=tuple(column if c.name == column.name else c for c in policy.columns))


def _smaller_k(policy: Policy) -> dict[str, Policy]:
    half = policy.k // 2
    return {f"Set k = {half}": replace(policy, k=half)} if half >= 2 else {}


# -- the study -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Study:
    """The records as a table, the rules with their guards, and the classes that the policy makes of them."""

    case: ReportCase
    state: PublicationState
    table: Table
    method: str
    cuts: tuple[Cut, ...]
    rules: tuple[Rule, ...]
    labels: Ints

    @classmethod
    def of(cls, case: ReportCase, state: PublicationState, method: str, cuts: tuple[Cut, ...]) -> _Study:
        if state.table is None:
            raise ValueError("there is no table yet")
        missing = [
            column.name
            for column in state.policy.named("sensitive")
            if state.profiles[column.name].missing and not column.spares_missing
        ]
        rules = tuple(rules_of(state.policy, missing))
        study = cls(case, state, state.table, method, cuts, rules, np.zeros(0, dtype=np.int64))
        return replace(study, labels=study._divided(state.policy))

    def told(self, found: CrossedCuts) -> CrossedCuts:
        cuts = tuple(replace(told, rules=self._rules(cut)) for told, cut in zip(found.cuts, self.cuts, strict=True))
        relaxed, untried = self._relaxed({rule.rule for cut in cuts for rule in cut.rules})
        return replace(
            found,
            cuts=cuts,
            classes=int(self.labels.max()) + 1,
            ncp=ncp(self.table, self.labels),
            across=self._across(self.labels),
            relaxed=relaxed,
            untried=untried,
        )

    def _divided(self, policy: Policy) -> Ints:
        guards = make_guards(replace(self.state, policy=policy), self.case.population)
        return divided(again(self.state, self.method), self.table, policy, policy.k, guards)

    def _guards(self, rule: Rule) -> list[Guard]:
        guards = make_guards(replace(self.state, policy=rule.alone), self.case.population)
        of_k = rule.name == self.rules[0].name
        return [guard for guard in guards if isinstance(guard, PersonCount) == of_k]

    def _keep(self, rule: Rule, rows: Ints, label: Ints, classes: int) -> Bools:
        """Which of the classes keep a rule."""
        kept = np.ones(classes, dtype=np.bool_)
        if rule.name == self.rules[0].name:
            kept = np.bincount(label, self.table.counts[rows], classes) >= rule.alone.k
        for guard in self._guards(rule):
            kept &= guard.classes(rows, label, classes)
        return kept

    def _rules(self, cut: Cut) -> tuple[CutRule, ...]:
        """The rules that one half of a class across the cut would break; first those that no division can keep."""
        rows, label = self._halves(cut, self.labels)
        halves = int(label.max(initial=-1)) + 1
        size = np.bincount(label, self.table.counts[rows], halves).reshape(-1, 2).sum(axis=1)
        everybody = self._halves(cut, np.zeros_like(self.labels))
        found = []
        for rule in self.rules if halves else ():
            whole = ~self._keep(rule, rows, label, halves).reshape(-1, 2).all(axis=1)
            if whole.any():
                always = not self._keep(rule, *everybody, 2).all()
                found.append(CutRule(rule.name, int(whole.sum()), int(size[whole].sum()), always))
        return tuple(sorted(found, key=lambda one: (not one.always, -one.records)))

    def _sides(self, cut: Cut, labels: Ints) -> tuple[Ints, Ints, Ints]:
        """Of each row 0 below the cut, 1 above; and the records of each class on both sides. Who has no value is with
        the fewer."""
        name, point = cut
        codes = next(a.codes for a in self.table.attributes if a.name == name)
        above = codes >= np.searchsorted(self.state.numbers[name].low, point)
        known = codes != NULL
        below, beyond = (
            np.bincount(labels[known & side], self.table.counts[known & side], int(labels.max()) + 1).astype(np.int64)
            for side in (~above, above)
        )
        side = np.where(known, above, (beyond < below)[labels]).astype(np.int64)
        return side, below, beyond

    def _halves(self, cut: Cut, labels: Ints) -> tuple[Ints, Ints]:
        """The rows of classes across the cut, and their halves: 2c and 2c + 1 of the c-th of them."""
        side, below, beyond = self._sides(cut, labels)
        across = (below > 0) & (beyond > 0)
        rows = np.flatnonzero(across[labels])
        number = np.cumsum(across) - 1
        return rows, 2 * number[labels[rows]] + side[rows]

    def _across(self, labels: Ints) -> tuple[int, ...]:
        """Records of the classes across each cut."""
        size = np.bincount(labels, self.table.counts)
        found = []
        for cut in self.cuts:
            _, below, beyond = self._sides(cut, labels)
            found.append(int(size[(below > 0) & (beyond > 0)].sum()))
        return tuple(found)

    def _relaxed(self, wanted: set[str]) -> tuple[tuple[Relaxed, ...], tuple[str, ...]]:
        """What changes of these rules do, as far as there is time to try them."""
        began, found, untried = self.case.clock_s(), [], []
        for rule in self.rules:
            for change, policy in rule.changes.items() if rule.name in wanted else ():
                if self.case.clock_s() - began > MOST_SECONDS:
                    untried.append(change)
                    continue
                labels = self._divided(policy)
                classes = int(labels.max()) + 1
                broken = ~self._keep(rule, np.arange(labels.size), labels, classes)
                size = np.bincount(labels, self.table.counts)
                found.append(
                    Relaxed(
                        rule.name,
                        change,
                        classes,
                        ncp(self.table, labels),
                        self._across(labels),
                        int(broken.sum()),
                        int(size[broken].sum()),
                    )
                )
        return tuple(found), tuple(untried)
