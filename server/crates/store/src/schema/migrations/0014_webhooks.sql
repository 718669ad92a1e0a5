-- Webhooks with their sealed secrets, and the events that are sent to them.
CREATE TABLE webhook (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), url TEXT NOT NULL, sealed BLOB NOT NULL,
    types TEXT NOT NULL, without_customer INTEGER NOT NULL, wrapped INTEGER NOT NULL, active INTEGER NOT NULL,
    created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX webhook_entity ON webhook (entity);
ALTER TABLE message ADD COLUMN webhook TEXT;
ALTER TABLE message ADD COLUMN document BLOB;
CREATE INDEX message_webhook ON message (webhook) WHERE webhook IS NOT NULL;
