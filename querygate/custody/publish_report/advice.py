"""What a custodian should look at first, and what to do about it; only from the figures of the report."""

from __future__ import annotations

from collections.abc import Iterator

from querygate.core.count_text import counted
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish_report.crossed_cuts import CrossedCuts
from querygate.custody.publish_report.report_fields import Advice, PublishReport
from querygate.custody.publish_report.usable_figures import UsableFigures

COVERED = 0.5
"""If classes cover more of a column's domain than this, the column is published with little detail."""

UNDIVIDED = 0.9
"""If classes cover more of a column's domain than this, the column divides hardly any class."""

VAGUE = 0.25
"""A mean whose range covers more of the domain than this says little."""

HEAPED = 0.1
"""A class with more of all records than this hides a part of the data, unless hardly anything is lost."""

SMALL_K = 5


def make_warnings(body: PublishReport, policy: Policy) -> tuple[Advice, ...]:
    """Each with a text and a piece of advice. The advice was seen to help: tests follow it."""
    found = [*_of_soundness(body), *_of_disclosure(body), *_of_risk(body), *_of_versions(body), *_of_use(body, policy)]
    found += [(f"The policy: {text}.", "") for text in policy.warnings]
    return (*of_lost(body.usable), *(Advice(text, advice) for text, advice in found))


def of_lost(found: UsableFigures) -> tuple[Advice, ...]:
    """Warnings about what is clearly wider than in the previous version."""
    return tuple(Advice(text, found.remedy) for text in found.lost)


def _of_soundness(body: PublishReport) -> Iterator[tuple[str, str]]:
    for line in body.statistics:
        if not line.holds:
            yield (
                f"The true value of {line.statistic} is outside the served range.",
                "This is a fault of QueryGate. Retire the version and report the fault, with the policy.",
            )


def _of_disclosure(body: PublishReport) -> Iterator[tuple[str, str]]:
    rows = body.headline.rows
    for line in body.disclosure:
        column, records = line.column, line.records
        if not records:
            continue
        share = f"{counted(records, 'record')} ({records / rows:.1%}) in {counted(line.classes, 'class', 'classes')}"
        if line.kind == "values":
            yield (
                f"{share} share one value of {column} with their whole class: anyone who finds the class knows it.",
                f'Require different values: diversity = {{ kind = "distinct", l = 2 }} in [columns.{column}].',
            )
        else:
            yield (
                f"{share} have values of {column} within {line.limit:g} of each other.",
                f"Set a guard of at least that in [columns.{column}].",
            )


def _of_risk(body: PublishReport) -> Iterator[tuple[str, str]]:
    k = body.headline.k
    if body.headline.persons < body.headline.rows:
        yield (
            f"{body.headline.persons:,} people have {body.headline.rows:,} rows. k counts people, but the sizes of "
            "classes and the risk figures count rows, and look too good if one person has many.",
            "Judge the risk by k: nobody is found among fewer than k people.",
        )
    if k < SMALL_K:
        yield (
            f"The smallest class has {k} records: anyone who knows that a person is in the data guesses right once in "
            f"{k} times.",
            "Choose a k of at least 5, or 10 if people are easily recognised; the map of risk and utility shows the "
            "cost.",
        )

    found = body.risk.codes
    if found is not None and found.alone:
        yield (
            f"{found.alone:.1%} of the records are the only ones in their class with their codes "
            f"({', '.join(found.columns)}): anyone who knows a person's class and all their codes finds the record. "
            f"The risk is then {found.average:.1%} on average, not {body.risk.prosecutor.average:.1%}.",
            _about_codes(body),
        )


def _about_codes(body: PublishReport) -> str:
    column = max(body.codes, key=lambda one: one.alone).column
    if any(one.method == "classes" for one in body.codes):
        return f"Raise m in protect of [columns.{column}], or choose a larger k, there too if it has its own."
    return (
        f'Protect codes within classes: protect = {{ kind = "classes", m = 2 }} in [columns.{column}]. Or choose a '
        "larger k, or leave out a quasi-identifier."
    )


def _of_versions(body: PublishReport) -> Iterator[tuple[str, str]]:
    told = body.versions.together.told if body.versions else 0
    if told:
        yield (
            f"{counted(told, 'person was', 'people were')} added, removed or changed in groups below k: anyone who has "
            "both versions and knows who they are can work out their values.",
            "Wait until there are more such changes, or retire the previous version.",
        )


def _of_use(body: PublishReport, policy: Policy) -> Iterator[tuple[str, str]]:
    for line in body.widths:
        if line.role == "quasi-identifier" and line.share > COVERED:
            yield (
                f"{line.column} is published with little detail: a class covers {line.share:.0%} of its domain on "
                "average.",
                _about_detail(policy, policy.column(line.column), line.share),
            )
    for answer in body.statistics:
        low, high = answer.domain or (0.0, 0.0)
        share = (answer.width or 0) / ((high - low) or 1) if answer.domain else 0.0
        if share > VAGUE:
            column = policy.column(answer.statistic.partition("(")[2].removesuffix(")"))
            yield (
                f"The range of {answer.statistic} covers {share:.0%} of its domain.",
                _about_range(body, policy, column),
            )
    yield from _of_cuts(body)
    largest = body.class_sizes.largest
    if body.headline.ncp > HEAPED and largest > HEAPED * body.headline.rows:
        yield (
            f"One class has {largest:,} records, {largest / body.headline.rows:.0%} of all records.",
            _about_size(body),
        )


def _about_detail(policy: Policy, column: ColumnPolicy, share: float) -> str:
    """Advises only what helps: a category has no cuts, and a column that divides nothing costs the others nothing."""
    if len(policy.named("quasi-identifier")) == 1:
        return "Lower k."
    cuts = "give it cuts, " if column.is_numeric and not column.cuts and not column.edges else ""
    unneeded = f" If nobody needs {column.name}, withhold it to make the other columns sharper."
    return f"Raise its weight, {cuts}leave out another quasi-identifier, or lower k." + unneeded * (share < UNDIVIDED)


def _about_range(body: PublishReport, policy: Policy, column: ColumnPolicy) -> str:
    if column.role == "quasi-identifier":
        named = 'Name it in anonymise.statistics with method = "auto", or lower k.'
        return "Lower k." if policy.anonymise.statistics and policy.anonymise.method == "auto" else named
    bins = "narrower bins" if column.carry == "bins" else "bins"
    one_each = body.headline.persons == body.headline.rows  # moments over one person's rows would be about that person
    moments = one_each and policy.anonymise.class_moments == "none"
    return f"Carry {column.name} in {bins}" + ', or set class_moments = "rounded" in [anonymise].' * moments


def _about_size(body: PublishReport) -> str:
    if body.class_sizes.largest < 2 * body.headline.k_asked:
        return "Lower k."
    return "Relax a guarantee of the policy: classes are larger than k needs them."


def _of_cuts(body: PublishReport) -> Iterator[tuple[str, str]]:
    """A warning for each column with cuts that classes reach across, and the change that helps most."""
    found = body.crossed_cuts
    for column in dict.fromkeys(cut.column for cut in found.cuts):
        mine = [i for i, cut in enumerate(found.cuts) if cut.column == column]
        rules = [rule for i in mine for rule in found.cuts[i].rules]
        first = dict.fromkeys(rule.rule for rule in rules if rule.always) or dict.fromkeys(rule.rule for rule in rules)
        points = ", ".join(found.cuts[i].cut for i in mine)
        yield (
            f"Classes reach across public cuts of {column} ({points})."
            + (f" What keeps them together: {', '.join(first)}." if first else ""),
            _about_cuts(found, mine, kept=body.versions is not None and body.versions.sticky),
        )


def _about_cuts(found: CrossedCuts, cuts: list[int], *, kept: bool) -> str:
    """The change after which the fewest records break a rule, of those that leave fewer across. `kept`: classes of
    earlier versions were."""
    before = sum(found.across[i] for i in cuts) if found.across else 0
    across = {one.change: sum(one.across[i] for i in cuts) for one in found.relaxed}
    helpful = [one for one in found.relaxed if across[one.change] < before]
    now = sum(found.cuts[i].records for i in cuts)
    if kept and found.across and not found.is_sample and before < now:
        return (
            f"This comes from keeping the classes of earlier versions: {counted(before, 'record')} would be across, "
            f"instead of {now:,}, if everybody were divided again. Wait for more newcomers before you publish, or "
            "start afresh with `--on-overlap retire`."
        )
    if not helpful:
        return "Leave out these cuts, or lower k."
    best = min(helpful, key=lambda one: (one.broken_records, across[one.change]))
    return (
        f"{best.change}: {counted(across[best.change], 'record')} would be across instead of {before:,}, and "
        f"{counted(best.broken_records, 'record')} in classes that break {best.rule}. Or leave out these cuts."
    )
