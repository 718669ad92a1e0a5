-- The seal of the store: keyed sums of the hashes of its rows. There is none until a server with the vault's key has
-- begun it.
CREATE TABLE store_seal (id INTEGER PRIMARY KEY CHECK (id = 1), sums BLOB NOT NULL) STRICT;
