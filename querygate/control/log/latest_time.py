"""The latest time in the log. What had expired by then stays expired, even if somebody sets the clock back.

A clock that was ahead would make keys and grants expire too early. The operator can correct this (`querygate log
accept-clock`); then only later entries count.
"""

from __future__ import annotations

from querygate.control.ids import Clock, stamp_now
from querygate.control.ports import ControlDatabase

CLOCK_ACCEPTED = "clock.accept"

LATEST_TIME = f"""coalesce((SELECT time FROM log INDEXED BY log_time
  WHERE seq >= (SELECT coalesce(max(seq), 0) FROM log
                WHERE kind = '{CLOCK_ACCEPTED}' AND kind NOT IN ('query.intent', 'query.outcome'))
  ORDER BY time DESC LIMIT 1), '')"""  # noqa: S608
"""As a term of SQL; archives are not asked, for what is in them is older than what is in the log."""


def latest_time(database: ControlDatabase, clock: Clock) -> str:
    """The current time, or the latest in the log if that is later."""
    return max(stamp_now(clock), str(database.rows(f"SELECT {LATEST_TIME}")[0][0]))
