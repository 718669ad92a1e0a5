-- The outbox with its delivery attempts. A message without a due time is delivered or abandoned.
ALTER TABLE timer ADD COLUMN detail TEXT;
CREATE TABLE message (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, queue TEXT NOT NULL, what TEXT NOT NULL, address TEXT NOT NULL,
    due INTEGER, failures INTEGER NOT NULL DEFAULT 0, leased INTEGER NOT NULL DEFAULT 0, node TEXT
) WITHOUT ROWID;
CREATE INDEX message_due ON message (due) WHERE due IS NOT NULL;
CREATE INDEX message_queue ON message (queue, due) WHERE due IS NOT NULL;
CREATE TABLE delivery (
    message TEXT NOT NULL, at INTEGER NOT NULL, milliseconds INTEGER NOT NULL, status INTEGER, fault TEXT,
    PRIMARY KEY (message, at)
) WITHOUT ROWID;
