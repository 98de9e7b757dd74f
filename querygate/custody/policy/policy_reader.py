"""Text of a policy file -> Policy, or one error that names every mistake with its key path and what is accepted.

Nothing is ignored: a key that is unknown or does not apply to its column is an error. A policy that loads means what it
says.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

from querygate.core.errors import ConfigError, Span
from querygate.custody.policy.code_group_rules import read_code_groups
from querygate.custody.policy.column_policy import ClassMoments, ColumnPolicy
from querygate.custody.policy.column_rules import read_columns
from querygate.custody.policy.derived_titles import with_titles
from querygate.custody.policy.event_tables import read_events
from querygate.custody.policy.interval_edges import bin_edges, exact, grid_edges
from querygate.custody.policy.joined_tables import NAME, read_joins, read_population, read_references
from querygate.custody.policy.moment_rules import check_moments, moments_warnings
from querygate.custody.policy.noise_budget_rules import read_noise
from querygate.custody.policy.policy_keys import KEYS, VOCABULARY
from querygate.custody.policy.policy_types import AnonymiseOptions, AnswerOptions, AuditPolicy, ClassMethod, Policy
from querygate.custody.policy.release_rules import check_tight, read_limited, read_randomised, read_release
from querygate.custody.policy.statistic_rules import (
    check_method,
    read_largest_k,
    read_max_width,
    read_statistics,
    read_target,
)
from querygate.custody.policy.toml_reader import Bound, Problems, RawTable, TomlTable, dotted
from querygate.custody.policy.version_rules import read_k_counts, read_person, read_republish
from querygate.custody.policy.view_rules import read_views


def load_policy(path: str | PathLike[str]) -> Policy:
    """Read a policy file. Raises ConfigError QG801."""
    name = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError("QG801", f"{name}: cannot be read: {reason}", "Name a policy file in TOML.") from None
    except UnicodeDecodeError:
        raise ConfigError("QG801", f"{name}: is not text; accepted: UTF-8", "Save it as UTF-8.") from None
    return parse_policy(text, name, Path(path).parent)


def parse_policy(text: str, name: str = "policy", folder: Path = Path()) -> Policy:
    """Read the text of a policy; `name` stands for the file in errors, and files it names are seen from `folder`.

    Raises ConfigError QG801.
    """
    problems = Problems(name, VOCABULARY, folder)
    policy = _policy(TomlTable(_toml(text, name), (), "", problems))
    problems.check()
    return replace(policy, warnings=tuple(_warnings(policy)))


def accepted_keys() -> tuple[str, ...]:
    """Every key this version accepts, such as `columns.*.role`; the reference must explain each."""
    return tuple(f"{table}.{key}".lstrip(".") for table in KEYS for key in VOCABULARY.accepted(table))


def _toml(text: str, name: str) -> RawTable:
    remedy = "Correct the TOML; see https://toml.io for the syntax."
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, place = str(error).rpartition(" (at ")
        found = re.fullmatch(r"line (\d+), column (\d+)\)", place)
        last = text.split("\n")  # "at end of document" has no numbers of its own
        line, column = map(int, found.groups()) if found else (len(last), len(last[-1]) + 1)
        detail = f"{name}: line {line}, column {column}: {message}"
        raise ConfigError("QG801", detail, remedy, span=Span(line, column)) from None
    except (ValueError, RecursionError):  # thousands of digits, thousands of brackets
        detail = f"{name}: a number or a list is too long to read; accepted: numbers of 64 bits, flat lists"
        raise ConfigError("QG801", detail, remedy) from None


def _policy(top: TomlTable) -> Policy:
    anonymise, answers, audit = top.table("anonymise"), top.table("answers"), top.table("audit")
    dataset = top.text("dataset", NAME)
    k = int(top.required("k", Bound(least=2, whole=True)) or 0)
    columns = read_columns(top)
    columns += read_code_groups(top, columns)
    class_moments: ClassMoments = anonymise.word("class_moments", "none")
    method: ClassMethod = anonymise.word("method", "auto")
    check_method(anonymise, method, columns)
    check_moments(anonymise, class_moments, k, columns)
    check_tight(anonymise, columns)
    modes, person = answers.choices("modes", ("interval",)), read_person(top, columns)
    joins = read_joins(top, columns)
    events = read_events(top, columns, joins)
    return Policy(
        dataset=dataset,
        k=k,
        columns=with_titles(columns, events),
        title=top.text("title"),
        unit=top.text("unit"),
        anonymise=AnonymiseOptions(
            method=method,
            edges=anonymise.word("edges", "grid"),
            class_moments=class_moments,
            search=anonymise.word("search", "guarded"),
            statistics=read_statistics(anonymise, columns),
            max_width=read_max_width(anonymise, columns),
            largest_k=read_largest_k(anonymise),
            target=read_target(anonymise, method, columns),
        ),
        answers=AnswerOptions(
            modes=modes,
            min_group=int(answers.number("min_group", Bound(least=0, whole=True)) or 0),
        ),
        audit=AuditPolicy(on_differencing=audit.word("on_differencing", "alert")),
        references=read_references(top, dataset),
        joins=joins,
        events=events,
        k_map=read_population(top, columns),
        person=person,
        k_counts=read_k_counts(top, person),
        noise=read_noise(top, modes, person, columns),
        republish=read_republish(top),
        release=read_release(top, columns),
        limited=read_limited(top, columns),
        randomised=read_randomised(top),
        views=read_views(top, columns),
    )


def _warnings(policy: Policy) -> Iterator[str]:
    """Warnings about choices that a custodian should not make unknowingly."""
    if policy.anonymise.edges == "tight":
        yield "anonymise.edges: tight: class edges are values of real people"
    yield from moments_warnings(policy.anonymise.class_moments)
    if policy.limited is not None:
        yield (
            "limited_data_set: unchanged records, with dates, towns and ZIP codes, may be released under a data use "
            "agreement; a recipient who breaks it can find most people"
        )
    if policy.k_counts == "rows":
        noisy = policy.noise is not None and not policy.noise.person
        yield "k_counts: rows: a class of k rows may be one person's" + (", and noise hides one row" if noisy else "")
    if policy.republish.few_changes == "report":
        yield (
            "republish.few_changes: report: anyone who has two versions and knows who was added, removed or changed "
            "can work out their values"
        )
    for column in policy.named("quasi-identifier", "sensitive", "note", "payload"):
        for key, warning in _column_warnings(column, has_views=policy.views is not None):
            yield f"{dotted(('columns', column.name, key))}: {warning}"


def _column_warnings(column: ColumnPolicy, *, has_views: bool) -> Iterator[tuple[str, str]]:
    if column.note is not None:
        yield "role", "note: names and numbers are removed, but the content of a text may still identify somebody"
        if column.note.dates == "shift":
            yield "dates", "shift: dates are published, moved by some days; this is not Safe Harbor"
        return
    if column.role == "payload":
        yield (
            "role",
            "payload: included in extracts unchanged: anyone who can look up its values elsewhere finds the people",
        )
        return
    if column.role == "quasi-identifier":
        if column.is_numeric and len(grid_edges(column)) == 2:
            advice = 'for codes such as 1 and 2, write type = "category"'
            yield "domain", f"one cell covers the whole domain, so no question can distinguish its values; {advice}"
        return
    if not column.is_numeric and not column.diversity and not has_views:
        yield "diversity", "not set: a class may be homogeneous, and then reveals the value of everyone in it"
    if column.spares_missing:
        yield "missing", "not applicable: a class may reveal that none of its members has a value"
    if column.guard == 0:
        yield "guard", "0 is off: a class may reveal the values of its members as closely as one bin or one grid step"
    if has_views and column.guard and column.bins == column.grid and exact(column.grid or 0) > exact(column.guard):
        yield "guard", "narrower than the bins, which are a step of the grid: set grid, or bins, for narrower answers"
    if column.carry == "bins" and len(bin_edges(column)) == 2:
        yield "bins", "one bin covers the whole domain: nothing but the domain is published about this column"
