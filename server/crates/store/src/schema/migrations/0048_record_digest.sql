-- The digest of all reconciliation records, in one row. `bound` is true if an entry of the audit log has it.
CREATE TABLE record_digest (id INTEGER PRIMARY KEY CHECK (id = 1), digest BLOB NOT NULL, bound INTEGER NOT NULL);

-- The merchant for which a batch was made. A channel that is moved to another merchant leaves its batches behind.
ALTER TABLE settlement_batch ADD COLUMN merchant TEXT NOT NULL DEFAULT '';
UPDATE settlement_batch SET merchant = coalesce(
    (SELECT merchant FROM reconciliation_record AS record
        WHERE record.account = settlement_batch.entity AND record.day >= settlement_batch.day ORDER BY record.day LIMIT 1),
    settlement_batch.entity);
CREATE INDEX settlement_batch_merchant ON settlement_batch (merchant, day, entity, currency);
