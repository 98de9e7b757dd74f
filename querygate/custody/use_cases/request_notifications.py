"""Notices about requests for extracts: that there is something to decide or to fetch, but never what.

They wait in a separate outbox and are sent like alerts. A gate sends nothing; what it puts there is sent by the worker,
or by the next command of the custodian.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from querygate.control import Notices
from querygate.control.notifications.mail import mail_by
from querygate.control.notifications.outbox import Send, deliver
from querygate.control.notifications.webhooks import post_to
from querygate.core.errors import ConfigError
from querygate.core.extracts.approval_states import said
from querygate.site.encryption_key import webhook_secret
from querygate.site.extract_requests.extracts import CHANNELS
from querygate.site.open_gate import OpenSite
from querygate.site.settings import Settings


def send_waiting(site: OpenSite) -> list[tuple[str, int, str]]:
    """Send what waits. Returns (channel, how many still wait, why) for each channel that failed."""
    return deliver(Notices(site.log.database), make_channels(site.site.settings))


def make_channels(settings: Settings) -> dict[str, Send]:
    """How to reach the people named in the settings."""
    makers: dict[str, Callable[[str], Send]] = {
        "webhook": lambda url: post_to(url, webhook_secret(settings)),
        "mail": lambda text: mail_by(_words(text), write),
    }
    return {name: makers[name](settings[setting]) for name, setting in CHANNELS.items() if settings[setting]}


def write(notice: Mapping[str, Any]) -> str:
    """The notice as a mail.

    >>> print(write({"request": "x_1", "dataset": "trial", "state": "in_review"}))
    Subject: QueryGate: request x_1 is in review
    <BLANKLINE>
    The extract request x_1 for trial is in review. See `querygate export show x_1`.
    <BLANKLINE>
    """
    request, state = notice["request"], said(notice["state"])
    return (
        f"Subject: QueryGate: request {request} is {state}\n\nThe extract request {request} for "
        f"{notice['dataset']} is {state}. See `querygate export show {request}`.\n"
    )


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        raise ConfigError("QG805", "extract_mail_command: a quotation mark is not closed.", "Close it.") from None
