-- Configurations of review decision callbacks, sealed; callbacks in the outbox, with their failed list; and the audit
-- of both. A configuration with `sends` has an active destination.
CREATE TABLE review_callback (
    entity TEXT PRIMARY KEY REFERENCES entity (id), sealed BLOB NOT NULL, sends INTEGER NOT NULL, changed INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER review_callback_key BEFORE INSERT ON review_callback
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER review_callback_next_key BEFORE UPDATE OF sealed ON review_callback
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
-- The entity of the configuration that sends a message, the time at which the message failed for good, and whether it
-- was sent again since.
ALTER TABLE message ADD COLUMN callback TEXT;
ALTER TABLE message ADD COLUMN failed INTEGER;
ALTER TABLE message ADD COLUMN resubmitted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_callback ON message (callback, failed) WHERE callback IS NOT NULL;
CREATE TABLE review_callback_audit (
    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, entity TEXT NOT NULL, action TEXT NOT NULL, actor TEXT NOT NULL,
    message TEXT, detail TEXT
);
CREATE INDEX review_callback_audit_entity ON review_callback_audit (entity, number);
