"""Commands about extracts: ask, decide, build, release, fetch. Who acts, and on what, is on record."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import click

from querygate.cli.risk import print_risk
from querygate.cli.shared.actor import find_principal, os_user
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import plain, print_record, print_records, print_table, progress
from querygate.cli.shared.request_options import read_spec, spec_options
from querygate.cli.shared.shared_options import F, check_new, format_option, new_file, open_here, site_option
from querygate.core.count_text import counted
from querygate.core.extracts.approval_states import STATES, Action, ExtractBuilder, said
from querygate.core.extracts.use_agreement import UseAgreement
from querygate.core.json_body import from_json
from querygate.core.progress import Progress, no_progress
from querygate.core.types import Principal
from querygate.site.extract_requests.extract_figures import ExtractFigures, make_figures
from querygate.site.extract_requests.extract_package import VerifiedPackage, altered, opened, unpack, verify
from querygate.site.extract_requests.extracts import CHANNELS, Extracts
from querygate.site.open_gate import OpenSite
from querygate.site.settings import FILE

COLUMNS = ("id", "state", "dataset", "requester", "changed", "expires")
IF_GIVEN = ("dataset", "columns", "where", "method", "k", "suppress", "suppress_cells", "models", "tolerances")
"""Keys of a request that are shown where something is given."""


COMMENTED: dict[Action, str] = {
    "submit": "Submit a request for review.",
    "take": "Start reviewing somebody else's request.",
    "comment": "Comment on a request.",
    "note": "Leave a note that only reviewers see.",
    "approve": "Approve somebody else's request. The setting extract_reviewers says how many approvals are needed.",
    "return": "Return a request for changes.",
    "reject": "Reject a request. This is final.",
    "withdraw": "Withdraw your own request before it is approved.",
    "revoke": "Revoke an approval or a release. Nothing can be built or fetched after that.",
}
BESIDE_VIEWS = (
    "Confirm that this extract contains records of a dataset published as views, and that the two together can expose "
    "single people. The confirmation is logged."
)
UNCOMMENTED: dict[Action, str] = {
    "build": "Build the extract of an approved request, in the vault. You can repeat a failed build.",
    "release": "Release somebody else's extract for download. The setting extract_days says for how long.",
}


def open_builder(site: OpenSite, progress: Progress) -> ExtractBuilder:
    """Who makes extracts, where the raw rows are."""
    from querygate.custody.use_cases.extract_builder import SiteExtractBuilder

    return SiteExtractBuilder(site, progress)


@click.group(cls=CommandGroup)
def export() -> None:
    """Request, review, build, release and fetch extracts of records."""


def as_option(command: F) -> F:
    return click.option(
        "--as", "name", metavar="USER", help="Act as this user of the site.  [default: the person at the console]"
    )(command)


class ExportSession:
    """A site's extracts and in whose name they are dealt with. What is to be sent is sent at once, if it can be."""

    def __init__(self, site: Path, name: str | None = None, progress: Progress = no_progress) -> None:
        self.site = open_here(site)
        self.by: Principal = find_principal(self.site, name)
        self.extracts = Extracts(
            self.site, lambda: open_builder(self.site, progress), os_user=os_user(), notify=self.notify
        )

    def notify(self) -> None:
        for line in send(self.site):
            click.echo(line, err=True)


def send(site: OpenSite) -> list[str]:
    """Send what waits; a line for each channel that did not get through."""
    if not any(site.site.settings[setting] for setting in CHANNELS.values()):
        return []
    from querygate.custody.use_cases.request_notifications import send_waiting

    return [f"{channel}: {why}. Still to be sent: {n:,}." for channel, n, why in send_waiting(site)]


# -- asking ------------------------------------------------------------------------------------------------------


@export.command(
    "request",
    example="querygate export request --as ann --file wish.toml\n"
    "querygate export request --as ann --dataset trial --purpose 'Does age matter?' --kind condensed --k 20 \\\n"
    "    --model 'cox: Surv(time, status) ~ age + sex' --tolerance significance=0.1",
)
@spec_options
@as_option
@format_option
@site_option
def request_extract(name: str | None, form: str, site: Path, **given: Any) -> None:
    """Create an extract request, as a draft."""
    acting = ExportSession(site, name)
    made = acting.extracts.request(acting.by, read_spec(given))
    submit = f"querygate export submit {made['id']}" + (f" --as {shlex.quote(name)}" if name is not None else "")
    print_record(made, form, lambda: f"Created {made['id']}, a draft. Next: submit it with `{submit}`.")


@export.command("edit", example="querygate export edit x_01KJKB3Q00Z5V7N0M1C2X3Y4W5 --as ann --columns age,sex --k 50")
@click.argument("request_id", metavar="ID")
@spec_options
@as_option
@format_option
@site_option
def edit_request(request_id: str, name: str | None, form: str, site: Path, **given: Any) -> None:
    """Change a draft or a returned request: the given keys, or all keys with --file."""
    acting = ExportSession(site, name)
    before = acting.extracts.show(acting.by, request_id)["wish"]
    edited = acting.extracts.edit(acting.by, request_id, read_spec(given, before))
    print_record(edited, form, lambda: f"Changed {request_id}.")


@export.command("list", example="querygate export list --state submitted")
@click.option("--state", type=click.Choice(STATES), metavar="STATE", help=f"One of {', '.join(STATES)}.")
@click.option("--mine", is_flag=True, help="Only your own requests.")
@as_option
@format_option
@site_option
def list_requests(state: str | None, mine: bool, name: str | None, form: str, site: Path) -> None:
    """List requests, newest first. Custodians see all requests, researchers their own."""
    acting = ExportSession(site, name)
    found = acting.extracts.listed(acting.by, state=state, mine=mine)
    print_records(found, form, columns=COLUMNS, empty="There are no matching requests.")


@export.command("show", example="querygate export show x_01KJKB3Q00Z5V7N0M1C2X3Y4W5 --format json")
@click.argument("request_id", metavar="ID")
@click.option("--no-preview", is_flag=True, help="Leave out the figures for reviewers, which take time.")
@as_option
@format_option
@site_option
def show_request(request_id: str, no_preview: bool, name: str | None, form: str, site: Path) -> None:
    """Show a request: what is requested, its state, and its history.

    Reviewers also see the risk and the utility of the extract before it is built.
    """
    acting = ExportSession(site, name)
    preview = not no_preview and acting.extracts.may_preview(acting.by, request_id)
    shown = acting.extracts.show(acting.by, request_id, preview=preview)
    if form == "table":
        print_request(shown)
    else:
        print_record(shown, form, str)


@export.command("risk", example="querygate export risk x_01KJKB3Q00Z5V7N0M1C2X3Y4W5 --out report")
@click.argument("request_id", metavar="ID")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="A new folder.")
@as_option
@format_option
@site_option
def risk_of_request(request_id: str, out: Path | None, name: str | None, form: str, site: Path) -> None:
    """Show the risk report of a request: its records raw, under Safe Harbor, and as they would be released.

    Only reviewers can see it. Once the extract is built, this is the report on it.
    """
    from querygate.custody.risk_report.risk_body import RiskReport  # loads what measures raw rows

    check_new(out)
    with progress() as tell:
        acting = ExportSession(site, name, tell)
        body = acting.extracts.risk(acting.by, request_id)
    print_risk(from_json(RiskReport, body), out, form)


# -- deciding ----------------------------------------------------------------------------------------------------


def agreement_options(command: F) -> F:
    """The data use agreement that a limited data set leaves under."""
    options = (
        click.option(
            "--agreement",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="The signed data use agreement of a limited data set. Its SHA-256 is logged, not its text.",
        ),
        click.option("--signed-by", metavar="NAME", help="Who signed the agreement for the recipient."),
        click.option("--until", metavar="DATE", help="The last day of the agreement, such as 2031-01-31."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_agreement(
    agreement: Path | None = None, signed_by: str | None = None, until: str | None = None
) -> UseAgreement | None:
    if agreement is None and signed_by is None and until is None:
        return None
    if agreement is None or signed_by is None or until is None:
        raise click.UsageError("A data use agreement needs --agreement, --signed-by and --until.")
    digest = hashlib.sha256(agreement.read_bytes()).hexdigest()
    return UseAgreement.of({"signed_by": signed_by, "sha256": digest, "until": until})


def make_act(action: Action, help_text: str, *, takes_comment: bool) -> Callable[..., None]:
    """The command that does one thing to a request."""

    def act(
        request_id: str,
        name: str | None,
        form: str,
        site: Path,
        comment: str = "",
        beside_views: bool = False,
        **signed: Any,
    ) -> None:
        agreement = read_agreement(**signed)
        with progress() as tell:
            acting = ExportSession(site, name, tell)
            after = acting.extracts.act(
                acting.by, request_id, action, comment, beside_views=beside_views, agreement=agreement
            )
        print_record(after, form, lambda: explain_state(after))

    act.__doc__ = help_text
    command: Callable[..., None] = site_option(format_option(as_option(act)))
    example = f"querygate export {action} x_01KJKB3Q00Z5V7N0M1C2X3Y4W5"
    if takes_comment:
        command = click.option("--comment", metavar="TEXT", default="", help="Comment to add.")(command)
        example += " --comment 'Why so many columns?'" if action in ("comment", "note", "return", "reject") else ""
    if action == "approve":
        command = click.option("--beside-views", is_flag=True, help=BESIDE_VIEWS)(agreement_options(command))
    return cast(
        Callable[..., None],
        export.command(action, example=example)(click.argument("request_id", metavar="ID")(command)),
    )


for one, text in (*COMMENTED.items(), *UNCOMMENTED.items()):
    make_act(one, text, takes_comment=one in COMMENTED)


def explain_state(request: Mapping[str, Any]) -> str:
    """Where a request stands after an act."""
    text = f"{request['id']} is now {said(request['state'])}."
    if request["state"] == "in_review" and request["approvals"]:
        text += f" Approved by {len(request['approvals'])} of {request['reviewers']}."
    if request["state"] == "released":
        text += f" It can be fetched until {request['expires']}."
    return text


# -- fetching ----------------------------------------------------------------------------------------------------


@export.command(
    "fetch",
    example="querygate export fetch x_01KJKB3Q00Z5V7N0M1C2X3Y4W5 --as ann --out extract\n"
    "querygate export fetch --verify extract",
)
@click.argument("request_id", metavar="ID", required=False)
@click.option("--out", type=click.Path(path_type=Path), help="A new folder, or a new .zip file.  [default: ID.zip]")
@click.option(
    "--verify", "fetched", type=click.Path(path_type=Path, exists=True), help="Check a fetched folder or zip file."
)
@as_option
@format_option
@site_option
def fetch_extract(
    request_id: str | None, out: Path | None, fetched: Path | None, name: str | None, form: str, site: Path
) -> None:
    """Fetch a released extract, or check one that was fetched.

    Before the download, the extract is checked against its manifest, and the manifest against the site's record.
    --verify checks a folder or a zip in the same way: at a site against its record, elsewhere only against its own
    manifest.
    """
    if (request_id is None) == (fetched is None) or (fetched and out):
        raise click.UsageError("Give either the ID of a request or --verify.")
    if fetched is not None:
        found, is_known = verify_fetched(fetched, site)
        body = {"verified": True, "request": found.manifest.get("request"), "manifest": found.sha256}
        print_record({**body, "on_record": is_known}, form, lambda: explain_verified(found, is_known))
        return
    acting = ExportSession(site, name)
    target = out or Path(f"{request_id}.zip")
    fetch_to(acting, str(request_id), target)
    print_record({"request": request_id, "out": str(target)}, form, lambda: f"Fetched {request_id} to {target}.")


def fetch_to(acting: ExportSession, request_id: str, target: Path) -> None:
    """Write an extract to a new file, or unpack it into a new folder."""
    if target.exists():
        raise click.UsageError(f"{target} already exists.")
    with acting.extracts.fetch(acting.by, request_id) as handle:
        if target.suffix == ".zip":
            with new_file(target) as stream:
                shutil.copyfileobj(handle, stream)
            return
        try:
            with opened(handle) as contents:
                unpack(contents, target)
        except OSError as error:
            raise click.UsageError(f"Cannot write {target}: {error.strerror}.") from None


def verify_fetched(path: Path, site: Path) -> tuple[VerifiedPackage, bool]:
    """What was fetched, and whether its manifest is on record here; QG607 where it was changed."""
    with opened(path) as contents:
        found = verify(contents)
    if not (site / FILE).is_file():
        return found, False
    known = Extracts(open_here(site)).manifest_of(str(found.manifest.get("request")))
    if known is None:
        raise altered("This site has no record of this extract.")
    if known != found.sha256:
        raise altered("The manifest is not the one that was released.")
    return found, True


def explain_verified(found: VerifiedPackage, is_known: bool) -> str:
    what = f"{counted(len(found.manifest['files']), 'file matches', 'files match')} the manifest."
    if is_known:
        return f"{what}\nThe manifest matches the site's record of {found.manifest['request']}."
    return f"{what}\nOnly the site can check the manifest itself; its SHA-256 is {found.sha256}."


@export.command("notify", example="querygate export notify")
@site_option
def notify(site: Path) -> None:
    """Send pending notifications about requests. The exit code is 1 if one cannot be delivered."""
    lines = send(open_here(site))
    for line in lines:
        click.echo(line, err=True)
    click.get_current_context().exit(1 if lines else 0)


# -- showing -----------------------------------------------------------------------------------------------------


def print_request(request: Mapping[str, Any]) -> None:
    """A request for a person."""
    spec = request["wish"]
    fields = {"state": said(request["state"]), "requester": request["requester"], "dataset": request["dataset"]}
    fields |= {name: spec[name] for name in spec if name not in IF_GIVEN or (spec[name] and name != "dataset")}
    fields |= {"approved by": request["approvals"] or f"nobody yet (of {request['reviewers']})"}
    fields |= {"beside views": "acknowledged"} if request.get("beside_views") else {}
    if signed := request.get("agreement"):
        fields["agreement"] = f"signed by {signed['signed_by']}, until {signed['until']}, SHA-256 {signed['sha256']}"
    fields |= {name: request[name] for name in ("expires", "failure", "manifest") if request[name]}
    click.echo(f"{request['id']}, request {request['number']}")
    _print_fields(fields)
    for title in ("summary", "preview"):
        if request.get(title):
            click.echo(f"\n{title.capitalize()} (all figures: --format json)")
            _print_figures(make_figures(request[title]))
    click.echo("")
    rows = [(e["time"], e["user"] or "", e["action"], said(e["after"]), e["comment"]) for e in request["events"]]
    print_table(("time", "user", "action", "state", "comment"), rows)
    if request["may"]:
        click.echo(f"\nYou can now: {', '.join(request['may'])}.")


def _print_figures(figures: ExtractFigures) -> None:
    """Risk in sentences, then figures, each with how to read it."""
    for title, sentences in figures.risk:
        click.echo(f"  {title}")
        for sentence in sentences:
            click.echo(f"    {plain(sentence)}")
    for figure in (*figures.unknown, *figures.kept):
        shown = ", ".join(f"{what} {value}".strip() for what, value in figure.values)
        click.echo(f"  {plain(figure.title)}: {plain(shown)}")
        if figure.reading:
            click.echo(f"    {figure.reading}")
    if figures.learnt:
        click.echo(f"  What the requester already knows\n    {figures.learnt}")


def _print_fields(fields: Mapping[str, Any], indent: str = "  ") -> None:
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            click.echo(f"{indent}{plain(str(name))}")
            _print_fields(value, indent + "  ")
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            shown = f"{shown:.4g}" if isinstance(shown, float) else shown
            click.echo(f"{indent}{plain(str(name)):12} {plain(str(shown))}")
