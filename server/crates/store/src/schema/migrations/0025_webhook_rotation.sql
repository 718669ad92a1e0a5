-- A webhook's next secret, while it is being rotated.
ALTER TABLE webhook ADD COLUMN next BLOB;
CREATE TRIGGER webhook_next_key BEFORE UPDATE OF next ON webhook
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.next, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
