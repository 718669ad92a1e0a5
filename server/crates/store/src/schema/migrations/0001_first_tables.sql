-- The first tables: entities with their tokens, checkouts, payments, sealed cards, and builds of the form.
CREATE TABLE entity (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, live INTEGER NOT NULL, settings TEXT NOT NULL, created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE token (
    user_id TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), hash BLOB NOT NULL, label TEXT NOT NULL,
    created INTEGER NOT NULL, revoked INTEGER
) WITHOUT ROWID;
CREATE TABLE checkout (id TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE payment (id TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE card (purge_at INTEGER NOT NULL, payment TEXT NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (purge_at, payment)) WITHOUT ROWID;
CREATE TABLE form_build (build TEXT PRIMARY KEY, seen INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE form_file (
    build TEXT NOT NULL REFERENCES form_build (build) ON DELETE CASCADE, path TEXT NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (build, path)
);
