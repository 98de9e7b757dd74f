"""risk: the risk report, of a source at a custodian's desk or of a published dataset."""

from __future__ import annotations

from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_record, progress
from querygate.cli.shared.shared_options import check_new, format_option, new_folder, open_here, site_option
from querygate.core.json_body import to_json
from querygate.core.progress import Progress
from querygate.custody.policy import load_policy
from querygate.custody.risk_report.risk_body import RiskReport
from querygate.custody.risk_report.risk_files import make_files
from querygate.custody.risk_report.sides import DiseaseScope
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_dataset, assess_source
from querygate_adapters.sources.open_source import open_source

HEADINGS = {
    "prosecutor": "Found by somebody who knows they are in the data (prosecutor)",
    "journalist": "Found by somebody with a register of the population (journalist, k-map)",
    "marketer": "Everybody matched with the register, or within the classes (marketer)",
    "alone": "Alone in their combination of values (uniqueness)",
    "instance": "Being in the file, where that itself is the disclosure (instance risk)",
    "known": "Found by somebody who knows all codes, the sequence or the note as well",
    "told": "What a class reveals without anybody being found (homogeneity)",
}


@click.command(
    cls=Command,
    example="querygate risk --source trial.csv --policy trial.toml --population voters.csv --out report\n"
    "querygate risk --source trial.csv --policy trial.toml --released extract --out report\n"
    "querygate risk --dataset patients",
)
@click.option("--source", metavar="SOURCE", help="A file, or any source that `querygate publish` accepts.")
@click.option("--policy", "policy_file", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="Policy file (TOML).")  # fmt: skip
@click.option("--dataset", metavar="NAME", help="A published dataset of the site, instead of a source and a policy.")
@click.option("--population", metavar="SOURCE", help="A register of people, with columns named as in the policy.")
@click.option("--count", metavar="COLUMN", help="Column of the register that says how many people a row stands for.")
@click.option("--released", type=click.Path(path_type=Path, exists=True),
              help="The release made from it: a .csv or .parquet file, or the folder of an extract.")  # fmt: skip
@click.option("--disease", metavar="COLUMN=VALUE", help="Being listed with this value is the disclosure.")
@click.option("--same-disease", is_flag=True, help="Being listed at all is the disclosure.")
@click.option("--out", type=click.Path(path_type=Path), help="A new folder.")
@format_option
@site_option
def risk(
    source: str | None,
    policy_file: Path | None,
    dataset: str | None,
    out: Path | None,
    form: str,
    site: Path,
    population: str | None,
    count: str | None,
    released: Path | None,
    disease: str | None,
    same_disease: bool,
) -> None:
    """Measure the risk of raw records, of a limited data set, of Safe Harbor on the same records, and of the release.

    The release is what --released names; for a dataset, the served version; for a source, what its policy would
    produce. The report contains only aggregates. The report on a dataset is kept at the site, where custodians can read
    it over HTTP.
    """
    if dataset is not None and (source is not None or policy_file is not None):
        raise click.UsageError(
            "A dataset already has a source and a policy: name either the dataset, or a source and a policy."
        )
    check_new(out)
    wanted = _asked(population, count, released, disease, same_disease)
    with progress() as tell:
        if dataset is not None:
            report = _of_dataset(dataset, wanted, site, tell)
        elif source is not None and policy_file is not None:
            report = _of_source(source, policy_file, wanted, tell)
        else:
            raise click.UsageError("Name a source and its policy, or a dataset of the site.")
    print_risk(report, out, form)


def print_risk(report: RiskReport, out: Path | None, form: str) -> None:
    """The report on the terminal, and as files in a new folder where one is named."""
    if out is not None:
        with new_folder(out) as folder:
            for name, content in make_files(report).items():
                (folder / name).write_bytes(content)
    print_record(to_json(report), form, lambda: explain_risk(report, out))


def _of_dataset(dataset: str, asked: RiskOptions, site: Path, tell: Progress) -> RiskReport:
    return assess_dataset(open_here(site), dataset, asked, user=acting().name, progress=tell)


def _of_source(source: str, policy_file: Path, asked: RiskOptions, tell: Progress) -> RiskReport:
    policy = load_policy(policy_file)
    return assess_source(policy, open_source(source), asked, beside=policy_file.parent, progress=tell)


def _asked(
    population: str | None, count: str | None, released: Path | None, disease: str | None, same_disease: bool
) -> RiskOptions:
    if disease is not None and same_disease:
        raise click.UsageError(
            "Use --same-disease if everybody has the disease, or --disease for those with a value; not both."
        )
    column, equals, value = (disease or "").partition("=")
    if disease is not None and not (column and equals and value):
        raise click.BadParameter("Write it as COLUMN=VALUE.", param_hint="--disease")
    meant = DiseaseScope(column, value) if disease else DiseaseScope() if same_disease else None
    return RiskOptions(population or "", count or "", released, meant)


def explain_risk(report: RiskReport, out: Path | None) -> str:
    """The report for a terminal: in short, and the table."""
    lines = [*report.words, *(f"Note: {note}" for note in report.notes), ""]
    width = max(len(line.label) for line in report.verdict) + 4
    lines.append(f"{'':{width}}{'raw':>12}{'limited':>12}{'Safe Harbor':>14}{'after':>12}")
    for group, heading in HEADINGS.items():
        members = [line for line in report.verdict if line.group == group]
        lines += [heading] if members else []
        for line in members:
            raw, limited, harbor, after = (_figure(value, line.unit) for value in line.sides)
            lines.append(f"  {line.label:{width - 2}}{raw:>12}{limited:>12}{harbor:>14}{after:>12}")
    lines += ["", report.sides.raw.words.drivers]
    return "\n".join([*lines, *([f"See {out / 'report.html'}."] if out else [])])


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if unit == "count" else f"{100 * value:.2f} %"
