"""The figures of an extract as those who decide read them, at the shell and in the console: each with a title, and with
a sentence on how to read it for somebody who is no statistician."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from querygate.core.count_text import counted

UNSAID = ("format", "request", "dataset", "kind", "policy_hash", "wish", "guarantees", "made")
"""What the request says already, or what is said in other words."""

RISKS: Final = {
    "risk": "In this extract",
    "assessment": "Compared with the raw records and Safe Harbor",
    "before": "What makes people stand out",
    "beside_views": "Combined with what is published",
}
"""Parts about risk, and their titles."""

READINGS: Final = {
    "version": ("Built from version", ""),
    "method": ("Method", "How records were grouped. Of the methods tried, this one preserves most."),
    "k": ("Alike, at least", "How many records share the same published values, including the record itself."),
    "k_asked": ("Alike, as asked for", ""),
    "records": ("Records", ""),
    "left_out": ("Records left out", ""),
    "classes": (
        "Groups of records that look alike",
        "The more groups, the more differences between people are preserved.",
    ),
    "columns": ("Columns", ""),
    "loss": (
        "Detail lost",
        "0 %: as exact as in the records. 100 %: nothing is revealed except that there is a value.",
    ),
    "parameters": ("Settings of the method", "For anybody who wants to repeat it."),
    "distances": (
        "Error of a share",
        "With 5 %, where the extract says that 40 % are older than 60, it may be 35 % or 45 % in the records. Near "
        "0 %, the column is distributed as before.",
    ),
    "pairs": ("Error of a share of two columns together", "On average over all pairs of columns."),
    "cost": ("Cost from the privacy budget", "Delta and rho appear only if the policy has a delta."),
    "budget": ("Left of the privacy budget", ""),
    "means": ("Means", "In the records, and in the extract. A range of the extract counts as its middle."),
    "medians": ("Medians", ""),
    "sums": ("Sums", "Where a value is missing in one of the two, sums differ more than means."),
    "information": (
        "Information preserved about a column",
        "100 %: each record's value can still be worked out. 0 %: nothing is known beyond what is known of everybody.",
    ),
    "associations": (
        "Information on sensitive columns that a group gives",
        "What the other columns still reveal about them. Small groups reveal much by chance alone.",
    ),
    "largest_difference": (
        "Largest change of a correlation",
        "0: columns are related as before. From 0.2 on, a relation between two of them may have appeared or vanished.",
    ),
    "sign": ("Effects that point the other way", "Of the effects that are significant in the records."),
    "significance": ("Effects that change between significant and not", "Of all effects of the model."),
    "outside": ("Effects outside their 95 % interval", "Of all effects: those the extract estimates too far off."),
    "privacy": (
        "What stays unknown about a person",
        "For somebody who knows which record is whose, in the unit of the column (days for dates). With 15 for age, "
        "it is as uncertain as if it lay anywhere within 15 years. Near 0, the value is revealed.",
    ),
    "promises": ("Guarantees of the policy, as measured", ""),
}
"""What each figure is called, and how to read it."""

SHARES = frozenset({"loss", "information", "associations", "distances", "pairs", "sign", "significance", "outside"})


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, or one for each of some columns."""

    title: str
    values: tuple[tuple[str, str], ...]
    """What each is about, and the figure; one that is about everything is about nothing in particular."""
    reading: str = ""


@dataclass(frozen=True, slots=True)
class ExtractFigures:
    """Risk and use of an extract beside each other, and what the requester knows already."""

    risk: tuple[tuple[str, tuple[str, ...]], ...]
    """Titles, and sentences."""
    unknown: tuple[Figure, ...]
    kept: tuple[Figure, ...]
    learnt: str


def make_figures(body: Mapping[str, Any]) -> ExtractFigures:
    """
    >>> made = make_figures({"k": 5, "loss": {"age": 0.095}, "risk": {"words": ["1 in 5."], "n": 3}, "wish": {}})
    >>> made.risk
    (('In this extract', ('1 in 5.',)),)
    >>> [(one.title, one.values) for one in made.kept]
    [('Alike, at least', (('', '5'),)), ('Detail lost', (('age', '9.5 %'),))]
    """
    told = tuple((title, words) for name, title in RISKS.items() if (words := _words(body.get(name))))
    utility = body.get("utility") or {}
    unknown = [_figure("privacy", utility["privacy"])] if utility.get("privacy") else []
    promises = {one["promise"]: _measured(one) for one in _promises(body)}
    unknown += [_figure("promises", promises)] if promises else []
    kept = tuple(_figure(name, value) for name, value in _plain(body))
    return ExtractFigures(told, tuple(unknown), (*kept, *_of_use(utility)), _learnt(body.get("learnt") or {}))


def _words(part: object) -> tuple[str, ...]:
    """What a part says in words; where it says nothing, its figures."""
    if not isinstance(part, Mapping):
        return ()
    figures = (f"{_title(name)}: {_text(name, value)}" for name, value in _plain(part))
    return tuple(part.get("words", ())) or tuple(figures)


def _learnt(body: Mapping[str, Any]) -> str:
    """What whoever asks has been told before, with those they work with."""
    if "asked" not in body:
        return ""
    who = "1 person" if body["people"] == 1 else f"{body['people']} people who work together"
    told = f"{who} asked {counted(body['asked'], 'question')} about this dataset; {body['answered']} answered."
    if "findings" not in body:
        return f"{told} They were {body['audit']}."
    return f"{told} {_audited(body)}"


def _audited(body: Mapping[str, Any]) -> str:
    """What the audit found; never that nothing could single people out where nothing was looked at."""
    missed, answered, findings = body.get("not_audited") or 0, body["answered"], body["findings"]
    if missed and missed >= answered and not findings:
        return f"None of the {answered} could be audited, so nothing is known."
    them = f"the other {answered - missed}" if 0 < missed < answered else "them"
    told = f"The audit of {them} has {counted(findings, 'finding')}; {body['isolating'] or 'none'} could single"
    how = "" if missed < answered else " fully"
    left = f" {missed} of the {answered} could not be audited{how}." if missed else ""
    return f"{told} people out.{left}"


def _promises(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(body.get("guarantees") or ())


def _measured(promise: Mapping[str, Any]) -> str:
    """
    >>> _measured({"figure": 0.0982367758186398, "holds": True}), _measured({"figure": 1200, "holds": False})
    ('0.0982 measured, kept', '1,200 measured, BROKEN')
    """
    return f"{_text('promises', promise['figure'])} measured, {'kept' if promise['holds'] else 'BROKEN'}"


def _plain(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is not a table, is not said elsewhere and is not empty."""
    for name, value in body.items():
        is_table = isinstance(value, list) and any(isinstance(one, (Mapping, list)) for one in value)
        is_said = name in (*UNSAID, *RISKS, "utility", "learnt") or (name == "k_asked" and value == body.get("k"))
        if not is_said and not is_table and value not in (None, "", [], {}):
            yield name, value


def _of_use(utility: Mapping[str, Any]) -> Iterator[Figure]:
    """What the distributions, the correlations and the models of the requester look like afterwards."""
    if utility.get("distances"):
        yield _figure("distances", utility["distances"])
    for name in ("means", "medians", "sums", "information", "associations"):
        if utility.get(name):
            yield _figure(name, utility[name])
    if utility.get("pairs") is not None:
        yield _figure("pairs", utility["pairs"])
    change = (utility.get("correlations") or {}).get("largest_difference")
    if change is not None:
        yield _figure("largest_difference", change)
    for name in ("sign", "significance", "outside"):
        found = {one["model"]: one[name] for one in utility.get("models") or () if one.get(name) is not None}
        if found:
            yield _figure(name, found)


def _figure(name: str, value: Any) -> Figure:
    of_each = value.items() if isinstance(value, Mapping) else (("", value),)
    values = tuple((str(what), _text(name, one)) for what, one in of_each)
    return Figure(_title(name), values, READINGS.get(name, ("", ""))[1])


def _title(name: str) -> str:
    return READINGS[name][0] if name in READINGS else name.replace("_", " ").capitalize()


def _text(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{what} {_text(name, one)}" for what, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{100 * value:.3g} %" if name in SHARES else f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
    return str(value)
