-- Limits and usage of access tokens; keys that the vault seals, such as the one of the token hashes.
ALTER TABLE token ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE token ADD COLUMN expires INTEGER;
ALTER TABLE token ADD COLUMN networks TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read,pay,refund,admin';
ALTER TABLE token ADD COLUMN used INTEGER;
CREATE TABLE sealed_key (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID;
