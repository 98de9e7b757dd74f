"""Which right a command needs, where it is run with a key: one of those listed. Commands that are not listed are the
custodian's; those with none concern no site that exists.
"""

from __future__ import annotations

from collections.abc import Mapping

from querygate.core.extracts.approval_states import DECISIONS
from querygate.core.rights import Right

Rights = tuple[Right, ...]

ASK: Rights = ("ask",)
LOOK: Rights = ("ask", "look")
EXTRACTS: Rights = ("ask", "review", "build")
OTHERWISE: Rights = ("operate",)

COMMAND_RIGHTS: Mapping[str, Rights] = {
    **dict.fromkeys(
        (
            "init",
            "demo",
            "policy",
            "anonymise",
            "audit file",
            "budget preview",
            "overlap ask",
            "overlap count",
            "federate",
        ),
        (),
    ),
    **dict.fromkeys(
        ("publish", "report", "rollback", "retire", "withdraw", "vault", "person", "store", "overlap"), ("publish",)
    ),
    **dict.fromkeys(("datasets", "describe"), LOOK),
    "versions": ("look",),
    **dict.fromkeys(("query", "run", "cite", "history", "saved", "twin", "model", "budget"), ASK),
    **dict.fromkeys(("export request", "export edit", "export submit", "export withdraw"), ASK),
    **dict.fromkeys(("export list", "export show", "export comment", "export fetch"), EXTRACTS),
    **{f"export {action}": ("review",) for action in (*DECISIONS, "risk")},
    **dict.fromkeys(("export build", "export revoke", "export notify"), ("build",)),
    **dict.fromkeys(("log list", "log verify", "log export"), ("oversee",)),
    **dict.fromkeys(("audit", "risk"), ("audit",)),
    **dict.fromkeys(("user", "key"), ("accounts",)),
    **dict.fromkeys(("user disable", "user enable"), ("accounts", "suspend")),
    "key new": ("accounts", "entrust"),
    "grant": ("grant",),
    "work": ("work",),
}


def rights_of(words: str) -> Rights:
    """The rights of a command, or of the group it is in.

    >>> rights_of("user add"), rights_of("audit file"), rights_of("log rotate")
    (('accounts',), (), ('operate',))
    """
    group = words.partition(" ")[0]
    return COMMAND_RIGHTS.get(words, COMMAND_RIGHTS.get(group, OTHERWISE))


def is_decision(words: str) -> bool:
    """Whether a reviewer decides by it, so that a key is asked for."""
    group, _, action = words.partition(" ")
    return group == "export" and action in DECISIONS
