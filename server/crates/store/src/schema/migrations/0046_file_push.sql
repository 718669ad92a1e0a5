-- Servers of merchants that reconciliation files are pushed to, at most one of an entity. `sealed` is the password or the private
-- key of the login. `version` is another one after each change, so that an attempt with the settings before it records nothing.
CREATE TABLE file_push (
    entity TEXT PRIMARY KEY REFERENCES entity (id), url TEXT NOT NULL, sealed BLOB NOT NULL, host_key TEXT, ca TEXT,
    changed INTEGER NOT NULL, version INTEGER NOT NULL, leased INTEGER NOT NULL DEFAULT 0, node TEXT
) WITHOUT ROWID;
CREATE TRIGGER file_push_key BEFORE INSERT ON file_push
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER file_push_next_key BEFORE UPDATE OF sealed ON file_push
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
-- Deliveries of files. One without a due time is delivered (`sent`) or abandoned.
CREATE TABLE file_delivery (
    entity TEXT NOT NULL, day TEXT NOT NULL, due INTEGER, failures INTEGER NOT NULL DEFAULT 0, sent INTEGER,
    tried INTEGER, fault TEXT, PRIMARY KEY (entity, day)
) WITHOUT ROWID;
CREATE INDEX file_delivery_due ON file_delivery (entity, day, due) WHERE due IS NOT NULL;
