-- Messages between the gateway and an external connector about a payment. `number` counts the messages of a payment, also those
-- that are no longer kept.
CREATE TABLE connector_message (
    payment TEXT NOT NULL, number INTEGER NOT NULL, entity TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (payment, number)
) STRICT, WITHOUT ROWID;
