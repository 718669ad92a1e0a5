-- The ids of the vault's keys, including those of existing records, and triggers that refuse records sealed under a
-- retired key.
CREATE TABLE vault_key (
    id BLOB PRIMARY KEY, created INTEGER NOT NULL, loaded INTEGER NOT NULL DEFAULT 0, retired INTEGER
) WITHOUT ROWID;
INSERT INTO vault_key (id, created)
    SELECT DISTINCT substr(sealed, 2, 4), CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM (
        SELECT sealed FROM card UNION ALL SELECT sealed FROM registration_account UNION ALL SELECT sealed FROM promise
        UNION ALL SELECT card FROM promise UNION ALL SELECT sealed FROM wallet_key UNION ALL SELECT sealed FROM webhook
        UNION ALL SELECT seal FROM form_build UNION ALL SELECT sealed FROM sealed_key
    ) WHERE length(sealed) > 17;
CREATE TRIGGER card_key BEFORE INSERT ON card
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER registration_account_key BEFORE INSERT ON registration_account
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER promise_key BEFORE INSERT ON promise
    WHEN EXISTS (SELECT 1 FROM vault_key
        WHERE id IN (substr(NEW.sealed, 2, 4), substr(NEW.card, 2, 4)) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER wallet_key_key BEFORE INSERT ON wallet_key
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER webhook_key BEFORE INSERT ON webhook
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
