"""The custodian's root for a policy over a clinical data model: surveys its tables, derives one record per person in a
temporary vault, and proposes a policy for these records.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import JoinedTable, Source
from querygate.custody.policy import parse_policy
from querygate.custody.policy.column_rules import PROTECTED
from querygate.custody.policy.drafts.clinical_columns import as_tables, clinical_columns
from querygate.custody.policy.drafts.clinical_models import ClinicalModel
from querygate.custody.policy.drafts.draft_steps import DraftedPolicy
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.use_cases.known_columns import Columns
from querygate.custody.use_cases.policy_draft import tried_draft
from querygate_adapters.sources.event_counts import count_people
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.staging_tables import DuckDBStagingTables

MOSTLY = 0.9
"""If at least this share of people have a date of birth, ages are derived from it."""


def draft_clinical(model: ClinicalModel, source: str, folder: Path) -> DraftedPolicy:
    """A proposed policy; files are named relative to `folder`, where the policy will be."""
    _check_folder(model, source)
    places = {table: place for table in model.tables if (place := _place(model, source, table))}
    tables = _with_people(model, {table: open_source(place) for table, place in places.items()})
    model = _as_found(model, tables)
    columns = clinical_columns(model, tables, count_people)
    joined = tuple(
        JoinedTable(
            table,
            tables[table],
            ((model.tables[table].person, model.key),),
            {one.column.name: one.type for one in columns if one.table == table},
            derived=tuple(one.column for one in columns if one.table == table),
            time=model.tables[table].time,
        )
        for table in dict.fromkeys(one.table for one in columns)
    )
    own = [model.key, *_births(model, tables[model.persons])]
    with tempfile.TemporaryDirectory() as staged:
        rows = Path(staged) / "rows.duckdb"
        with closing(DuckDBStagingTables(rows)) as staging:
            staging.load(tables[model.persons], dict.fromkeys(own, "category"), joined)
        made: Source = open_source(f"duckdb:{rows}#rows")
        drafted = tried_draft(Columns(made, [*own, *(one.column.name for one in columns)]), _title(model, source))
    if not any(column.role in PROTECTED for column in drafted.columns):
        raise _too_little(model, tables)
    seen = {table: _seen_from(model, folder, place) for table, place in places.items()}
    text = drafted.text.rstrip("\n") + "\n\n" + write_toml(as_tables(model, columns, seen)).lstrip("\n")
    parse_policy(text, "the proposed policy", folder)
    return replace(drafted, text=text)


def _check_folder(model: ClinicalModel, source: str) -> None:
    """A source that is neither a database nor a folder has no tables: say which of the two mistakes it is."""
    path = Path(source)
    if ":" in source or path.is_dir():
        return
    what = f"{source} is one file" if path.exists() else f"There is no folder {source}"
    raise ConfigError("QG802", f"{what}.", _accepted(model))


def _accepted(model: ClinicalModel) -> str:
    """What a source has to be called, and its tables and columns."""
    first, *others = (table.file or name for name, table in model.tables.items())
    named = f"{first}, and of these any that you have: {', '.join(others)}"
    if model.kind:
        return f"Name a folder with {named}. Each may be a folder of .parquet files."
    return (
        "Name a folder of .csv or .parquet files, duckdb:FILE, or postgresql://user@host/database#schema. It needs the "
        f"table {named}. Their columns have the names that {model.name} gives them, in lower case."
    )


def _too_little(model: ClinicalModel, tables: Mapping[str, Source]) -> ConfigError:
    """Nobody can be hidden among others where nothing is known of them: say what is missing."""
    there = tables[model.persons].columns()
    births = () if model.birth in there or set(model.parts_of_birth) & set(there) else (model.birth,)
    columns = [name for name in (*model.categories.values(), *births) if name not in there]
    absent = [table.file or name for name, table in model.tables.items() if name not in tables]
    missing = [f"Columns that the table {model.persons} does not have: {', '.join(columns)}."] if columns else []
    missing += [f"Tables that are missing or empty: {', '.join(absent)}."] if absent else []
    return ConfigError(
        "QG802",
        " ".join(["No column can be a quasi-identifier, such as age or sex, so no policy can be proposed.", *missing]),
        "Add what is missing to the source. A column with no value, or the same for everybody, is of no use.",
    )


def _with_people(model: ClinicalModel, tables: Mapping[str, Source]) -> dict[str, Source]:
    """The tables with events of anybody: hospitals keep empty tables for what they do not record."""
    if model.persons not in tables:
        file = model.tables[model.persons].file
        what = f"file {file} in this folder" if file else f"table `{model.persons}` in this source"
        raise ConfigError("QG802", f"There is no {what}.", _accepted(model))
    for table, opened in tables.items():
        if (key := model.tables[table].person) not in opened.columns():
            raise ConfigError("QG802", f"The table {table} has no column {key}.", _accepted(model))
    found = {
        table: opened
        for table, opened in tables.items()
        if any(people for _, people in count_people(opened, model.tables[table].person, ()))
    }
    if model.persons not in found:
        raise ConfigError(
            "QG802", f"The table {model.persons} names no persons.", "Name a source with data of several people."
        )
    return found


def _as_found(model: ClinicalModel, tables: Mapping[str, Source]) -> ClinicalModel:
    """The model without the times that a table does not have."""
    timed = {
        name: table if name not in tables or table.time in tables[name].columns() else replace(table, time="")
        for name, table in model.tables.items()
    }
    return replace(model, tables=timed)


def _births(model: ClinicalModel, persons: Source) -> list[str]:
    """The date of birth where the table has it, and its parts otherwise. Other columns of a person are not named in the
    policy, so nobody reads them.
    """
    if model.birth in persons.columns():
        counted = count_people(persons, model.key, (model.birth,))
        missing = sum(people for (born,), people in counted if not born)
        if missing <= (1 - MOSTLY) * sum(people for _, people in counted):
            return [model.birth]
    return [name for name in model.parts_of_birth if name in persons.columns()]


def _place(model: ClinicalModel, source: str, table: str) -> str:
    """The source of a table of the data model; empty if there is none."""
    folder = Path(source)
    if folder.is_dir():
        endings = r"(\.parquet)?" if model.kind else r"\.(csv|tsv|parquet)(\.gz)?"
        found = sorted(path for path in folder.iterdir() if re.fullmatch(f"(?i){table}{endings}", path.name))
        return (f"{model.kind}:{found[0]}" if model.kind else str(found[0])) if found else ""
    if ":" not in source:
        return ""
    kind, _, schema = source.partition("#")
    for name in (table, table.upper()):
        place = f"{kind}#{schema}.{name}" if schema else f"{kind}#{name}"
        try:
            open_source(place)
        except ConfigError:
            if table == model.persons and name != table:
                raise
            continue
        return place
    return ""


def _title(model: ClinicalModel, source: str) -> str:
    return Path(source.partition("#")[0]).resolve().name if "://" not in source else model.name.lower()


def _seen_from(model: ClinicalModel, folder: Path, place: str) -> str:
    """A file as a policy in the folder would name it; anything else unchanged."""
    kind = f"{model.kind}:" if model.kind else ""
    path = Path(place.removeprefix(kind))
    return kind + Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix() if path.exists() else place
