"""Deletes people from a site. The log never says who, but has enough to prove the deletion to anyone who asks."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import asdict
from pathlib import Path

from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy import Policy
from querygate.custody.publish.person_deletion import Deletion, delete_person, person_of
from querygate.custody.publish.publish import Report
from querygate.custody.publish.republication_guard import VersionHandling
from querygate.custody.use_cases.publish_version import open_version_writer, publish_to
from querygate.custody.use_cases.vault_keys import vault_key
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.person_removal import Without

KEY_FILE = "person.key"
"""A key in the vault that turns a person's key into their pseudonym in the log. Without it nobody can, not even by
trying all."""


def delete_from(
    opened: OpenSite,
    policy: Policy,
    key: str,
    *,
    user: str,
    source: str | None = None,
    keep_versions: bool = False,
    beside: Path = Path(),
    progress: Progress = no_progress,
) -> Deletion:
    """Delete a person from a dataset, with a log entry before and one after."""
    person = person_of(policy, key)
    name = pseudonym(opened, policy.dataset, key)

    def begin(versions: tuple[int, ...], rows: int) -> None:
        body = {"person": name, "versions": list(versions), "rows": rows, "keep_versions": keep_versions}
        opened.log.note("person.delete", user=user, dataset=policy.dataset, body=body)

    def publish(given: Source, handling: VersionHandling) -> Report:
        return publish_to(opened, policy, given, user=user, base_dir=beside, progress=progress, handling=handling)

    writer = open_version_writer(opened)
    given = Without(open_source(source), person) if source else None
    done = delete_person(policy, person, writer, publish, source=given, keep_versions=keep_versions, begin=begin)
    body = {"person": name, **{field: value for field, value in asdict(done).items() if field != "dataset"}}
    opened.log.note("person.deleted", user=user, dataset=policy.dataset, body=body)
    return done


def pseudonym(opened: OpenSite, dataset: str, key: str) -> str:
    """A person's pseudonym in the log: HMAC-SHA256 under a key in the vault."""
    message = f"{dataset}\x1f{key}".encode()
    return hmac.new(vault_key(opened.site.vault, KEY_FILE), message, hashlib.sha256).hexdigest()[:32]
