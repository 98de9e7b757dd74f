"""The latest time on record. What has ended by then has ended, though somebody sets the clock back.

A clock that was wrong the other way, too late, would end keys and grants before their time: whoever keeps the machine
says so (`querygate log accept-clock`), and only what was put on record since counts.
"""

from __future__ import annotations

from querygate.control.database import Database
from querygate.control.ids import Clock, stamp_now

CLOCK_ACCEPTED = "clock.accept"

LATEST_TIME = f"""coalesce((SELECT time FROM log INDEXED BY log_time
  WHERE seq >= (SELECT coalesce(max(seq), 0) FROM log
                WHERE kind = '{CLOCK_ACCEPTED}' AND kind NOT IN ('query.intent', 'query.outcome'))
  ORDER BY time DESC LIMIT 1), '')"""  # noqa: S608
"""As a term of SQL; archives are not asked, for what is in them is older than what is in the log."""


def latest_time(database: Database, clock: Clock) -> str:
    """The time it is now, or the latest on record if that is later."""
    return max(stamp_now(clock), str(database.rows(f"SELECT {LATEST_TIME}")[0][0]))
