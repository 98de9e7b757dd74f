"""The kinds of log entries. The first word of a kind is its family."""

from __future__ import annotations

from querygate.control.log.latest_time import CLOCK_ACCEPTED
from querygate.core.errors import ConfigError
from querygate.core.extracts.approval_states import ACTIONS

KINDS = (
    *("query.intent", "query.outcome", "dry_run", "answer.read", "model", "twin"),
    *("source.upload", "source.remove", "publish.draft", "publish.preview", "publish.map", "publish.what_if"),
    *("publish", "rollback", "store.copy", "store.sync", "version.retire", "dataset.withdraw", "dataset.withdrawn"),
    *("vault.erase", "vault.erased", "person.delete", "person.deleted"),
    *("user.add", "user.change", "user.disable", "user.enable", "user.remove", "user.link", "user.unlink"),
    *("key.new", "key.rotate", "key.revoke", "login.failed", "login.refused"),
    *("grant.add", "grant.revoke", "grant.upgrade"),
    *("session.begin", "session.end"),
    *("saved.share", "saved.unshare", "saved.change", "saved.delete"),
    *("budget.charge", "budget.opening", "budget.rebuild", "site.backup", "site.restore", "site.migrate"),
    *("encryption.apply", "encryption.rotate"),
    *("log.read", "log.export", "log.rotate", "log.discard", "log.seal", "log.ship", "log.verify"),
    CLOCK_ACCEPTED,
    *("audit.run", "audit.findings", "audit.read", "audit.inline", "audit.alert", "audit.replay", "audit.store"),
    *(
        "audit.users",
        "audit.case",
        "risk.run",
        "risk.read",
        "overlap.reply",
        "export.report",
        "export.risk",
        "export.preview",
    ),
    *(f"export.{action}" for action in ("request", *ACTIONS)),
)


def is_of_kind(kind: str, asked: str) -> bool:
    """Whether it is the wanted kind, or one of that family.

    >>> is_of_kind("user.add", "user"), is_of_kind("user.add", "user.add"), is_of_kind("users.x", "user")
    (True, True, False)
    """
    return asked in (kind, kind.partition(".")[0])


def unknown_kind() -> ConfigError:
    families = dict.fromkeys(kind.partition(".")[0] for kind in KINDS)
    return ConfigError(
        "QG806",
        "The log has no entries of such a kind.",
        f"Choose queries, all, one of {', '.join(families)}, or a kind among these, such as user.add.",
    )
