-- Settlement files of clearing institutes. `payment_connector_id` finds payments of external connectors by the acquirer's id.
CREATE TABLE payment_connector_id (
    connector_id TEXT NOT NULL, entity TEXT NOT NULL, payment TEXT NOT NULL,
    PRIMARY KEY (connector_id, entity, payment)
) WITHOUT ROWID;
INSERT INTO payment_connector_id (connector_id, entity, payment)
    SELECT connector_id, entity, id FROM (
        SELECT json_extract(CAST(document AS TEXT), '$.connector_tx_ids[0]') AS connector_id, entity, id FROM payment
        WHERE json_extract(CAST(document AS TEXT), '$.connector') IS NOT NULL
    ) WHERE connector_id IS NOT NULL ORDER BY 1, 2, 3;
-- Files that were taken as a whole, by their SHA-256.
CREATE TABLE settlement_file (
    institute TEXT NOT NULL, hash BLOB NOT NULL, document BLOB NOT NULL, PRIMARY KEY (institute, hash)
) WITHOUT ROWID;
-- Lines that were taken. `line` is the hash of the institute's reference, or of the content and its occurrence.
CREATE TABLE settlement_line (
    institute TEXT NOT NULL, line BLOB NOT NULL, content BLOB NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (institute, line)
) WITHOUT ROWID;
-- The part of a payment, chargeback or reversal that the line of a record settles, in hundredths.
CREATE TABLE settlement_match (
    payment TEXT NOT NULL, record TEXT NOT NULL, hundredths INTEGER NOT NULL, PRIMARY KEY (payment, record)
) WITHOUT ROWID;
-- The queue: records whose line has no payment yet, and the entity for which the file was imported.
CREATE TABLE settlement_unmatched (
    entity TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (entity, record)
) WITHOUT ROWID;
CREATE INDEX settlement_unmatched_record ON settlement_unmatched (record);
-- True if a record came to its merchant after the merchant's file of that day was complete.
ALTER TABLE reconciliation_record ADD COLUMN unfiled INTEGER NOT NULL DEFAULT 0;
