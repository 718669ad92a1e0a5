-- What a pending payment puts on file once it has succeeded, with its sealed account.
CREATE TABLE promise (
    payment TEXT PRIMARY KEY, entity TEXT NOT NULL, document BLOB NOT NULL, blind BLOB, sealed BLOB,
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX promise_until ON promise (until);
