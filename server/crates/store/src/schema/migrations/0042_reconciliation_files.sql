-- `day` of a record is the day of its file. `filed` is the record as its file has it, if it has changed since.
ALTER TABLE reconciliation_record ADD COLUMN merchant TEXT NOT NULL DEFAULT '';
ALTER TABLE reconciliation_record ADD COLUMN filed BLOB;
UPDATE reconciliation_record SET merchant = json_extract(CAST(document AS TEXT), '$.owner.merchant');
CREATE INDEX reconciliation_record_merchant ON reconciliation_record (merchant, day, id);
CREATE UNIQUE INDEX reconciliation_record_id ON reconciliation_record (id);
-- The last day of an entity whose file is complete, and the last day up to which `reconciliation_file` is.
CREATE TABLE reconciliation_calendar (owner TEXT PRIMARY KEY, closed TEXT NOT NULL, filed TEXT) WITHOUT ROWID;
CREATE TABLE reconciliation_file (
    owner TEXT NOT NULL, day TEXT NOT NULL, records INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (owner, day)
) WITHOUT ROWID;
