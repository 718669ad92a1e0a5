-- Payments have their entity as first key, so that an entity finds only its own, in the order of time. Follow-up
-- payments and merchants' references have tables of their own.
CREATE TABLE payment_of_entity (
    entity TEXT NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (entity, id)
) WITHOUT ROWID;
INSERT INTO payment_of_entity
    SELECT json_extract(text, '$.entity'), id,
        CAST(json_set(json_remove(text, '$.card'), '$.account',
            json_object('card', json_extract(text, '$.card'))) AS BLOB)
    FROM (SELECT id, CAST(document AS TEXT) AS text FROM payment) WHERE TRUE ORDER BY 1, 2;
DROP TABLE payment;
ALTER TABLE payment_of_entity RENAME TO payment;
CREATE TABLE payment_link (
    referenced TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, hundredths INTEGER NOT NULL,
    approved INTEGER NOT NULL, PRIMARY KEY (referenced, id)
) WITHOUT ROWID;
CREATE TABLE payment_reference (
    entity TEXT NOT NULL, reference TEXT NOT NULL, payment TEXT NOT NULL,
    PRIMARY KEY (entity, reference, payment)
) WITHOUT ROWID;
