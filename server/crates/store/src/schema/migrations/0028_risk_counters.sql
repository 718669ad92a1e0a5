-- Velocity counters of risk rules. An owner is an entity with counters, and `counters` is the number of its rows.
CREATE TABLE risk_counter_owner (
    id INTEGER PRIMARY KEY, entity TEXT NOT NULL UNIQUE, counters INTEGER NOT NULL DEFAULT 0
);
-- A row has all windows for the same velocity keys with the same values, of which `name` is a keyed hash.
CREATE TABLE risk_counter (
    owner INTEGER NOT NULL, name BLOB NOT NULL, purge_at INTEGER NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (owner, name)
) WITHOUT ROWID;
CREATE INDEX risk_counter_purge ON risk_counter (owner, purge_at);
