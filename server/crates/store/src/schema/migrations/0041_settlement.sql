-- Settlements: terms of entities, rates of exchange, the state between two commits, batches with their totals, and the
-- entries whose lines failed and are settled again. `rate` is a decimal number.
CREATE TABLE settlement_terms (entity TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE fx_rate (
    source TEXT NOT NULL, target TEXT NOT NULL, day TEXT NOT NULL, rate TEXT NOT NULL,
    PRIMARY KEY (source, target, day)
) WITHOUT ROWID;
CREATE TABLE settlement_state (entity TEXT PRIMARY KEY, version INTEGER NOT NULL, document BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE settlement_batch (
    entity TEXT NOT NULL, day TEXT NOT NULL, currency TEXT NOT NULL, document BLOB NOT NULL,
    PRIMARY KEY (entity, day, currency)
) WITHOUT ROWID;
CREATE TABLE settlement_postponed (
    entity TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (entity, number)
) WITHOUT ROWID;
