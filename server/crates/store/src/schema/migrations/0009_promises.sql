-- Deferred effects: changes of stored credentials, with a sealed account, applied when a pending payment succeeds.
CREATE TABLE promise (
    payment TEXT PRIMARY KEY, entity TEXT NOT NULL, document BLOB NOT NULL, blind BLOB, sealed BLOB,
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX promise_until ON promise (until);
