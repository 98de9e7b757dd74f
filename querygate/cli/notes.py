"""Commands about notes: train a tagger that finds identifiers beside the rules, and measure what it adds."""

from __future__ import annotations

import random
from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_record, progress
from querygate.cli.shared.shared_options import check_new, format_option, new_file
from querygate.core.count_text import counted
from querygate.custody.note_tagger.labelled_notes import read_labelled
from querygate.custody.note_tagger.tagger_recall import TaggerRecall, measure_recall
from querygate.custody.note_tagger.trained_tagger import TrainedTagger, train
from querygate.methods.notes.tagger import generated_notes

_labelled = click.option("--notes", "labelled", type=click.Path(path_type=Path, dir_okay=False),
                         help="Notes with marked identifiers: lines of JSON.")  # fmt: skip


@click.group()
def notes() -> None:
    """Train a tagger that finds identifiers in notes beside the rules, and measure it."""


@notes.command(
    "train",
    cls=Command,
    example="querygate notes train --out notes.tagger\nquerygate notes train --notes labelled.jsonl --out notes.tagger",
)
@_labelled
@click.option("--generated", type=click.IntRange(0, 100_000), default=2000, show_default=True,
              help="Made-up notes to learn from as well.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="New file to write.")
def train_tagger(labelled: Path | None, generated: int, out: Path) -> None:
    """Train a tagger on made-up notes, and on notes of your own in which identifiers are marked.

    A line of --notes is {"text": "Saw Jane Doe.", "spans": [{"start": 4, "end": 12, "kind": "name"}]}; kinds are those
    of the policy's `kind`. The file holds ordinary words, shapes and endings of words, no name. Name it in the policy
    as `tagger` of a note column. Keep some labelled notes for `querygate notes measure`.
    """
    check_new(out)
    own = read_labelled(labelled) if labelled is not None else []
    with progress() as tell:
        content = train([*own, *generated_notes(generated, random.Random(1))], tell)  # noqa: S311
    with new_file(out) as file:
        file.write(content)
    beside = f"{counted(len(own), 'note')} of yours and " if own else ""
    click.echo(f"Learned from {beside}{counted(generated, 'made-up note')}. Wrote {out}.")


@notes.command("measure", cls=Command, example="querygate notes measure --tagger notes.tagger --notes held-out.jsonl")
@click.option("--tagger", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The tagger's file.")
@_labelled
@format_option
def measure(tagger: Path, labelled: Path | None, form: str) -> None:
    """Measure how many marked identifiers the rules, the tagger and both remove.

    An identifier counts as removed if none of its letters and digits is left. Both together are what protects. Use
    notes that the tagger was not trained on.
    """
    if labelled is None:
        raise click.UsageError("Missing option '--notes'.")
    found = measure_recall(read_labelled(labelled), TrainedTagger.read(tagger))
    print_record(asdict(found), form, lambda: _table(found))


def _table(found: TaggerRecall) -> str:
    rows = [f"{'kind':10}{'marked':>8}{'rules':>10}{'tagger':>10}{'both':>10}"]
    for kind in found.kinds:
        shares = "".join(f"{100 * count / kind.marked:8.1f} %" for count in (kind.rules, kind.learned, kind.both))
        rows.append(f"{kind.kind.lower():10}{kind.marked:8,}{shares}")
    vain = f"Removed though not marked: {found.vain_rules:,} by the rules, {found.vain_both:,} by both."
    return "\n".join((f"{counted(found.notes, 'note')}. Removed to the last letter:", *rows, vain))
