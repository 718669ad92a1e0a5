-- First sightings of accounts are rows of the table of counters, bounded apart from them: an owner has one kind of rows.
CREATE TABLE risk_row_owner (
    id INTEGER PRIMARY KEY, entity TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('counter', 'account')),
    counters INTEGER NOT NULL DEFAULT 0, UNIQUE (entity, kind)
);
INSERT INTO risk_row_owner (id, entity, kind, counters) SELECT id, entity, 'counter', counters FROM risk_counter_owner;
DROP TABLE risk_counter_owner;
ALTER TABLE risk_row_owner RENAME TO risk_counter_owner;
