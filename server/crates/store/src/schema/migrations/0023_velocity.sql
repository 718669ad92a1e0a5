-- The counts of the velocity limiter.
CREATE TABLE velocity (
    kind INTEGER NOT NULL, name BLOB NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE INDEX velocity_until ON velocity (until);
