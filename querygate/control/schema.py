"""The tables of the control database, as an ordered tuple of migrations.

The database's `user_version` counts the migrations it has had. A migration that was released is never edited: a
change is a new one at the end. Each is a tuple of statements and runs in one transaction.
"""

from __future__ import annotations

Migration = tuple[str, ...]

ACCOUNTS: Migration = (
    # Names are unique without regard to case: "Ann" and "ann" in one log would be taken for one person.
    """CREATE TABLE users (
        name     TEXT PRIMARY KEY COLLATE NOCASE,
        role     TEXT NOT NULL CHECK (role IN ('researcher', 'custodian', 'admin')),
        created  TEXT NOT NULL,
        disabled TEXT
    ) STRICT""",
    """CREATE TABLE keys (
        id      TEXT PRIMARY KEY,
        user    TEXT NOT NULL COLLATE NOCASE REFERENCES users (name),
        hash    TEXT NOT NULL,
        created TEXT NOT NULL,
        revoked TEXT
    ) STRICT""",
)

LOG: Migration = (
    """CREATE TABLE log (
        seq      INTEGER PRIMARY KEY,
        time     TEXT NOT NULL,
        kind     TEXT NOT NULL,
        query_id TEXT,
        user     TEXT,
        dataset  TEXT,
        body     TEXT NOT NULL,
        prev     TEXT NOT NULL,
        hash     TEXT NOT NULL
    ) STRICT""",
    # One intent and one outcome per query.
    "CREATE UNIQUE INDEX log_query ON log (query_id, kind) WHERE query_id IS NOT NULL",
    """CREATE TRIGGER log_no_update BEFORE UPDATE ON log
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    """CREATE TRIGGER log_no_delete BEFORE DELETE ON log
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    # INSERT OR REPLACE removes the old row without asking the delete trigger, so the place is checked as well.
    """CREATE TRIGGER log_at_the_end BEFORE INSERT ON log
       WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM log)
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
)

ARCHIVES: Migration = (
    # Entries that lie in an archive beside the database: from which to which, and the hashes at both ends.
    """CREATE TABLE segment (
        number    INTEGER PRIMARY KEY,
        first     INTEGER NOT NULL,
        last      INTEGER NOT NULL CHECK (last >= first),
        prev      TEXT NOT NULL,
        head      TEXT NOT NULL,
        until     TEXT NOT NULL,
        sha256    TEXT NOT NULL,
        sealed    TEXT NOT NULL,
        discarded TEXT
    ) STRICT""",
    """CREATE TRIGGER segment_at_the_end BEFORE INSERT ON segment
       WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM segment)
         OR NEW.first <> (SELECT coalesce(max(last), 0) + 1 FROM segment)
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    """CREATE TRIGGER segment_no_update BEFORE UPDATE ON segment
       WHEN OLD.discarded IS NOT NULL OR NEW.discarded IS NULL
         OR (OLD.number, OLD.first, OLD.last, OLD.prev, OLD.head, OLD.until, OLD.sha256, OLD.sealed)
         <> (NEW.number, NEW.first, NEW.last, NEW.prev, NEW.head, NEW.until, NEW.sha256, NEW.sealed)
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    """CREATE TRIGGER segment_no_delete BEFORE DELETE ON segment
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    # An entry leaves the database when an archive has it, and not before.
    "DROP TRIGGER log_no_delete",
    """CREATE TRIGGER log_no_delete BEFORE DELETE ON log
       WHEN OLD.seq > (SELECT coalesce(max(last), 0) FROM segment)
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
    "DROP TRIGGER log_at_the_end",
    """CREATE TRIGGER log_at_the_end BEFORE INSERT ON log
       WHEN NEW.seq <> 1 + max((SELECT coalesce(max(seq), 0) FROM log), (SELECT coalesce(max(last), 0) FROM segment))
       BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END""",
)

MIGRATIONS: tuple[Migration, ...] = (ACCOUNTS, LOG, ARCHIVES)
