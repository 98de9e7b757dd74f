"""Every command, by name: where it is, and its line of help."""

from __future__ import annotations

import os
from pathlib import Path

import click

from querygate.cli.shared.command import LazyGroup

COMMANDS = {
    "init": ("querygate.cli.site:init", "Make an empty site."),
    "demo": ("querygate.cli.site:demo", "Make a site with the demo study and walk through an attack."),
    "policy": ("querygate.cli.policy:policy", "Propose a policy, or search for release policies."),
    "codes": ("querygate.cli.codes:codes", "Import a code system, or release codes in chunks."),
    "frequencies": (
        "querygate.cli.frequencies:frequencies",
        "Release allele frequencies that hardly reveal who is included.",
    ),
    "notes": ("querygate.cli.notes:notes", "Train a tagger for notes, and measure it."),
    "sequences": ("querygate.cli.sequences:sequences", "Align DNA sequences before they are published."),
    "publish": ("querygate.cli.dataset:publish", "Publish a table as the next version of its dataset."),
    "report": ("querygate.cli.report:report", "Show the report on a published version."),
    "datasets": ("querygate.cli.dataset:datasets", "List the datasets that are served."),
    "describe": ("querygate.cli.describe:describe", "Show the columns and the policy of a dataset."),
    "versions": ("querygate.cli.dataset:versions", "List the versions of a dataset."),
    "rollback": ("querygate.cli.dataset:rollback", "Serve another version of a dataset."),
    "retire": ("querygate.cli.dataset:retire", "Retire a version permanently."),
    "withdraw": ("querygate.cli.withdraw:withdraw", "Take a dataset out of service."),
    "vault": ("querygate.cli.withdraw:vault", "Erase raw rows of retired versions."),
    "person": ("querygate.cli.person:person", "Delete a person from a dataset."),
    "store": ("querygate.cli.store:store", "Copy published versions to PostgreSQL or Spark."),
    "sync": ("querygate.cli.sync:sync", "Copy published versions to a folder, such as a gate's store."),
    "query": ("querygate.cli.query:query", "Run one statement; print guaranteed ranges or noisy numbers."),
    "run": ("querygate.cli.research.run:run", "Run a file of queries; keep answers and where they came from."),
    "federate": (
        "querygate.cli.research.federate:federate",
        "Ask several gates at once; print ranges over all records.",
    ),
    "cite": ("querygate.cli.research.cite:cite", "Print how to cite an answer."),
    "history": ("querygate.cli.research.history:history", "List your questions and their outcomes."),
    "saved": ("querygate.cli.research.history:saved", "List saved queries."),
    "twin": ("querygate.cli.research.twin:twin", "Make dummy rows that look like a dataset."),
    "model": ("querygate.cli.model:model", "Fit a model; print a range for each coefficient."),
    "budget": ("querygate.cli.budget:budget", "Show and price the privacy budgets of noisy answers."),
    "export": ("querygate.cli.export:export", "Request, review, build, release and fetch extracts."),
    "serve": ("querygate.cli.serve:serve", "Serve the site over HTTP until stopped."),
    "work": ("querygate.cli.work:work", "Do the work that needs the vault, until stopped."),
    "user": ("querygate.cli.user:user", "Add, change, list, close and remove user accounts."),
    "key": ("querygate.cli.user:key", "Issue, list and revoke keys."),
    "grant": ("querygate.cli.grant:grant", "Say who may query which dataset."),
    "login": ("querygate.cli.login:login", "Get a key for a gate through single sign-on."),
    "logout": ("querygate.cli.login:logout", "Revoke that key again."),
    "log": ("querygate.cli.log:log", "Read, verify, sign and archive the log."),
    "audit": ("querygate.cli.audits.audit:audit", "Find queries that, combined, single people out."),
    "anonymise": ("querygate.cli.anonymise:anonymise", "Make one extract from a source, without a site."),
    "overlap": ("querygate.cli.overlap:overlap", "Count the people that you and another custodian have in common."),
    "risk": ("querygate.cli.risk:risk", "Measure the risk of a source, a dataset or an extract."),
    "backup": ("querygate.cli.backup:backup", "Copy the site while it serves."),
    "restore": ("querygate.cli.backup:restore", "Restore a backup, without forgetting what was spent."),
    "migrate": ("querygate.cli.backup:migrate", "Bring a site up to date, after a backup."),
    "encryption": ("querygate.cli.encryption:encryption", "Encrypt files on disk, and change the key."),
    "doctor": ("querygate.cli.doctor:doctor", "Check the site, and say what to do."),
}


@click.group(
    cls=LazyGroup,
    later=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="querygate", message="QueryGate %(version)s")
@click.option("--site", type=click.Path(path_type=Path, file_okay=False), help="Folder of the site.  [default: ./site]")
@click.option(
    "--url",
    metavar="URL",
    help="Address of a gate elsewhere, for datasets, describe, query, run, history, saved, cite, twin, login and "
    "logout.",
)
@click.option("--debug", is_flag=True, hidden=True)
def main(site: Path | None, url: str | None, debug: bool) -> None:
    """Ordinary SQL in, guaranteed ranges out.

    A site is a folder with settings, a store, a vault and a log. Create one with `querygate init`, publish a table into
    it, then query or serve it.
    """
    os.umask(0o077)  # what a command writes, journals and overflow of an engine included, is its owner's alone
