"""What the doors of one process count together: whoever asks at two of them has no more than at one."""

from __future__ import annotations

from querygate.site.open_gate import OpenSite
from querygate.site.sign_in_guard import SignInGuard
from querygate.site.user_limits import UserLimits


class DoorLimits:
    """The limits of users, and the failed sign-ins by address."""

    def __init__(self, opened: OpenSite) -> None:
        self.users, self.guard = UserLimits(opened), SignInGuard(opened)

    def write(self) -> None:
        """Put on record what was only counted so far: the process is about to end."""
        self.guard.record.turn(end=True)
        self.users.usage.write_all()
