"""Every way into an account: its keys, its sessions, programs that were let in, and its link to single sign-on."""

from __future__ import annotations

from querygate.control.grants import Actor
from querygate.control.ids import stamp_now
from querygate.control.log.log import Log
from querygate.control.ports import Connection


def end_ways_in(connection: Connection, log: Log, user: str, *, by: Actor) -> None:
    """End what anybody holds of an account that is given a trusted role: whoever made it knew another account. Within
    the transaction of that change; each key, and the link, is on record."""
    connection.execute("DELETE FROM session WHERE user = ?", (user,))
    connection.execute("DELETE FROM device_code WHERE user = ?", (user,))
    keys = connection.execute("SELECT id FROM keys WHERE user = ? AND revoked IS NULL ORDER BY id", (user,)).fetchall()
    for key in keys:
        connection.execute("UPDATE keys SET revoked = ? WHERE id = ?", (stamp_now(log.clock), key["id"]))
        log.append(connection, "key.revoke", None, by.name, None, {"id": key["id"], "name": user, **by.body()})


def end_link(connection: Connection, log: Log, user: str, *, by: Actor) -> None:
    """The same of a link that people made."""
    if connection.execute("DELETE FROM identity WHERE user = ?", (user,)).rowcount:
        log.append(connection, "user.unlink", None, by.name, None, {"name": user, **by.body()})
