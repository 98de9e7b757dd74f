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

PROJECTS: Migration = (
    # Whose answers are put together: people of one project, projects of one organisation.
    "ALTER TABLE users ADD COLUMN project TEXT COLLATE NOCASE",
    "ALTER TABLE users ADD COLUMN organisation TEXT COLLATE NOCASE",
)

WATCHES: Migration = (
    # How far the log of a dataset has been audited, and what was found. An alert is there once, whoever finds it.
    "CREATE TABLE watch (dataset TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT",
    """CREATE TABLE alert (
        id      TEXT PRIMARY KEY,
        dataset TEXT NOT NULL,
        found   TEXT NOT NULL,
        body    TEXT NOT NULL
    ) STRICT""",
    # What is still to be sent: a row goes when it has arrived.
    """CREATE TABLE outbox (
        number  INTEGER PRIMARY KEY AUTOINCREMENT,
        alert   TEXT NOT NULL REFERENCES alert (id),
        channel TEXT NOT NULL,
        tries   INTEGER NOT NULL DEFAULT 0,
        UNIQUE (alert, channel)
    ) STRICT""",
)

LEDGER = ("charge", "reservation", "noisy_answer")
"""The tables of privacy budgets."""

BUDGETS: Migration = (
    # What was paid for: a cost in whole units (core/budget.py), before anything is read. It is never given back.
    """CREATE TABLE reservation (
        query_id TEXT PRIMARY KEY,
        key      TEXT NOT NULL,
        dataset  TEXT NOT NULL,
        time     TEXT NOT NULL,
        epsilon  INTEGER NOT NULL CHECK (epsilon >= 0),
        delta    INTEGER NOT NULL CHECK (delta >= 0),
        rho      INTEGER NOT NULL CHECK (rho >= 0),
        UNIQUE (query_id, key)
    ) STRICT""",
    "CREATE INDEX reservation_key ON reservation (key, time)",
    # Against which limits: the number of the charge, what was spent after it, and the limit as it was then.
    """CREATE TABLE charge (
        dataset       TEXT NOT NULL,
        kind          TEXT NOT NULL CHECK (kind IN ('user', 'group', 'dataset')),
        name          TEXT NOT NULL,
        number        INTEGER NOT NULL,
        query_id      TEXT NOT NULL REFERENCES reservation (query_id),
        epsilon       INTEGER NOT NULL,
        delta         INTEGER NOT NULL,
        rho           INTEGER NOT NULL,
        limit_epsilon REAL NOT NULL,
        limit_delta   REAL NOT NULL,
        PRIMARY KEY (dataset, kind, name, number),
        UNIQUE (query_id, kind, name)
    ) STRICT""",
    # The answer that stands for a key. It was paid for by a reservation of the same key.
    """CREATE TABLE noisy_answer (
        key      TEXT PRIMARY KEY,
        query_id TEXT NOT NULL UNIQUE,
        time     TEXT NOT NULL,
        answer   TEXT NOT NULL,
        FOREIGN KEY (query_id, key) REFERENCES reservation (query_id, key)
    ) STRICT""",
    # A total that was read before somebody else spent does not add up, and is not taken.
    """CREATE TRIGGER charge_adds_up BEFORE INSERT ON charge
       WHEN (NEW.number, NEW.epsilon, NEW.delta, NEW.rho) IS NOT (
         SELECT coalesce(last.number, 0) + 1, coalesce(last.epsilon, 0) + paid.epsilon,
                coalesce(last.delta, 0) + paid.delta, coalesce(last.rho, 0) + paid.rho
         FROM reservation AS paid LEFT JOIN charge AS last
           ON last.dataset = NEW.dataset AND last.kind = NEW.kind AND last.name = NEW.name
         WHERE paid.query_id = NEW.query_id AND paid.dataset = NEW.dataset
         ORDER BY last.number DESC LIMIT 1)
       BEGIN SELECT RAISE(ABORT, 'the ledger does not add up'); END""",
    # INSERT OR REPLACE removes the old row without asking a delete trigger.
    """CREATE TRIGGER reservation_once BEFORE INSERT ON reservation
       WHEN EXISTS (SELECT 1 FROM reservation WHERE query_id = NEW.query_id)
       BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER noisy_answer_once BEFORE INSERT ON noisy_answer
       WHEN EXISTS (SELECT 1 FROM noisy_answer WHERE key = NEW.key OR query_id = NEW.query_id)
       BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    # Foreign keys are checked by connections that ask for it; this one always.
    """CREATE TRIGGER noisy_answer_paid BEFORE INSERT ON noisy_answer
       WHEN NOT EXISTS (SELECT 1 FROM reservation WHERE query_id = NEW.query_id AND key = NEW.key)
       BEGIN SELECT RAISE(ABORT, 'the ledger does not add up'); END""",
    *(
        f"""CREATE TRIGGER {table}_no_{change} BEFORE {change} ON {table}
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
        for table in ("reservation", "charge", "noisy_answer")
        for change in ("update", "delete")
    ),
)

EXPORTS: Migration = (
    # Requests for extracts as they stand (core/extracts/approval.py), and below all that was done to them.
    """CREATE TABLE export_request (
        number    INTEGER PRIMARY KEY AUTOINCREMENT,
        id        TEXT NOT NULL UNIQUE,
        requester TEXT NOT NULL COLLATE NOCASE,
        dataset   TEXT NOT NULL,
        state     TEXT NOT NULL,
        wish      TEXT NOT NULL,
        created   TEXT NOT NULL,
        changed   TEXT NOT NULL,
        expires   TEXT,
        approvals TEXT NOT NULL,
        summary   TEXT,
        manifest  TEXT,
        failure   TEXT,
        CHECK (state <> 'released' OR expires IS NOT NULL AND manifest IS NOT NULL)
    ) STRICT""",
    "CREATE INDEX export_requester ON export_request (requester)",
    """CREATE TABLE export_event (
        request TEXT NOT NULL REFERENCES export_request (id),
        number  INTEGER NOT NULL,
        time    TEXT NOT NULL,
        user    TEXT,
        action  TEXT NOT NULL,
        before  TEXT,
        after   TEXT NOT NULL,
        comment TEXT NOT NULL,
        PRIMARY KEY (request, number)
    ) STRICT""",
    # What is still to be sent: a row goes when it has arrived.
    """CREATE TABLE export_outbox (
        number  INTEGER PRIMARY KEY AUTOINCREMENT,
        request TEXT NOT NULL,
        event   INTEGER NOT NULL,
        channel TEXT NOT NULL,
        tries   INTEGER NOT NULL DEFAULT 0,
        UNIQUE (request, event, channel),
        FOREIGN KEY (request, event) REFERENCES export_event (request, number)
    ) STRICT""",
    # Whatever a process believes about a request, it moves along these lines and no others.
    """CREATE TRIGGER export_request_moves BEFORE UPDATE ON export_request
       WHEN OLD.state || '>' || NEW.state NOT IN (
         'draft>draft', 'draft>submitted', 'draft>withdrawn',
         'submitted>submitted', 'submitted>in_review', 'submitted>withdrawn',
         'in_review>in_review', 'in_review>approved', 'in_review>returned', 'in_review>rejected', 'in_review>withdrawn',
         'returned>returned', 'returned>submitted', 'returned>withdrawn',
         'approved>approved', 'approved>built', 'approved>revoked',
         'built>built', 'built>released', 'built>revoked',
         'released>released', 'released>expired', 'released>revoked')
       BEGIN SELECT RAISE(ABORT, 'the request cannot move like this'); END""",
    """CREATE TRIGGER export_request_begins BEFORE INSERT ON export_request
       WHEN NEW.state <> 'draft' OR EXISTS (SELECT 1 FROM export_request WHERE id = NEW.id OR number = NEW.number)
       BEGIN SELECT RAISE(ABORT, 'the request cannot move like this'); END""",
    """CREATE TRIGGER export_request_stays BEFORE UPDATE ON export_request
       WHEN (OLD.number, OLD.id, OLD.requester, OLD.dataset, OLD.created)
         <> (NEW.number, NEW.id, NEW.requester, NEW.dataset, NEW.created)
       BEGIN SELECT RAISE(ABORT, 'the request stays whose it is'); END""",
    """CREATE TRIGGER export_request_no_delete BEFORE DELETE ON export_request
       BEGIN SELECT RAISE(ABORT, 'requests are kept'); END""",
    """CREATE TRIGGER export_event_at_the_end BEFORE INSERT ON export_event
       WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM export_event WHERE request = NEW.request)
       BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
    *(
        f"""CREATE TRIGGER export_event_no_{change} BEFORE {change} ON export_event
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END"""
        for change in ("update", "delete")
    ),
)

REMOVED_USERS: Migration = (
    # A removed user keeps the row: the log knows people by their names, so no name is given twice.
    "ALTER TABLE users ADD COLUMN removed TEXT",
)

BESIDE_VIEWS: Migration = (
    # Whether those who approved a request acknowledged that its records leave beside views.
    "ALTER TABLE export_request ADD COLUMN beside_views INTEGER NOT NULL DEFAULT 0 CHECK (beside_views IN (0, 1))",
)

AGREEMENTS: Migration = (
    # The data use agreement that a limited data set was approved under: who signed, which text, until when.
    "ALTER TABLE export_request ADD COLUMN agreement TEXT",
)

JOBS: Migration = (
    # Work that needs the vault (core/jobs.py). `key` is equal for jobs of one person that would give the same.
    """CREATE TABLE job (
        number        INTEGER PRIMARY KEY AUTOINCREMENT,
        id            TEXT NOT NULL UNIQUE,
        kind          TEXT NOT NULL,
        dataset       TEXT NOT NULL,
        user          TEXT NOT NULL COLLATE NOCASE,
        key           TEXT NOT NULL,
        body          TEXT NOT NULL,
        state         TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'done', 'failed', 'cancelled')),
        created       TEXT NOT NULL,
        attempt       INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
        worker        TEXT,
        lease         TEXT,
        progress      TEXT NOT NULL DEFAULT '',
        fraction      REAL,
        is_cancelling INTEGER NOT NULL DEFAULT 0 CHECK (is_cancelling IN (0, 1)),
        result        TEXT,
        finished      TEXT,
        CHECK (state <> 'leased' OR worker IS NOT NULL AND lease IS NOT NULL),
        CHECK ((state IN ('done', 'failed', 'cancelled')) = (finished IS NOT NULL))
    ) STRICT""",
    "CREATE INDEX job_open ON job (number) WHERE finished IS NULL",
    "CREATE INDEX job_key ON job (key)",
    "CREATE INDEX job_finished ON job (finished) WHERE finished IS NOT NULL",
    """CREATE TRIGGER job_begins BEFORE INSERT ON job
       WHEN NEW.state <> 'queued' OR EXISTS (SELECT 1 FROM job WHERE id = NEW.id OR number = NEW.number)
       BEGIN SELECT RAISE(ABORT, 'a job begins in the queue'); END""",
    """CREATE TRIGGER job_ends_once BEFORE UPDATE ON job WHEN OLD.finished IS NOT NULL
       BEGIN SELECT RAISE(ABORT, 'a job that has ended never changes'); END""",
    """CREATE TRIGGER job_stays BEFORE UPDATE ON job
       WHEN (OLD.number, OLD.id, OLD.kind, OLD.dataset, OLD.user, OLD.key, OLD.body, OLD.created)
         <> (NEW.number, NEW.id, NEW.kind, NEW.dataset, NEW.user, NEW.key, NEW.body, NEW.created)
       BEGIN SELECT RAISE(ABORT, 'a job stays what it is'); END""",
    """CREATE TRIGGER job_no_delete BEFORE DELETE ON job WHEN OLD.finished IS NULL
       BEGIN SELECT RAISE(ABORT, 'a job is kept until it has ended'); END""",
)

EVIDENCE: Migration = (
    # What was spent is looked up among all other entries, to be held against the ledger.
    "CREATE INDEX log_kind ON log (kind, seq) WHERE kind NOT IN ('query.intent', 'query.outcome')",
    # How far the log was sent to each receiver.
    "CREATE TABLE shipment (target TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT",
)

SESSIONS: Migration = (
    # Who is signed in at a browser: the hash of the token it holds, and the key that the session began with.
    """CREATE TABLE session (
        token TEXT PRIMARY KEY,
        key   TEXT NOT NULL REFERENCES keys (id),
        began TEXT NOT NULL,
        seen  TEXT NOT NULL
    ) STRICT""",
)

RIGHTS: Migration = (
    # Two more roles, and keys that end, are used, and are good for some things only. A constraint cannot be changed, so
    # both tables are made anew, the one that others refer to last. An admin could do what a custodian could, and
    # nothing else: so that nobody loses anything, they are custodians now.
    # Sessions of browsers refer to keys: they begin again.
    "DELETE FROM session",
    """CREATE TABLE new_users (
        name         TEXT PRIMARY KEY COLLATE NOCASE,
        role         TEXT NOT NULL CHECK (role IN ('researcher', 'reviewer', 'custodian', 'auditor', 'admin')),
        created      TEXT NOT NULL,
        disabled     TEXT,
        project      TEXT COLLATE NOCASE,
        organisation TEXT COLLATE NOCASE,
        removed      TEXT
    ) STRICT""",
    """INSERT INTO new_users (name, role, created, disabled, project, organisation, removed)
       SELECT name, iif(role = 'admin', 'custodian', role), created, disabled, project, organisation, removed
       FROM users""",
    """CREATE TABLE new_keys (
        id      TEXT PRIMARY KEY,
        user    TEXT NOT NULL COLLATE NOCASE REFERENCES new_users (name),
        hash    TEXT NOT NULL,
        created TEXT NOT NULL,
        revoked TEXT,
        expires TEXT,
        used    TEXT,
        scopes  TEXT
    ) STRICT""",
    "INSERT INTO new_keys (id, user, hash, created, revoked) SELECT id, user, hash, created, revoked FROM keys",
    "DROP TABLE keys",
    "DROP TABLE users",
    "ALTER TABLE new_users RENAME TO users",
    "ALTER TABLE new_keys RENAME TO keys",
    # Who may ask what. `noted` is whether the grant is in the log yet.
    """CREATE TABLE grants (
        id      TEXT PRIMARY KEY,
        whose   TEXT NOT NULL CHECK (whose IN ('user', 'project', 'organisation', 'everyone')),
        name    TEXT NOT NULL COLLATE NOCASE,
        dataset TEXT NOT NULL,
        modes   TEXT NOT NULL,
        until   TEXT,
        created TEXT NOT NULL,
        by      TEXT NOT NULL,
        revoked TEXT,
        noted   INTEGER NOT NULL CHECK (noted IN (0, 1))
    ) STRICT""",
    "CREATE INDEX grants_of_dataset ON grants (dataset) WHERE revoked IS NULL",
    "CREATE INDEX grants_to_note ON grants (noted) WHERE noted = 0",
    # Before, everybody could ask everything: whoever is there keeps it, until a custodian says otherwise.
    """INSERT INTO grants (id, whose, name, dataset, modes, created, by, noted)
       SELECT 'g_upgrade_' || rowid, 'user', name, '*', 'interval,laplace,extract',
              strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), 'upgrade', 0
       FROM users WHERE removed IS NULL""",
)

USAGE: Migration = (
    # What each user has used of answers and processor time, by day (UTC).
    """CREATE TABLE usage (
        user   TEXT NOT NULL,
        day    TEXT NOT NULL,
        bytes  INTEGER NOT NULL,
        rows   INTEGER NOT NULL,
        cpu_ms INTEGER NOT NULL,
        PRIMARY KEY (user, day)
    ) STRICT, WITHOUT ROWID""",
    # Grants are looked up by whoever asks: as many people may ask one dataset, but few grants are one person's.
    "DROP INDEX grants_of_dataset",
    "CREATE INDEX grants_to_whom ON grants (whose, name, dataset) WHERE revoked IS NULL",
)

LOG_USERS: Migration = (
    # What one person did is looked up, by themselves and by whoever oversees the site.
    "CREATE INDEX log_user ON log (user, seq)",
)

SIGN_ON: Migration = (
    # Who a person is at a provider of single sign-on. An account is bound by issuer and subject, which are given to
    # nobody else, and never by a name.
    """CREATE TABLE identity (
        issuer  TEXT NOT NULL,
        subject TEXT NOT NULL,
        user    TEXT NOT NULL UNIQUE COLLATE NOCASE REFERENCES users (name),
        created TEXT NOT NULL,
        seen    TEXT,
        PRIMARY KEY (issuer, subject)
    ) STRICT""",
    # What comes from groups at the provider (oidc) is renewed at each sign-in; what people gave (hand) is left alone.
    *(
        f"ALTER TABLE {table} ADD COLUMN source TEXT NOT NULL DEFAULT 'hand' CHECK (source IN ('hand', 'oidc'))"
        for table in ("users", "keys", "grants")
    ),
    # A session is of a user, and of the key that it began with, if there was one.
    """CREATE TABLE new_session (
        token TEXT PRIMARY KEY,
        user  TEXT NOT NULL COLLATE NOCASE REFERENCES users (name),
        key   TEXT REFERENCES keys (id),
        began TEXT NOT NULL,
        seen  TEXT NOT NULL
    ) STRICT""",
    """INSERT INTO new_session (token, user, key, began, seen)
       SELECT session.token, keys.user, session.key, session.began, session.seen
       FROM session JOIN keys ON keys.id = session.key""",
    "DROP TABLE session",
    "ALTER TABLE new_session RENAME TO session",
    # Browsers that were sent to the provider and are not back: the hash of what each holds, and where it goes then.
    """CREATE TABLE sign_in_attempt (
        browser TEXT PRIMARY KEY,
        next    TEXT NOT NULL,
        began   TEXT NOT NULL
    ) STRICT""",
    # Programs that wait until somebody lets them in at a browser (RFC 8628): the hash of what each holds, and the code
    # that the person types.
    """CREATE TABLE device_code (
        device  TEXT PRIMARY KEY,
        code    TEXT NOT NULL UNIQUE,
        scopes  TEXT,
        address TEXT NOT NULL,
        began   TEXT NOT NULL,
        polled  TEXT,
        state   TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'approved', 'refused')),
        user    TEXT COLLATE NOCASE REFERENCES users (name),
        CHECK ((state = 'waiting') = (user IS NULL))
    ) STRICT""",
)

SAVED_QUERIES: Migration = (
    # What people keep under a name. `shared` is since when others with a grant to the dataset may read it.
    """CREATE TABLE saved_query (
        id          TEXT PRIMARY KEY,
        owner       TEXT NOT NULL COLLATE NOCASE REFERENCES users (name),
        name        TEXT NOT NULL,
        description TEXT NOT NULL,
        dataset     TEXT NOT NULL,
        sql         TEXT NOT NULL,
        shared      TEXT,
        created     TEXT NOT NULL,
        changed     TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX saved_query_of ON saved_query (owner, changed)",
    "CREATE INDEX saved_query_shared ON saved_query (changed) WHERE shared IS NOT NULL",
)

NOTEBOOKS: Migration = (
    # `cells` is the JSON of texts and queries in their order; an answer is only named there, it lies in the log.
    """CREATE TABLE notebook (
        id      TEXT PRIMARY KEY,
        owner   TEXT NOT NULL COLLATE NOCASE REFERENCES users (name),
        name    TEXT NOT NULL,
        dataset TEXT NOT NULL,
        cells   TEXT NOT NULL,
        shared  TEXT,
        created TEXT NOT NULL,
        changed TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX notebook_of ON notebook (owner, changed)",
    "CREATE INDEX notebook_shared ON notebook (changed) WHERE shared IS NOT NULL",
)

REPLACED_KEYS: Migration = (
    # Which key a key was issued in place of: when that one is revoked, so is this.
    "ALTER TABLE keys ADD COLUMN replaces TEXT REFERENCES keys (id)",
    """UPDATE keys SET replaces = (SELECT json_extract(body, '$.id') FROM log
         WHERE kind = 'key.rotate' AND kind NOT IN ('query.intent', 'query.outcome')
           AND json_extract(body, '$.by') = keys.id)""",
)

ASKED_ONCE: Migration = (
    # Questions that carried a key of their own, for a day: one that is sent again is the same question.
    """CREATE TABLE asked_once (
        user     TEXT NOT NULL COLLATE NOCASE,
        key      TEXT NOT NULL,
        question TEXT NOT NULL,
        query_id TEXT NOT NULL,
        began    TEXT NOT NULL,
        settled  INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
        problem  TEXT,
        job      TEXT,
        PRIMARY KEY (user, key)
    ) STRICT""",
    "CREATE INDEX asked_once_began ON asked_once (began)",
)

PROVED_KEYS: Migration = (
    # What a key is proved with where it is not shown: StoredKey and ServerKey of SCRAM-SHA-256. Keys from before have
    # none until they are next used over HTTP.
    "ALTER TABLE keys ADD COLUMN scram TEXT",
    # From this and a name follows the salt of the keys of that name.
    "CREATE TABLE site_secret (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT",
    "INSERT INTO site_secret (name, value) VALUES ('scram', randomblob(32))",
)

LOG_TIMES: Migration = (
    # The latest time on record is asked wherever something may have ended.
    "CREATE INDEX log_time ON log (time)",
)

PROVIDER_SESSIONS: Migration = (
    # What the provider of single sign-on calls the session that this one came from, so that it can end it.
    "ALTER TABLE session ADD COLUMN provider_session TEXT",
)

MIGRATIONS: tuple[Migration, ...] = (
    *(ACCOUNTS, LOG, ARCHIVES, PROJECTS, WATCHES, BUDGETS, EXPORTS, REMOVED_USERS, BESIDE_VIEWS, JOBS, EVIDENCE),
    SESSIONS,
    RIGHTS,
    USAGE,
    LOG_USERS,
    SIGN_ON,
    SAVED_QUERIES,
    NOTEBOOKS,
    REPLACED_KEYS,
    ASKED_ONCE,
    PROVED_KEYS,
    LOG_TIMES,
    PROVIDER_SESSIONS,
    AGREEMENTS,
)
