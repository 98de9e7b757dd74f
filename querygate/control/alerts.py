"""What the custodian is to be told, and how far the log has been looked at: none of it lost, whenever a process ends.

An alert, its entry in the log, what is to be sent of it and how far the log was read are written in one transaction.
Each alert has an id that follows from what it is about, so it is there once, whoever finds it and however often. What
is to be sent stays in the outbox until it has arrived: it arrives at least once, always under the same id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from querygate.control.ids import stamp_now
from querygate.control.log.entry_chain import LogBody, canonical
from querygate.control.log.log import Log
from querygate.control.ports import ControlDatabase
from querygate.core.json_body import JsonValue

KIND = "audit.alert"


@dataclass(frozen=True, slots=True)
class WaitingAlert:
    """An alert that has not arrived yet. `tries` were in vain."""

    number: int
    channel: str
    tries: int
    alert: Mapping[str, JsonValue]


class Alerts:
    """The alerts of a site."""

    def __init__(self, database: ControlDatabase, log: Log) -> None:
        self._database = database
        self._log = log

    def seen(self, dataset: str) -> int:
        """The last entry of the log that was looked at for a dataset; 0 before the first."""
        rows = self._database.rows("SELECT seq FROM watch WHERE dataset = ?", (dataset,))
        return int(rows[0]["seq"]) if rows else 0

    def record(
        self, dataset: str, seq: int, alerts: Iterable[Mapping[str, JsonValue]], channels: Sequence[str], *, user: str
    ) -> list[Mapping[str, JsonValue]]:
        """The log was looked at up to this entry, and this was found. Returns what nobody had found before."""
        new = []
        with self._database.writing() as connection:
            for alert in alerts:
                inserted = connection.execute(
                    "INSERT INTO alert (id, dataset, found, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (str(alert["id"]), dataset, stamp_now(self._log.clock), canonical(alert)),
                )
                if inserted.rowcount:
                    new.append(alert)
                    self._log.append(connection, KIND, None, user, dataset, alert)
                    for channel in channels:
                        connection.execute(
                            "INSERT INTO outbox (alert, channel) VALUES (?, ?)", (str(alert["id"]), channel)
                        )
            connection.execute(
                """INSERT INTO watch (dataset, seq) VALUES (?, ?)
                   ON CONFLICT (dataset) DO UPDATE SET seq = max(watch.seq, excluded.seq)""",
                (dataset, seq),
            )
        return new

    def latest(self, dataset: str, limit: int) -> list[LogBody]:
        """What was found last about a dataset, newest first."""
        sql = "SELECT body FROM alert WHERE dataset = ? ORDER BY found DESC, rowid DESC LIMIT ?"
        return [json.loads(row["body"]) for row in self._database.rows(sql, (dataset, limit))]

    def waiting(self, channel: str) -> list[WaitingAlert]:
        """What is to be sent this way, oldest first."""
        rows = self._database.rows(
            """SELECT number, channel, tries, body FROM outbox JOIN alert ON alert.id = outbox.alert
               WHERE channel = ? ORDER BY number""",
            (channel,),
        )
        return [WaitingAlert(row["number"], row["channel"], row["tries"], json.loads(row["body"])) for row in rows]

    def arrived(self, one: WaitingAlert) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM outbox WHERE number = ?", (one.number,))

    def failed(self, one: WaitingAlert) -> None:
        with self._database.writing() as connection:
            connection.execute("UPDATE outbox SET tries = tries + 1 WHERE number = ?", (one.number,))
