"""What a dataset tells about itself: the same words at every front door.

Everything here is read from the catalog, which is public, but for where conditions are sharp: that the cells tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from querygate.core.answer_bodies import DescriptionBody, PublishedColumnBody, ReferenceBody
from querygate.core.count_text import counted
from querygate.core.errors import NotPermitted, Refusal
from querygate.core.limits.deadline import over_the_limit, within
from querygate.core.ports import Limits, Native, PublishedVersion
from querygate.core.types import Catalog, Column, Reference
from querygate.gate.dataset_list import make_summary
from querygate.gate.sharpness import Sharpness, find_sharpness
from querygate.gate.value_texts import value_text
from querygate.sql import understand
from querygate.sql.name_text import name_text
from querygate.sql.noisy_plan import understand_noisy

MOST_CUTS = 100
"""Cuts of one column that are told, evenly chosen among all of them."""

NOTHING = Sharpness()


def describe_version(
    release: PublishedVersion, native: Native, limits: Limits, clock_s: Callable[[], float]
) -> DescriptionBody:
    """The description of a version, with where it is sharp if there is time to find that."""
    with within(clock_s, limits.timeout_s):
        try:
            sharpness = find_sharpness(release, limits)
        except NotPermitted as refusal:
            if refusal.code != over_the_limit().code:
                raise
            sharpness = NOTHING
    return make_description(release.catalog, native, limits, sharpness)


def make_description(
    catalog: Catalog, native: Native, limits: Limits, sharpness: Sharpness = NOTHING
) -> DescriptionBody:
    """All a researcher may know before asking: schema, public domains and values, the policy in words, examples."""
    body: DescriptionBody = {
        **make_summary(catalog),  # type: ignore[typeddict-item]
        "unit": catalog.unit,
        "modes": list(catalog.modes),
        "columns": [_column(column, sharpness, tells_nulls=not catalog.noisy_only) for column in catalog.columns],
        "tables": [_table(reference, catalog) for reference in catalog.references],
        "policy": explain_policy(catalog),
        "examples": make_examples(catalog, native, limits, sharpness),
    }
    if sharpness.together:
        body["together"] = [{"columns": list(one.columns), "decided": one.decided} for one in sharpness.together]
    if catalog.margins:
        body["views"], body["linked"] = (list(map(list, names)) for names in (catalog.views, catalog.linked))
    return body


def explain_policy(catalog: Catalog) -> list[str]:
    """The promises of the policy, a sentence each."""
    return [*_told_of_rows(catalog), *_told_of_columns(catalog), *_told_of_answers(catalog), *_told_of_noise(catalog)]


def _told_of_rows(catalog: Catalog) -> list[str]:
    """What a row is, and who shares it."""
    quasi = _names(catalog, "quasi-identifier")
    said = []
    if catalog.unit:
        said.append(f"One row is one {catalog.unit}.")
    if catalog.person:
        said.append(f"No two rows share the same {catalog.person}; it is not published, but it can be counted.")
    if catalog.persons and not catalog.noisy_only:
        said.append(
            f"The {catalog.rows:,} rows belong to {catalog.persons:,} people; k counts people, ranges count rows."
        )
    if catalog.margins:
        said += _told_of_views(catalog)
    elif quasi:
        others = (
            f"the records of at least {catalog.k - 1:,} other people"
            if catalog.persons
            else (f"at least {catalog.k - 1:,} others")
        )
        said.append(f"Each record shares its published {quasi} with {others} (k = {catalog.k}).")
    if catalog.tight:
        said.append("The edges of the classes are values that occur in the data.")
    return said


def _told_of_columns(catalog: Catalog) -> list[str]:
    """What is published of each role."""
    sensitive, public = _names(catalog, "sensitive"), _names(catalog, "public")
    codes = ", ".join(column.name for column in catalog.columns if column.is_codes and not column.groups)
    said = []
    if sensitive:
        said.append(f"Sensitive; published within each class, never next to a person: {sensitive}.")
    said += _told_of_moments(catalog)
    if codes:
        said.append(f"Sets of codes, published as groups: each record has at least one code of its groups: {codes}.")
    for column in catalog.columns:
        if column.groups:
            flags = ", ".join(name for name, _ in column.groups)
            said.append(
                f"Sets of codes, of which some groups are published, each as a column: {column.name} ({flags})."
            )
    if public:
        said.append(f"Not protected; published unchanged: {public}.")
    if catalog.in_extracts:
        apart = ", ".join(catalog.in_extracts)
        said.append(f"Text that queries cannot reach; only approved extracts contain it: {apart}.")
    said += [
        f"Rare values of {column.name} are combined as '{column.rare}'." for column in catalog.columns if column.rare
    ]
    said += [
        f"Values in order: {' < '.join(column.order)} ({column.name})." for column in catalog.columns if column.order
    ]
    if catalog.references:
        said.append(f"Public tables that can be joined: {', '.join(table.name for table in catalog.references)}.")
    return said


def _told_of_answers(catalog: Catalog) -> list[str]:
    """What is not shown, and what every answer keeps."""
    said = []
    if catalog.min_group:
        said.append(f"Groups that cannot contain {catalog.min_group:,} records are not shown.")
    if catalog.on_differencing != "alert":
        done = "are refused" if catalog.on_differencing == "refuse" else "are answered with a warning"
        said.append(
            f"Queries that, combined with earlier ones, could single out fewer than {catalog.k:,} people {done}."
        )
    said.append("Columns that are not listed are withheld.")
    if "interval" in catalog.modes:
        said.append("Every number is answered with a range that contains the true value; nothing is random.")
    return said


def _told_of_noise(catalog: Catalog) -> list[str]:
    noise = catalog.noise
    if noise is None:
        return []
    how = "Or with noise (mode laplace)" if "interval" in catalog.modes else "Numbers are answered with noise"
    said = [
        f"{how}: a statement costs at least epsilon {noise.epsilon_least:g} and at most {noise.epsilon_per_query:g}, "
        f"out of {noise.epsilon_per_user:g} for each user and {noise.epsilon_total:g} for all users."
    ]
    if noise.person and (catalog.persons or catalog.noisy_only):
        said.append(f"Noisy numbers count at most {counted(noise.rows_per_person, 'row')} of each person.")
    return said


def _told_of_views(catalog: Catalog) -> list[str]:
    """What views promise, and which sensitive columns can be asked about together."""
    views, linked = ("; ".join(", ".join(names) for names in each) for each in (catalog.views, catalog.linked))
    said = [
        f"Published as {counted(len(catalog.views), 'view')} ({views}). By the columns that "
        f"could identify people, nothing can be worked out about fewer than {catalog.k:,} of them (k = {catalog.k}); a "
        "sensitive value may be counted for fewer.",
        "Each aggregate can use one sensitive column, including its groups and conditions; several statistics in one "
        "statement can use different ones.",
    ]
    said += [f"Sensitive columns that can be used together: {linked}."] if linked else []
    return said


def _told_of_moments(catalog: Catalog) -> list[str]:
    """What is published of sensitive numbers beyond intervals."""
    if catalog.margins:
        names = ", ".join(column.name for column in catalog.columns if column.moments != "none")
        return [f"Sums of classes are published, rounded to public cells: {names}."] if names else []
    said = []
    for kind, how in (("rounded", "rounded to public cells"), ("exact", "unchanged")):
        names = ", ".join(column.name for column in catalog.columns if column.moments == kind)
        if names:
            said.append(f"Sums and variances of classes are published, {how}, which makes means sharper: {names}.")
    return said


def make_examples(catalog: Catalog, native: Native, limits: Limits, sharpness: Sharpness = NOTHING) -> list[str]:
    """Statements to begin with. Only what the gate accepts, in the mode that a dataset answers in, is shown, and what
    follows the cuts of the data where it has any."""
    return [sql for sql in _candidates(catalog, sharpness) if _is_accepted(sql, catalog, native, limits)]


def _candidates(catalog: Catalog, sharpness: Sharpness) -> Iterator[str]:
    measured = [c for c in catalog.columns if c.type in ("integer", "number")]
    measured.sort(key=lambda column: column.role != "sensitive")
    numbers = [c for c in catalog.columns if c.is_numeric and c.role == "quasi-identifier"]
    numbers.sort(key=lambda column: len(sharpness.cuts.get(column.name, ())) < 3)
    categories = [c for c in catalog.columns if c.type in ("category", "boolean")]
    categories.sort(key=lambda column: -round(sharpness.decided.get(column.name, 1.0), 1))
    if catalog.margins:  # a sensitive category cannot be beside a sensitive number
        categories.sort(key=lambda column: column.role == "sensitive")
    codes = [c for c in catalog.columns if c.is_codes and c.values]
    yield _select(catalog, "COUNT(*)")
    asked = "COUNT(*)"
    if measured:
        name = name_text(measured[0].name)
        asked = f"COUNT(*), AVG({name})"
        yield _select(catalog, f"AVG({name})" if catalog.noisy_only else f"AVG({name}), MIN({name}), MAX({name})")
    if categories:
        name = name_text(categories[0].name)
        yield _select(catalog, f"{name}, {asked}", "GROUP BY", name)
    if numbers:
        yield _select(catalog, asked, "WHERE", _middle(numbers[0], sharpness.cuts.get(numbers[0].name, ())))
    if categories and categories[0].values:
        exact = sharpness.values.get(categories[0].name) or categories[0].values
        value = exact[0].replace("'", "''")
        yield _select(catalog, asked, "WHERE", name_text(categories[0].name), f"= '{value}'")
    if codes and codes[0].groups:
        yield _select(catalog, "COUNT(*)", "WHERE", name_text(codes[0].groups[0][0]))
    elif codes:
        value = codes[0].values[0].replace("'", "''")
        yield _select(catalog, asked, "WHERE", f"has_code({name_text(codes[0].name)}, '{value}')")
    for table in catalog.references:
        on = joined_on(table, catalog)
        if on and table.columns:
            name = f"{name_text(table.name)}.{name_text(table.columns[0][0])}"
            joined = f"{name_text(catalog.dataset)}.{name_text(on[0])} = {name_text(table.name)}.{name_text(table.key)}"
            yield _select(catalog, f"{name}, COUNT(*)", "JOIN", name_text(table.name), "ON", joined, "GROUP BY", name)


def joined_on(table: Reference, catalog: Catalog) -> list[str]:
    """Categories that have a key of the table among their values, the one with most of them first."""
    keys = frozenset(table.keys)
    shared = {c.name: len(keys.intersection(c.values)) for c in catalog.columns if c.type == "category"}
    return sorted((name for name, number in shared.items() if number), key=lambda name: -shared[name])


def _select(catalog: Catalog, asked: str, *rest: str) -> str:
    return " ".join(["SELECT", asked, "FROM", name_text(catalog.dataset), *rest])


def _middle(column: Column, cuts: Sequence[int | float]) -> str:
    """A condition on the middle half of a public domain, about: it follows cuts where there are any."""
    low, high = column.low or 0, column.high or 0
    quarter = (high - low) / 4
    first, last = (min(cuts, key=lambda cut: abs(cut - end), default=end) for end in (low + quarter, high - quarter))
    aligned = bool(cuts) and first < last
    if not aligned:
        first, last = low + quarter, high - quarter
    name, whole = name_text(column.name), column.is_discrete
    ends = [round(first), round(last) - aligned] if whole else [first, last]
    texts = [value_text(end, column.type) for end in ends]
    if column.type in ("date", "timestamp"):
        texts = [f"{column.type.upper()} '{text}'" for text in texts]
    if aligned and not whole:
        return f"{name} >= {texts[0]} AND {name} < {texts[1]}"
    return f"{name} BETWEEN {texts[0]} AND {texts[1]}"


def _is_accepted(sql: str, catalog: Catalog, native: Native, limits: Limits) -> bool:
    try:
        (understand_noisy if catalog.noisy_only else understand)(sql, catalog, native, limits)
    except Refusal:
        return False
    return True


def _column(column: Column, sharpness: Sharpness, *, tells_nulls: bool) -> PublishedColumnBody:
    body: PublishedColumnBody = {
        "name": column.name,
        "title": column.title,
        "role": column.role,
        "type": column.type,
        "nullable": column.nullable if tells_nulls else None,
    }
    if column.is_numeric:
        ends = [column.low, column.high]
        domain = [_public_end(column, end) for end in ends if end is not None]
        body = {**body, "domain": domain or None}
        if column.cuts:
            body["policy_cuts"] = [_public_end(column, cut) for cut in column.cuts]
        cuts = sharpness.cuts.get(column.name)
        if cuts is not None:
            body["cuts"] = [_public_end(column, cut) for cut in _thinned(cuts)]
        return body
    if column.groups:
        body["groups"] = {name: list(codes) for name, codes in column.groups}
    body = {**body, "values": list(column.values)}
    if column.name in sharpness.decided:
        body["exact_values"] = list(sharpness.values[column.name])
        body["decided"] = sharpness.decided[column.name]
    return body


def _public_end(column: Column, value: int | float) -> int | float | str:
    return value_text(value, column.type) if column.type in ("date", "timestamp") else value


def _thinned(cuts: Sequence[int | float]) -> list[int | float]:
    step = max(1, math.ceil(len(cuts) / MOST_CUTS))
    return list(cuts[::step])


def _table(table: Reference, catalog: Catalog) -> ReferenceBody:
    return {
        "name": table.name,
        "key": table.key,
        "rows": len(table.keys),
        "columns": [{"name": name, "type": table.type_of(name)} for name, _ in table.columns],
        "on": joined_on(table, catalog),
        "hash": table.hash,
    }


def _names(catalog: Catalog, role: str) -> str:
    return ", ".join(column.name for column in catalog.columns if column.role == role)
