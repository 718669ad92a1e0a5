-- Responses to requests with an idempotency key (`Idempotency-Key`).
CREATE TABLE answer (
    entity TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (entity, key)
) WITHOUT ROWID;
CREATE INDEX answer_until ON answer (until);
