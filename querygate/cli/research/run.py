"""The command that runs a file of queries: run."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from querygate.cli.research.query_file import NamedQuery, read_queries
from querygate.cli.research.run_manifest import (
    MANIFEST,
    RunManifest,
    RunQuery,
    compare_runs,
    figures_hash,
    read_manifest,
)
from querygate.cli.shared.asked_gate import AskedGate, asked_gate
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_table, progress
from querygate.cli.shared.shared_options import new_folder, site_option
from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import Refusal
from querygate.core.types import QueryOptions
from querygate.gate.query_state import MODES
from querygate.gate.render import to_csv, to_json

EXAMPLE = """\
querygate run figures.sql --dataset survey --out figures
querygate run figures.sql --dataset survey --out figures --check"""


@click.command(cls=Command, example=EXAMPLE, elsewhere=True)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="New folder for answers.")
@click.option("--dataset", metavar="NAME", help="Dataset of queries that name none.")
@click.option("--mode", type=click.Choice(MODES), help="Ranges, or numbers with noise.")
@click.option(
    "--as", "name", metavar="USER", help="Ask as this user of the site.  [default: the person at the console]"
)
@click.option("--check", is_flag=True, help="Ask again and compare with the folder, which stays as it is.")
@site_option
def run(
    file: Path, out: Path, dataset: str | None, mode: str | None, name: str | None, check: bool, site: Path
) -> None:
    """Run the queries of FILE and keep each answer as JSON and CSV, with a manifest: answer ids, version, policy, time
    and software.

    Put a line `-- name: NAME` above each query, and `-- dataset: NAME` below that if it is not the dataset of
    --dataset. With --check the queries are run again and the guaranteed figures compared; the exit code is 1 if any
    differs.
    """
    data = file.read_bytes()
    try:
        queries = read_queries(data.decode(), dataset)
    except UnicodeDecodeError:
        raise click.BadParameter("The file is not UTF-8.", param_hint="FILE") from None
    if check:
        before = read_manifest(_read(out / MANIFEST))
        gate = asked_gate(site, name, noisy=True)
        now = [query for query, _ in _answers(gate, queries, mode)]
        lines = compare_runs(before.queries, now)
        print_table(["query", "figures"], [[query, verdict] for query, verdict in lines])
        click.get_current_context().exit(0 if all(verdict == "same" for _, verdict in lines) else 1)
    gate = asked_gate(site, name, noisy=True)
    began = _now()
    with new_folder(out) as folder:
        done = [_kept(folder, query, body) for query, body in _answers(gate, queries, mode)]
        digest = hashlib.sha256(data).hexdigest()
        made = RunManifest(1, _software(), gate.place, began, _now(), file.name, digest, tuple(done))
        (folder / MANIFEST).write_text(made.text(), encoding="utf-8")
    print_table(["query", "outcome", "answer"], [[one.name, _told(one), one.answer or ""] for one in done])
    click.get_current_context().exit(0 if all(one.outcome == "answered" for one in done) else 1)


def _answers(gate: AskedGate, queries: list[NamedQuery], mode: str | None) -> list[tuple[RunQuery, AnswerBody | None]]:
    """Every query is asked, whatever becomes of the others."""
    found: list[tuple[RunQuery, AnswerBody | None]] = []
    with progress(elsewhere=False) as tell:
        for number, query in enumerate(queries):
            tell(query.name, number / len(queries))
            asked = RunQuery(query.name, query.dataset, query.sql, "answered")
            try:
                given = gate.ask(query.dataset, query.sql, QueryOptions(mode))
            except Refusal as refusal:
                found.append((replace(asked, outcome="refused", code=refusal.code), None))
                continue
            body = given.body
            about = replace(asked, answer=body["query_id"], version=body["version"], mode=body["mode"])
            found.append((replace(about, policy_hash=given.policy_hash, figures=figures_hash(body)), body))
    return found


def _kept(folder: Path, query: RunQuery, body: AnswerBody | None) -> RunQuery:
    """The answer as files, with their hashes."""
    if body is None:
        return query
    files = {f"{query.name}.json": to_json(body), f"{query.name}.csv": to_csv(body)}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return replace(query, files={name: hashlib.sha256(data).hexdigest() for name, data in files.items()})


def _told(query: RunQuery) -> str:
    return query.outcome + (f" {query.code}" if query.code else "")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise click.BadParameter("There is no record of a run in this folder.", param_hint="--out") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _software() -> str:
    return f"QueryGate {version('querygate')}"
