"""The custodian's root for a policy over the OMOP common data model: surveys its tables, derives one record per person
in a temporary vault, and proposes a policy for these records.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.vault_ports import JoinedTable, Source
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.draft_steps import DraftedPolicy
from querygate.custody.policy.drafts.omop_columns import TABLES, as_tables, omop_columns
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.use_cases.known_columns import Columns
from querygate.custody.use_cases.policy_draft import tried_draft
from querygate_adapters.sources.event_counts import count_people
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.staging_tables import DuckDBStagingTables

KEY = "person_id"
PARTS_OF_BIRTH = ("year_of_birth", "month_of_birth", "day_of_birth")
MOSTLY = 0.9
"""If at least this share of people have a date of birth, ages are derived from it."""


def draft_omop(source: str, folder: Path) -> DraftedPolicy:
    """A proposed policy; files are named relative to `folder`, where the policy will be."""
    places = {table: place for table in TABLES if (place := _place(source, table))}
    if "person" not in places:
        raise ConfigError(
            "QG802",
            "There is no table `person` in this source.",
            "Name a folder of .csv or .parquet files called as the tables of OMOP are, duckdb:FILE, or "
            "postgresql://user@host/database#schema.",
        )
    tables = {table: open_source(place) for table, place in places.items()}
    for table, opened in tables.items():
        if KEY not in opened.columns():
            raise ConfigError(
                "QG802",
                f"The table {table} has no column {KEY}.",
                "Name the tables of an OMOP common data model, with its columns in lower case.",
            )
    columns = omop_columns(tables, count_people)
    joined = tuple(
        JoinedTable(
            table,
            tables[table],
            ((KEY, KEY),),
            {one.column.name: one.type for one in columns if one.table == table},
            derived=tuple(one.column for one in columns if one.table == table),
            time=TABLES[table],
        )
        for table in dict.fromkeys(one.table for one in columns)
    )
    own = [KEY, *_births(tables["person"])]
    with tempfile.TemporaryDirectory() as staged:
        rows = Path(staged) / "rows.duckdb"
        with closing(DuckDBStagingTables(rows)) as staging:
            staging.load(tables["person"], dict.fromkeys(own, "category"), joined)
        made: Source = open_source(f"duckdb:{rows}#rows")
        drafted = tried_draft(Columns(made, [*own, *(one.column.name for one in columns)]), _title(source))
    seen = {table: _seen_from(folder, place) for table, place in places.items()}
    text = drafted.text.rstrip("\n") + "\n\n" + write_toml(as_tables(columns, seen)).lstrip("\n")
    parse_policy(text, "the proposed policy", folder)
    return replace(drafted, text=text)


def _births(person: Source) -> list[str]:
    """The date of birth where the table has it, and its parts otherwise. Other columns of a person are not named in the
    policy, so nobody reads them.
    """
    if "birth_datetime" in person.columns():
        counted = count_people(person, KEY, ("birth_datetime",))
        missing = sum(people for (born,), people in counted if not born)
        if missing <= (1 - MOSTLY) * sum(people for _, people in counted):
            return ["birth_datetime"]
    return [name for name in PARTS_OF_BIRTH if name in person.columns()]


def _place(source: str, table: str) -> str:
    """The source of a table of the data model; empty if there is none."""
    folder = Path(source)
    if folder.is_dir():
        found = sorted(
            path for path in folder.iterdir() if re.fullmatch(rf"(?i){table}\.(csv|tsv|parquet)(\.gz)?", path.name)
        )
        return str(found[0]) if found else ""
    if ":" not in source:
        return ""
    kind, _, schema = source.partition("#")
    for name in (table, table.upper()):
        place = f"{kind}#{schema}.{name}" if schema else f"{kind}#{name}"
        try:
            open_source(place)
        except ConfigError:
            if table == "person" and name != table:
                raise
            continue
        return place
    return ""


def _title(source: str) -> str:
    return Path(source.partition("#")[0]).resolve().name if "://" not in source else "omop"


def _seen_from(folder: Path, place: str) -> str:
    """A file as a policy in the folder would name it; anything else unchanged."""
    path = Path(place)
    return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix() if path.is_file() else place
