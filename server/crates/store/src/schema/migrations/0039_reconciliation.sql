-- Lines of settlements. `owner` is the entity whose daily file has the line, `account` the one that made the payment.
CREATE TABLE reconciliation_record (
    owner TEXT NOT NULL, day TEXT NOT NULL, id TEXT NOT NULL, account TEXT NOT NULL, document BLOB NOT NULL,
    PRIMARY KEY (owner, day, id)
) WITHOUT ROWID;
CREATE INDEX reconciliation_record_account ON reconciliation_record (account, day, id);
