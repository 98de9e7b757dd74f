"""Commands about datasets: publish, datasets, versions, rollback, retire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from querygate.cli.report import tell_of_report
from querygate.cli.shared.actor import acting
from querygate.cli.shared.asked_gate import asked_gate
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_record, print_records, progress
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.control.log.entry_chain import LogEvent
from querygate.core.count_text import counted
from querygate.core.errors import NotPermitted
from querygate.core.json_body import to_json
from querygate.core.limits.interrupts import interrupts_say
from querygate.custody.code_lists.code_items import HIDING, CodeReport
from querygate.custody.policy import Policy
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.publish import Report
from querygate.custody.publish.republication_guard import OnOverlap, Republication, listed_versions
from querygate.custody.publish.view_summary import ViewFigures
from querygate.custody.use_cases.publish_version import retire_version, serve_version
from querygate.custody.use_cases.publish_with_report import Kind, publish_with_report
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import is_withdrawn, versions_in
from querygate_adapters.store.retired_versions import retired_in

reinstate_option = click.option("--reinstate", is_flag=True, help="Serve the dataset even if it was withdrawn.")


@click.command(cls=Command, example="querygate publish --policy patients.toml --source patients.csv")
@click.option("--policy", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Policy file (TOML).")
@click.option(
    "--source",
    required=True,
    metavar="SOURCE",
    help="A .csv, .tsv or .parquet file, duckdb:FILE#table, or postgresql://user@host/database#schema.table.",
)
@click.option(
    "--on-overlap",
    type=click.Choice(["refuse", "sticky", "extend", "retire"]),
    help="What to do if the version reveals too much combined with earlier ones.  [default: set in the policy]",
)
@click.option(
    "--vault",
    default="",
    metavar="spark:FOLDER",
    help="Publish a Spark source inside Spark, and keep its raw rows there, in this folder.",
)
@reinstate_option
@click.option(
    "--report",
    "kind",
    type=click.Choice(["none", "json", "full"]),
    default=None,
    help="The report on the version: none, figures only, or a page with charts. There is none with --vault.  "
    "[default: full]",
)
@format_option
@site_option
def publish(
    policy: Path,
    source: str,
    on_overlap: OnOverlap | None,
    vault: str,
    reinstate: bool,
    kind: Kind | None,
    form: str,
    site: Path,
) -> None:
    """Publish a table as the next version of its dataset.

    The verifier measures the written version, alone and combined with every earlier readable version, before it is
    served. If the publication fails, the previous version stays as it is. Once the new version is served, a report for
    the custodian is kept in the vault: see `querygate report`.
    """
    with interrupts_say("Interrupted: nothing was published."):
        opened = open_here(site)
        file = PolicyFile.read(policy)
    with progress() as tell:
        done = publish_with_report(
            opened,
            file.policy,
            source,
            user=acting().name,
            kind=kind,
            base_dir=file.folder,
            progress=tell,
            on_overlap=on_overlap,
            reinstate=reinstate,
            tables=file.raw,
            vault=vault,
        )
    record = {**asdict(done.published), "report": str(done.file) if done.file else None}
    print_record(record, form, lambda: explain_report(done.published, of_people=_counts_people(file.policy)))
    tell_of_report(done)
    remind_of_copy(opened)


@click.command(cls=Command, example="querygate datasets", elsewhere=True)
@format_option
@site_option
def datasets(form: str, site: Path) -> None:
    """List the datasets being served; with a key, those that its owner may query or manage."""
    found = asked_gate(site).datasets()
    columns = ("dataset", "version", "rows", "k", "published", "title")
    print_records(found, form, columns=columns, empty="No dataset is published yet.")


@click.command(cls=Command, example="querygate versions patients")
@click.argument("dataset")
@format_option
@site_option
def versions(dataset: str, form: str, site: Path) -> None:
    """List the versions of DATASET: the served one, those that could be served (readable, or withdrawn with the whole
    dataset), the retired ones, and those whose file is lost.

    `answers` counts the answers given from each version. The people who asked still know them, whatever happens to the
    version.
    """
    opened = open_here(site)
    found = [to_json(line) for line in make_versions(opened, dataset)]
    print_records(found, form, columns=("version", "state", "published", "rows", "k_measured", "answers", "user"))


@click.command(cls=Command, example="querygate rollback patients 2")
@click.argument("dataset")
@click.argument("version", type=click.IntRange(1))
@reinstate_option
@format_option
@site_option
def rollback(dataset: str, version: int, reinstate: bool, form: str, site: Path) -> None:
    """Serve another VERSION of DATASET from now on, earlier or later.

    All readable versions were checked against each other when they were published, so this reveals nothing new. A
    retired version is never served again.
    """
    opened = open_here(site)
    was_withdrawn = is_withdrawn(opened.site.store / dataset)
    before = serve_version(opened, dataset, version, user=acting().name, reinstate=reinstate)
    done = {"dataset": dataset, "from": before, "to": version}
    was = before or ("withdrawn" if was_withdrawn else "none")
    print_record(done, form, lambda: f"{dataset}: version {version} is served now (before: {was}).")
    remind_of_copy(opened)


@click.command(cls=Command, example="querygate retire patients 1")
@click.argument("dataset")
@click.argument("version", type=click.IntRange(1))
@format_option
@site_option
def retire(dataset: str, version: int, form: str, site: Path) -> None:
    """Never serve VERSION of DATASET again: remove its file from the store. Later versions are no longer checked
    against it.

    The people who asked still know the answers given from it. You cannot retire the served version: a publication with
    --on-overlap retire replaces it and retires it in one step, and `querygate withdraw` serves no version at all. The
    raw rows stay in the vault until `querygate vault erase`.
    """
    opened = open_here(site)
    retire_version(opened, dataset, version, user=acting().name)
    print_record({"dataset": dataset, "retired": version}, form, lambda: f"{dataset}: version {version} is retired.")
    remind_of_copy(opened)


def remind_of_copy(opened: OpenSite) -> None:
    """A site whose gate reads from a server keeps its versions in its folder all the same."""
    if opened.site.settings["store"]:
        click.echo(
            "This site is served from PostgreSQL: run `querygate store copy` to apply the change there.", err=True
        )


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version in the store or one that was there, with what the log says of its publication and use."""

    version: int
    served: bool
    state: str
    published: str | None
    rows: int | None
    k_measured: int | None
    answers: int
    user: str | None


def make_versions(opened: OpenSite, dataset: str) -> list[VersionLine]:
    published: dict[int, LogEvent] = {}
    answers: Counter[int] = Counter()
    retired = set(retired_in(opened.site.store / dataset))
    for event in opened.log.events():
        if event["dataset"] == dataset and event["kind"] == "publish":
            published[event["body"]["version"]] = event
        elif event["dataset"] == dataset and event["kind"] == "version.retire":
            retired.add(event["body"]["version"])
        elif event["dataset"] == dataset and event["body"].get("outcome") == "answered":
            answers[event["body"]["version"]] += 1
    serving = _served(opened, dataset, is_known=bool(published))
    there = set(opened.store.versions(dataset))
    lost = published.keys() - there - retired - set(versions_in(opened.site.store / dataset))
    usual = "withdrawn" if is_withdrawn(opened.site.store / dataset) else "readable"
    states = {
        **dict.fromkeys(there, usual),
        **dict.fromkeys(retired, "retired"),
        **dict.fromkeys(lost, "lost"),
        **({} if serving is None else {serving: "served"}),
    }
    found = []
    for version, state in sorted(states.items()):
        entry = published.get(version)
        body = entry["body"] if entry else {}
        found.append(
            VersionLine(
                version=version,
                served=version == serving,
                state=state,
                published=entry["time"] if entry else None,
                rows=body.get("rows"),
                k_measured=body.get("k"),
                answers=answers[version],
                user=entry["user"] if entry else None,
            )
        )
    return found


def _served(opened: OpenSite, dataset: str, *, is_known: bool) -> int | None:
    """The version being served; None where its file cannot be opened, so that another one can be chosen. A dataset
    that is known from the log may have lost its folder.
    """
    try:
        return opened.store.current(dataset).catalog.version
    except NotPermitted as refused:
        if refused.code == "QG312" or is_known:
            return None
        raise
    except Exception:  # the engine's own, and it may quote what it read
        return None


NO_PERSON = (
    "  The policy names no person, so k counts rows: a person with several rows counts several times. If people can\n"
    '  have several rows, name the column that identifies them: person = "..."'
)


def _counts_people(policy: Policy) -> bool:
    """Does the policy say whose the rows are, or that each is another person's?"""
    return bool(policy.person) or policy.unit == "person"


def explain_report(report: Report, *, of_people: bool = True) -> str:
    """What was published, for a person. Without `of_people` nobody knows whether rows are people."""
    measured, people = report.measured, report.measured.people
    lines = [
        f"Published {report.dataset}, version {report.version}, in {report.seconds:.1f} s.",
        "",
        f"  rows      {report.rows:,}" + (f", of {report.persons:,} people" if people else ""),
        f"  classes   {report.classes:,}, of {measured.smallest:,} to {measured.largest:,} records"
        + (f" and {people.fewest:,} to {people.most:,} people" if people else ""),
        f"  cells     {report.cells:,}",
        f"  k         {measured.k}{' people' if people else '' if of_people else ' rows'} (measured)",
        *([] if of_people else [NO_PERSON]),
    ]
    lines += explain_views(report.views, "people" if of_people else "rows")
    lines += _figures("Sensitive columns, as measured", _sensitive(report))
    lines += _figures("Guarantees beyond k, as measured", {name: f"{v:.4g}" for name, v in measured.kept.items()})
    lines += _figures("Records with rows in other tables", {n: f"{found:,}" for n, found in report.joined.items()})
    lines += _figures("Tables that can be joined", {name: digest[:12] for name, digest in report.references.items()})
    lines += _figures("Mean width of a cell", {name: f"{width:.4g}" for name, width in measured.width.items()})
    lines += _figures("Mean share of the domain that a class covers", {n: f"{v:.1%}" for n, v in report.loss.items()})
    lines += _figures("Code lists", {one.column: _codes(one) for one in report.codes})
    lines += explain_comparison(report.comparison)
    lines += explain_versions(report.versions)
    if report.warnings:
        lines += ["", "Warnings", *(f"  {warning}" for warning in report.warnings)]
    return "\n".join(lines)


def _codes(one: CodeReport) -> str:
    texts = (
        (one.unknown, "is not a code", "are not codes"),
        (one.mended, "had lost leading zeros", "had lost leading zeros"),
        (one.ambiguous, "may have lost leading zeros", "may have lost leading zeros"),
    )
    other = "".join(f"; {counted(n, f'entry {is_}', f'entries {are}')}" for n, is_, are in texts if n)
    changed = f"{one.generalised:,} generalised, {one.suppressed:,} suppressed ({one.lost:.1%} of entries)"
    if one.method in HIDING:
        changed = f"{one.hidden:,} unknown in some records ({one.untold:.1%} of entries)"
    codes = counted(one.occurring, "code")
    return f"{one.method}, k = {one.k}: {codes}, {one.exact:,} exact, {changed}{other}{_told(one)}"


def _told(one: CodeReport) -> str:
    if one.measures is None:
        return ""
    found, whole = one.measures, one.measures.found[-1]
    return (
        f"; {found.kept:,} of {found.groups:,} {found.groups_are} counted exactly; of all people, {whole.before:.1%} "
        f"shared all their codes with fewer than k records before, and {whole.after:.1%} do now; {one.alone:.1%} are "
        "alone in their class with their codes"
    )


def explain_views(found: ViewFigures | None, counted_are: str) -> list[str]:
    """The views of a version; nothing where it has classes over all quasi-identifiers."""
    if found is None:
        return []
    figures = {}
    for margin in found.margins:
        about = f": {', '.join(margin.sensitive)}" if margin.sensitive else ""
        silent = f", withheld for {margin.withheld:.1%} of records" if margin.withheld else ""
        figures[f"{', '.join(margin.quasi)}{about}"] = f"{counted(margin.classes, 'class', 'classes')}{silent}"
    told = [
        f"  {counted(found.frame_cells, 'frame cell')}; any combination of classes is about {found.least_cut:g} "
        f"{counted_are} or more"
    ]
    return [*_figures("Views", figures), *told]


def explain_comparison(comparison: Sequence[Trial]) -> list[str]:
    """What was tried, as a table; nothing where there was nothing to choose or to measure."""
    if not any(tried.widths or tried.note for tried in comparison):
        return []
    names = list(comparison[0].widths)
    rows = [["method", "k", "classes", "NCP", *names, "seconds"]]
    for tried in comparison:
        widths = [f"{tried.widths[name]:.2%}" if name == "count" else f"{tried.widths[name]:.4g}" for name in names]
        figures = [f"{tried.k:,}", f"{tried.classes:,}", f"{tried.ncp:.2%}", *widths, f"{tried.seconds:.1f}"]
        rows.append([f"{tried.method}{' (published)' if tried.chosen else ''}", *figures])
    lengths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(text.ljust(length) for text, length in zip(row, lengths, strict=True)).rstrip() for row in rows]
    notes = [tried.note for tried in comparison if tried.note]
    return [
        "",
        "Methods, and how wide each makes the range of each statistic",
        *(f"  {line}" for line in [*lines, *notes]),
    ]


def explain_versions(found: Republication | None) -> list[str]:
    """How the new version goes with earlier ones; nothing where there were none."""
    if found is None:
        return []
    lines = ["", "Earlier versions"]
    for version, pair in found.by_version.items():
        common = f"the smallest common group has {pair.smallest:,}"
        common = common if pair.smallest else "nobody in the classes made anew was in it"
        lines.append(f"  combined with version {version}: {common}")
        if pair.told:
            lines.append(
                f"    in small groups: {pair.came:,} added, {pair.left:,} removed or remaining, {pair.changed:,} with "
                "new sensitive values; visible to anyone who knows who they are"
            )
    more = tuple(version for version in found.certified if version not in found.same)
    lines += [f"  certified together with {listed_versions(more)}"] if more else []
    lines += [f"  {listed_versions(found.same)} gives exactly the same answers"] if found.same else []
    lines += ["  classes of earlier versions were kept together"] if found.sticky else []
    lines += [f"  retired: {', '.join(map(str, found.retired))}"] if found.retired else []
    return lines


def _sensitive(report: Report) -> dict[str, str]:
    measured = report.measured
    found = {}
    for name, distinct in measured.l.items():
        text = f"l = {distinct}, t = {measured.t[name]:.3f}"
        hull = measured.hull.get(name)
        found[name] = text if hull is None else f"{text}, narrowest class {hull:g} wide"
    return found


def _figures(title: str, figures: Mapping[str, str]) -> list[str]:
    width = max(map(len, figures), default=0)
    return ["", title, *(f"  {name:{width}}  {text}" for name, text in figures.items())] if figures else []
