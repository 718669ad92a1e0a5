-- The audit log, whose entries about payments and settlements are the ledger's journal, and the sums of their movements.
-- Debits are positive. The entries of payments from before are written by the program after this file.
CREATE TABLE audit_entry (
    number INTEGER PRIMARY KEY, entity TEXT NOT NULL, document BLOB NOT NULL, hash BLOB NOT NULL
) STRICT;
CREATE INDEX audit_entry_entity ON audit_entry (entity, number);
CREATE TRIGGER audit_entry_stays BEFORE DELETE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'an entry of the audit log is never deleted');
END;
CREATE TRIGGER audit_entry_update BEFORE UPDATE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'an entry of the audit log never changes');
END;
CREATE TABLE balance (
    entity TEXT NOT NULL, currency TEXT NOT NULL,
    receivable INTEGER NOT NULL, payable INTEGER NOT NULL, fees INTEGER NOT NULL, reserve INTEGER NOT NULL,
    cash INTEGER NOT NULL,
    PRIMARY KEY (entity, currency), CHECK (receivable + payable + fees + reserve + cash = 0)
) STRICT, WITHOUT ROWID;
