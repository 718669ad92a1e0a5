-- Of a card number the store has the first six and last four digits in clear, and no more.
UPDATE payment SET document = CAST(json_set(CAST(document AS TEXT), '$.risk.context.bin',
    substr(CAST(document AS TEXT) ->> '$.risk.context.bin', 1, 6)) AS BLOB)
    WHERE length(CAST(document AS TEXT) ->> '$.risk.context.bin') > 6;
-- Payments whose account index is stored without a mask. The next server start masks them, because a migration has no key.
CREATE TABLE unmasked_index (entity TEXT NOT NULL, payment TEXT NOT NULL, PRIMARY KEY (entity, payment)) WITHOUT ROWID;
INSERT INTO unmasked_index SELECT entity, id FROM payment
    WHERE CAST(document AS TEXT) ->> '$.risk.context.account' IS NOT NULL;
